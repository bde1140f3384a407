"""What a combined collective combines: its operands, or those of the concatenate that it sends."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.source.combined_ops import member_op_names
from xlareport.analysis.source.scopes import Phase, mask_numbers, phase_of, plain_path, split_merged
from xlareport.analysis.source.served_ops import main_op, serve_ops
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.shape import without_layout

_MOVES = frozenset({"bitcast", "copy", "reshape"})
_MOST_MOVES = 8
_MOST_MEMBERS = 1_000


class CombinedMember(Struct, frozen=True):
    """An operand of a collective, which was a collective of its own before a pass combined it."""

    phase: Phase
    """Of its op_name; empty if unknown."""
    path: str
    """Named scopes and op with numbers replaced; empty if unknown."""
    elements: int | None
    """Of the operand; None if not known."""
    bytes: int
    """Of the operand; 0 if not known."""
    shape: str = ""
    """Of the operand, without layout; empty if not known."""


def list_members(
    module: HloModule, body: InstructionKey, op_name: str
) -> tuple[CombinedMember, ...]:
    """Return the members of a collective; `op_name` is its own, empty if it has none.

    XLA:GPU concatenates the operands of an all-reduce that it combines.
    """
    home = module.by_name[body[0]]
    collective = home.by_name[body[1]]
    place, joined = _find_concatenate(module, home, collective)
    if joined is None:
        names = member_op_names(module, home, collective) or (op_name,)
        lines = home.operands(collective)
        return tuple(_member(name, line) for name, line in zip(names, lines, strict=False))
    lines = place.operands(joined)[:_MOST_MEMBERS]
    listed = split_merged(collective.metadata.op_name)
    is_listed = len(listed) == len(lines) > 1
    names = listed if is_listed else tuple(_op_names(module, place, lines, op_name))
    return tuple(_member(name, line) for name, line in zip(names, lines, strict=True))


def _op_names(
    module: HloModule,
    place: Computation,
    lines: Sequence[Instruction | None],
    op_name: str,
) -> Iterator[str]:
    """Yield the op_name that each operand works for, else that of the collective."""
    served = serve_ops(module)
    for line in lines:
        yield (main_op(served.get((place.name, line.name), ())) if line else "") or op_name


def _find_concatenate(
    module: HloModule, home: Computation, collective: Instruction
) -> tuple[Computation, Instruction | None]:
    """Return the concatenate of several operands that a collective sends, and where it is."""
    operands = home.operands(collective)
    place, line = home, operands[0] if len(operands) == 1 else None
    for _ in range(_MOST_MOVES):
        if line is None or line.opcode == "concatenate":
            break
        inside = module.callee(line)
        if line.opcode == "fusion" and inside is not None:
            place, line = inside, inside.root
        else:
            line = place.operand(line) if line.opcode in _MOVES else None
    is_joining = line is not None and line.opcode == "concatenate" and len(line.operand_names) > 1
    return place, line if is_joining else None


def _member(op_name: str, line: Instruction | None) -> CombinedMember:
    shape = line.shape if line else None
    return CombinedMember(
        phase=phase_of(op_name),
        path=mask_numbers(plain_path(op_name)),
        elements=shape.element_count if shape else None,
        bytes=(shape.byte_size if shape else None) or 0,
        shape=without_layout(shape.text) if shape else "",
    )
