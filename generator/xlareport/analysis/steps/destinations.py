"""Where an instruction is now: moved out of a loop, into one, or into another computation."""

from collections.abc import Mapping

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import FirstIteration, InBranch, Past, Reason
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.facts import holders_of, homes_of
from xlareport.analysis.steps.details import (
    BranchPlace,
    CopyPlace,
    Difference,
    FusionPlace,
    LeftFusion,
    ShapeChange,
)
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.shape_changes import compare_shapes
from xlareport.analysis.steps.turned import turned
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import BOUNDARIES

IN_LOOP = "in the loop "
"""What the place of a copy begins with where it is in a loop and the original is not."""
_DEEPEST = 32
"""Calls around an instruction that are looked at."""


def destination(
    matching: Matching, before: Place, after: Place, opcode: str
) -> dict[Kind, Difference]:
    """Return where an instruction is now, by the kind of move."""
    holders = holders_of(matching.before), holders_of(matching.after)
    left = _left(matching, before, after)
    if opcode not in BOUNDARIES:
        loops = [call.name for call in left if call.opcode == "while"]
        if loops:
            return {Kind.HOISTED: f"moved out of the loop %{loops[-1]}"}
        entered = _entered(matching, before, after)
        if entered:
            return entered
    new = holders[1].get(after.computation)
    is_fused = new is not None and new.opcode == "fusion"
    if matching.same_program and _is_inlined(matching, before) and not is_fused:
        return {Kind.MOVED: f"inlined into %{after.computation}"}
    left = left or _fusions_left(matching, before, after)
    if left:
        return {Kind.MOVED: _departed(matching, before, left[-1])}
    name = new.name if new else after.computation
    if is_fused and _is_fused_anew(matching, before, after):
        return {Kind.MOVED: FusionPlace(name)}
    return {Kind.MOVED: f"moved into %{name}"}


def _departed(matching: Matching, before: Place, holder: Instruction) -> Difference:
    """Return that an instruction left a fusion or another call."""
    if holder.opcode != "fusion":
        return f"moved out of %{holder.name}"
    return LeftFusion(holder.name, _stands(matching, before, holder.name))


def _stands(matching: Matching, inside: Place, name: str) -> bool:
    """Return whether the fusion that holds an instruction continues as a fusion."""
    home = homes_of(matching.before).get(inside.computation)
    now = None if home is None else matching.partner_after(Place(home, name))
    line = None if now is None else matching.after.find(*now)
    return line is not None and line.opcode == "fusion"


def _entered(matching: Matching, before: Place, after: Place) -> dict[Kind, Difference]:
    """Return the loop or branch that an instruction is in now and was not; empty without one."""
    loop = _loop_entered(matching, before, after)
    if loop:
        return {Kind.SUNK: f"moved into {loop}"}
    branch = _branch_entered(matching, before, after)
    return {} if branch is None else {Kind.MOVED: branch}


def _loop_entered(matching: Matching, before: Place, after: Place) -> str:
    """Return `the loop %x` that an instruction is in now and was not; '' if there is none.

    Of a loop that is new where the instruction was, as that of a windowed einsum, `the new loop`.
    """
    loop = holders_of(matching.after).get(after.computation)
    if _enters_loop(matching, before, after, holders_of(matching.before)):
        return f"the loop %{loop.name}" if loop else ""
    if loop is None or loop.opcode != "while":
        return ""
    home = homes_of(matching.after)[after.computation]
    inside = matching.computations.get(before.computation, before.computation)
    is_new = matching.partner_before(Place(home, loop.name)) is None
    return f"the new loop %{loop.name}" if home == inside and is_new else ""


def _branch_entered(matching: Matching, before: Place, after: Place) -> BranchPlace | None:
    """Return the conditional beside which an instruction was, and in whose branch it is now."""
    holder = holders_of(matching.after).get(after.computation)
    if holder is None or holder.opcode != "conditional":
        return None
    inside = matching.computations.get(before.computation, before.computation)
    beside = homes_of(matching.after)[after.computation] == inside
    return BranchPlace(holder.name) if beside else None


def _is_fused_anew(matching: Matching, before: Place, after: Place) -> bool:
    """Return whether an instruction was in no fusion, and is in one that was there before."""
    was, now = holders_of(matching.before).get(before.computation), holders_of(matching.after)
    if was is not None and was.opcode == "fusion":
        return False
    fusion = Place(homes_of(matching.after)[after.computation], now[after.computation].name)
    former = matching.partner_before(fusion)
    known = None if former is None else matching.before.find(*former)
    return known is not None and known.opcode == "fusion"


def departure(
    matching: Matching, before: Place | None, after: Place | None
) -> tuple[Difference, ...]:
    """Return where an instruction that passed another is now, if in another computation."""
    moved = None if after is None else matching.after.find(*after)
    if before is None or after is None or moved is None:
        return ()
    if matching.computations.get(before.computation, before.computation) == after.computation:
        return ()
    return tuple(destination(matching, before, after, moved.opcode).values())


def _is_inlined(matching: Matching, place: Place) -> bool:
    """Return whether the computation of an instruction is gone, and was what a call called."""
    if place.computation in matching.computations or place.computation in matching.after.by_name:
        return False
    call = holders_of(matching.before).get(place.computation)
    return call is not None and call.opcode == "call"


def detail_of_copy(
    matching: Matching, before: Place, after: Place, opcode: str, reason: Reason
) -> Difference:
    """Return what a copy has of its own: its loop or branch, what it stands past, or its shape."""
    if isinstance(reason, FirstIteration):
        return "before the loop"
    if isinstance(reason, InBranch):
        return f"in %{after.computation}"
    passed = str(Past(reason.instruction)) if isinstance(reason, Past) else ""
    where = _loop_of_copy(matching, before, after, opcode) or passed
    old, new = matching.before.find(*before), matching.after.find(*after)
    if old is None or new is None or old.opcode != new.opcode or new.shape.elements:
        return where
    differences = compare_shapes(old.shape, new.shape)
    if Kind.TYPE in differences:
        return _in_type(new, where)
    for kind, form in ((Kind.SHAPE, "shape"), (Kind.LAYOUT, "layout")):
        difference = differences.get(kind)
        if isinstance(difference, ShapeChange):
            shape = turned(matching, before, after) if kind is Kind.LAYOUT else None
            return CopyPlace(where, (shape or difference).after, "shape" if shape else form)
    return where


def type_of_copy(old: Instruction, new: Instruction) -> tuple[Difference, ...]:
    """Return the element type of a copy that differs from its original in nothing else."""
    if new.shape.elements or Kind.TYPE not in compare_shapes(old.shape, new.shape):
        return ()
    return (_in_type(new),)


def _in_type(copy: Instruction, where: str = "") -> CopyPlace:
    return CopyPlace(where, copy.shape.element_type, "element type")


def _loop_of_copy(matching: Matching, before: Place, after: Place, opcode: str) -> str:
    """Return `in the loop %x` of a copy in a loop, where the original is outside; '' elsewhere.

    Of a copy outside of the loop that the original is in, `outside the loop %x`; of one outside of
    a conditional, `outside the conditional %x`.
    """
    if before.computation == after.computation or opcode in BOUNDARIES:
        return ""
    left = _left(matching, before, after)
    for opcode_left, word in (("while", "loop"), ("conditional", "conditional")):
        names = [call.name for call in left if call.opcode == opcode_left]
        if names:
            return f"outside the {word} %{names[-1]}"
    if not _enters_loop(matching, before, after, holders_of(matching.before)):
        return ""
    return f"{IN_LOOP}%{holders_of(matching.after)[after.computation].name}"


def _left(matching: Matching, before: Place, after: Place) -> list[Instruction]:
    """Return the calls that an instruction is no longer in, the innermost first.

    Empty where its computation is no longer called from where the instruction is now.
    """
    holders, homes = holders_of(matching.after), homes_of(matching.after)
    inside = matching.computations.get(before.computation, before.computation)
    calls: list[Instruction] = []
    while inside != after.computation:
        call = holders.get(inside)
        if call is None or len(calls) > _DEEPEST:
            return []
        calls.append(call)
        inside = homes[inside]
    return calls


def _fusions_left(matching: Matching, before: Place, after: Place) -> list[Instruction]:
    """Return the fusions that an instruction was in, the innermost first, and is not in now.

    Empty where something else called its computation, or where it is elsewhere now.
    """
    holders, homes = holders_of(matching.before), homes_of(matching.before)
    outside = matching.computation_before(after.computation)
    inside, fusions = before.computation, list[Instruction]()
    while inside != outside:
        call = holders.get(inside)
        if call is None or call.opcode != "fusion" or len(fusions) > _DEEPEST:
            return []
        fusions.append(call)
        inside = homes[inside]
    return fusions


def _enters_loop(
    matching: Matching, before: Place, after: Place, holders: Mapping[str, Instruction]
) -> bool:
    """Return whether an instruction is in a loop now, or in loops within it, of where it was."""
    body = matching.computation_before(after.computation)
    homes = homes_of(matching.before)
    for _ in range(_DEEPEST if after.computation in holders_of(matching.after) else 0):
        caller = holders.get(body)
        if caller is None or caller.opcode != "while":
            return False
        body = homes[body]
        if body == before.computation:
            return True
    return False
