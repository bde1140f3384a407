"""Operations of a module by family: an all-reduce is one in each of the forms it is written in."""

from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from xlareport.analysis.cost.wire import is_all_reduce_scatter
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.knowledge.opcodes import all_entries, family_of, operation_of
from xlareport.runtime.errors import UnknownNameError


def operation_in(computation: Computation, instruction: Instruction) -> str | None:
    """Return the operation that an instruction runs, in whatever form it is written.

    `all-reduce-start` runs `all-reduce`; None for `all-reduce-done`, which belongs to its start. A
    TPU writes a reduce-scatter as a fusion that calls `%all-reduce-scatter`, which contains an
    all-reduce and a dynamic-slice: this all-reduce counts as the `reduce-scatter`.
    """
    operation = operation_of(instruction.opcode)
    if operation == "all-reduce" and is_all_reduce_scatter(computation):
        return "reduce-scatter"
    return operation


def family_in(computation: Computation, instruction: Instruction) -> str:
    """Return the operation that an instruction is a part of, as its start or its end too."""
    return operation_in(computation, instruction) or family_of(instruction.opcode)


def forms_in(computations: Iterable[Computation]) -> dict[str, dict[str, list[Computation]]]:
    """Return the operations that occur in other forms than as an opcode of their name.

    For each operation the opcodes that are forms of it, each with the computations that contain it.
    Operations and opcodes are in the order of their first instructions.
    """
    forms: dict[str, dict[str, list[Computation]]] = {}
    for computation in computations:
        for opcode, operation in dict.fromkeys(
            (instruction.opcode, family_in(computation, instruction))
            for instruction in computation.instructions
        ):
            if operation != opcode:
                forms.setdefault(operation, {}).setdefault(opcode, []).append(computation)
    return forms


def count_operations(module: HloModule) -> Counter[str]:
    """Count the instructions of all computations by the operation that they run."""
    return Counter(
        operation
        for computation, instruction in module.placed
        if (operation := operation_in(computation, instruction)) is not None
    )


def instructions_of(module: HloModule, opcode: str) -> Iterator[Instruction]:
    """Yield the instructions that run an operation, in the order of the module.

    `opcode` may hold `*` and `?`. One that names an operation finds each of its forms; one that
    names a form, such as `all-reduce-done` or `*-start`, finds that form. Raises UnknownNameError
    where no opcode of XLA's, nor of the module's, is meant.
    """
    present = {instruction.opcode for instruction in module.instructions}
    names = [name for name in {**all_entries(), **dict.fromkeys(present)} if _fits(name, opcode)]
    if not names:
        near = get_close_matches(opcode.replace("*", ""), all_entries(), n=3)
        raise UnknownNameError(f"No opcode is called {opcode!r}", near)
    forms = all(operation_of(name) != name for name in names if not _is_gone(name))
    for computation, instruction in module.placed:
        name = instruction.opcode if forms else operation_in(computation, instruction)
        if name is not None and _fits(name, opcode):
            yield instruction


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern)


def _is_gone(name: str) -> bool:
    entry = all_entries().get(name)
    return entry is not None and entry.until is not None
