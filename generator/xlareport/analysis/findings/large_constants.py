"""Large constant.

A constant of 1 MiB or more is part of the program. The usual reason is a function that closes over
an array. Pass the array as an argument.
"""

from collections.abc import Iterator

from xlareport.analysis.findings.finding import MEBIBYTE, Case, Finding
from xlareport.runtime import units

LEAST_BYTES = MEBIBYTE


def large_constants(case: Case) -> Iterator[Finding]:
    """Report constants of a mebibyte and more."""
    for computation, instruction, _ in case.cost.placed(case.module):
        size = instruction.shape.byte_size
        if instruction.opcode == "constant" and size is not None and size >= LEAST_BYTES:
            yield Finding(
                title="Large constant",
                places=((computation.name, instruction.name),),
                evidence=(
                    f"`{instruction.name}` is `{instruction.shape.text[:120]}`, "
                    f"{units.byte_size(size)}."
                ),
                suggestion=(
                    "Pass it as an argument: a value that the traced function closes over is "
                    "compiled into the program and adds to compile time and program size."
                ),
                grade="exact",
                weight=case.time_of_bytes(size),
            )
