"""Values that consist of a single constant, perhaps repeated: every device can make them itself."""

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_FARTHEST = 40
_KEEP = REARRANGEMENTS | {"broadcast", "convert", "copy-done", "copy-start"}


def find_filling(module: HloModule, home: Computation, value: Instruction) -> Instruction | None:
    """Return the constant that each element of a value is; None for other values.

    Looks into fusions that do nothing else, and through copies.
    """
    outside: list[tuple[Computation, Instruction]] = []
    current: Instruction | None = value
    for _ in range(_FARTHEST):
        if current is None:
            return None
        if current.opcode == "constant":
            return None if current.shape.dimensions else current
        if current.opcode == "parameter" and outside:
            number = next((n for n, line in enumerate(home.parameters) if line is current), None)
            home, fusion = outside.pop()
            current = home.operand(fusion, number) if number is not None else None
        elif current.opcode == "fusion":
            held = module.by_name.get(next((name for _, name in current.called), ""))
            outside.append((home, current))
            home, current = (held, held.root) if held is not None else (home, None)
        else:
            current = home.operand(current) if current.opcode in _KEEP else None
    return None
