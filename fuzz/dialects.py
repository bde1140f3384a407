"""Tuple elements: texts since 2026 write `%while.6#1`, older ones an instruction of their own."""

from collections.abc import Mapping

from xlareport.hlo.model import Computation

GET = "get-tuple-element"


def compact_operands(computation: Computation) -> Mapping[str, tuple[str, ...]]:
    """Return the operands of each instruction, by name, as a compact text has them.

    `%b` with `%b = get-tuple-element(%while.6), index=1` becomes `while.6#1`; two dialects of one
    computation give the same.
    """
    known = _elements(computation)
    return {
        instruction.name: tuple(_compact(operand, known) for operand in instruction.operands)
        for instruction in computation.instructions
    }


def _elements(computation: Computation) -> Mapping[str, str]:
    """Return what each get-tuple-element stands for, by its name."""
    known: dict[str, str] = {}
    for instruction in computation.instructions:
        if instruction.opcode == GET and instruction.operands:
            # Texts name operands before users; in a broken one a name may stay as it is.
            known[instruction.name] = (
                f"{_compact(instruction.operands[0], known)}"
                f"#{instruction.attributes.get('index', '')}"
            )
    return known


def _compact(operand: str, known: Mapping[str, str]) -> str:
    name, mark, rest = operand.partition("#")
    return f"{known[name]}{mark}{rest}" if name in known else operand
