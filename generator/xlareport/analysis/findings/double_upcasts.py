"""Implicit upcast to f64.

Arrays of 1,024 elements or more are converted to f64, and no argument of the program is f64. The
usual reason is a NumPy double or `jax_enable_x64`.
"""

from collections.abc import Iterator

from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.model import InstructionKey
from xlareport.runtime import units

LEAST_ELEMENTS = 1024
_NARROWER = frozenset({"f32", "bf16", "f16"})


def double_upcasts(case: Case) -> Iterator[Finding]:
    """Report converts of arrays to f64 in a program without an argument of that type."""
    module = case.before or case.module
    entry = module.entry
    given = {parameter.shape.element_type for parameter in entry.parameters} if entry else set()
    if "f64" in given or "c128" in given:
        return
    upcasts: list[tuple[int, InstructionKey]] = []
    for computation, instruction in module.placed:
        source = computation.operand(instruction)
        if instruction.opcode != "convert" or source is None:
            continue
        wide = instruction.shape.element_type == "f64"
        count = instruction.shape.element_count or 0
        if wide and source.shape.element_type in _NARROWER and count >= LEAST_ELEMENTS:
            size = instruction.shape.byte_size or 0
            upcasts.append((size, (computation.name, instruction.name)))
    if upcasts:
        upcasts.sort(key=lambda item: (-item[0], item[1]))
        yield _finding(case, upcasts)


def _finding(case: Case, upcasts: list[tuple[int, InstructionKey]]) -> Finding:
    size = sum(upcast_bytes for upcast_bytes, _ in upcasts)
    return Finding(
        title="Implicit upcast to f64",
        places=tuple(place for _, place in upcasts),
        evidence=(
            f"{units.plural(len(upcasts), 'array')} converted to f64 ({units.byte_size(size)}), "
            f"and no argument is f64: {join_names(name for _, (_, name) in upcasts)}."
        ),
        suggestion=(
            "Look for a NumPy or Python double that the values meet, or jax_enable_x64; write the "
            "type out, as in jnp.float32(x)."
        ),
        grade="exact",
        weight=case.time_of_bytes(size),
    )
