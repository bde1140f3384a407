"""Whole slice written back for a small change.

In a loop, a slice of a stacked array is read, a quarter of it or less is changed, and all of it is
written to the same place of a stacked array. A decoding loop over layers that takes the KV cache of
a layer, writes the row of one token into it and stores the cache of the layer is an example. The
unchanged part takes 2% or more of the roofline time to write. The time to read the slice does not
count, because other operations may need it.
"""

from collections.abc import Iterator

from msgspec import Struct

from xlareport.analysis.findings.arguments import name_argument
from xlareport.analysis.findings.finding import Case, Finding, describe_executions, join_names
from xlareport.analysis.findings.flat_flow import FlatFlow, flatten
from xlareport.hlo.graph import fused_opcodes
from xlareport.hlo.model import Computation, Instruction
from xlareport.hlo.opcode_groups import SAME_ORDER
from xlareport.hlo.shape import without_layout
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time, all slices of a loop."""
_MOST_CHANGED = 0.25
"""Of the slice."""
_UPDATE = "dynamic-update-slice"
_MOVES = SAME_ORDER | {"copy"}
"""What keeps each element: another type or order of dimensions has to be written whole."""
_LONGEST = 32
"""Moves in a row that are followed."""
_DEEPEST = 6
"""Operations of an index that are compared."""
_REMEDY = (
    "Write the changed part alone: keep the stacked array in the carry of the loop and update it "
    "in one step, with jax.lax.dynamic_update_slice or x.at[layer, :, position].set(row). Read the "
    "slice after the update."
)


class _Rewritten(Struct, frozen=True):
    """A slice that is written back whole."""

    kernel: str
    """The instruction of the loop's body that writes it."""
    stack: Instruction
    """The array that it is a slice of, as the body has it."""
    slice: Instruction
    """The update of the small part, whose result is the slice."""
    unchanged: int
    """Bytes that are written as they were, in one iteration."""
    changed: int
    seconds: float


def rewritten_slices(case: Case) -> Iterator[Finding]:
    """Report slices of which loops change a small part and write all."""
    for name, (_, loop) in case.module.only_loops.items():
        body = case.module.by_name[name]
        slices = sorted(_list_rewritten(case, body), key=lambda item: (-item.seconds, item.kernel))
        seconds = sum(item.seconds for item in slices)
        if slices and case.is_noticeable(seconds, LEAST_SHARE):
            yield _finding(case, body, loop, slices)


def _finding(case: Case, body: Computation, loop: Instruction, slices: list[_Rewritten]) -> Finding:
    first, seconds = slices[0], sum(item.seconds for item in slices)
    counted = case.cost.instructions[body.name, first.kernel].counted
    named = [name_argument(case.module, body, item.stack.name) for item in slices]
    arrays = f"{join_names(named)}, " if all(named) else ""
    return Finding(
        title="Whole slice written back for a small change",
        places=tuple((body.name, item.kernel) for item in slices),
        evidence=(
            f"Each iteration of `{loop.name}` changes {units.byte_size(first.changed)} of a slice "
            f"of {arrays}{without_layout(first.stack.shape.text)}, and "
            f"{join_names(item.kernel for item in slices)} "
            f"{'writes' if len(slices) == 1 else 'write'} the whole slice, "
            f"{units.byte_size(first.changed + first.unchanged)}"
            f"{describe_executions(counted)}: {case.time_words(seconds)} for what is unchanged."
        ),
        suggestion=_REMEDY,
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _list_rewritten(case: Case, body: Computation) -> Iterator[_Rewritten]:
    opcodes = ({line.opcode, *fused_opcodes(case.module, line)} for line in body.instructions)
    if not any(_UPDATE in some for some in opcodes):
        return
    flow = flatten(case.module, body)
    for number, line in enumerate(flow.lines):
        cost = case.cost.instructions.get((body.name, flow.kernels[number]))
        part = _changed_part(flow, number) if line.opcode == _UPDATE and cost else None
        if part is None or cost is None:
            continue
        whole, changed, stack = part
        size, small = whole.shape.byte_size or 0, changed.shape.byte_size or 0
        unchanged = size - small
        seconds = min(case.least(cost), case.time_of_bytes(unchanged) * cost.counted)
        yield _Rewritten(flow.kernels[number], stack, whole, unchanged, small, seconds)


def _changed_part(
    flow: FlatFlow, store: int
) -> tuple[Instruction, Instruction, Instruction] | None:
    """Return the slice that is stored, what is changed of it, and the array that it is read from.

    None unless it is read at the place at which it is stored.
    """
    written = _behind_moves(flow, flow.sources[store][1]) if len(flow.sources[store]) > 1 else store
    update, sources = flow.lines[written], flow.sources[written]
    if update.opcode != _UPDATE or written == store or len(sources) <= 1:
        return None
    changed = flow.lines[sources[1]]
    read = _behind_moves(flow, sources[0])
    cut = flow.lines[read]
    sizes = [line.shape.element_count or 0 for line in (update, changed, cut)]
    is_small = sizes[1] and sizes[1] <= _MOST_CHANGED * sizes[0]
    if cut.opcode != "dynamic-slice" or not is_small or sizes[2] != sizes[0]:
        return None
    stored, taken = flow.sources[store][2:], flow.sources[read][1:]
    places = [[_expression(flow, index) for index in at] for at in (stored, taken)]
    if not taken or places[0] != places[1]:
        return None
    return update, changed, flow.lines[_behind_moves(flow, flow.sources[read][0])]


def _behind_moves(flow: FlatFlow, number: int) -> int:
    """Return the value that another one is, maybe with other dimensions or another layout."""
    for _ in range(_LONGEST):
        if flow.lines[number].opcode not in _MOVES or not flow.sources[number]:
            break
        number = flow.sources[number][0]
    return number


def _expression(flow: FlatFlow, number: int, deepest: int = _DEEPEST) -> str:
    """Return an index as text: equal if it is computed alike of the same values."""
    number = _behind_moves(flow, number)
    line = flow.lines[number]
    operands = flow.sources[number]
    if line.opcode == "constant":
        return line.argument
    if line.opcode == "parameter" or not deepest or not operands:
        return line.name
    taken = line.taken_element if line.opcode == "get-tuple-element" else line.opcode
    inner = ",".join(_expression(flow, operand, deepest - 1) for operand in operands)
    return f"{taken}({inner})"
