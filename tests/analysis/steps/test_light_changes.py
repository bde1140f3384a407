from msgspec.structs import replace
from tests.analysis.steps.made_change import change

from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.groups import grouped
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.light_changes import count_light, without_light


def of(kind: Kind, before: str, after: str) -> Change:
    return replace(change(kind), opcodes=(before, after))


def kept(*changes: Change) -> list[tuple[Kind, tuple[str, str]]]:
    return [(group.kind, group.opcodes) for group in without_light(grouped(changes))]


def test_changes_of_light_instructions_are_left_out() -> None:
    dot = of(Kind.REWRITTEN, "dot", "custom-call")
    reshape = of(Kind.REPLACED, "reshape", "copy")
    assert kept(dot, reshape) == [(Kind.REWRITTEN, ("dot", "custom-call"))]


def test_new_computations_are_kept_whatever_they_hold() -> None:
    dot, computation = of(Kind.DEAD, "dot", ""), of(Kind.DEFINED, "", "add")
    kinds = {kind for kind, _ in kept(dot, computation, of(Kind.TAKEN, "transpose", ""))}
    assert kinds == {Kind.DEAD, Kind.DEFINED, Kind.TAKEN}


def test_what_was_expanded_is_kept_unless_it_only_moved_values() -> None:
    norm = of(Kind.EXPANDED, "batch-norm-training", "multiply")
    reshape = of(Kind.EXPANDED, "reshape", "bitcast")
    assert kept(norm, reshape) == [(Kind.EXPANDED, ("batch-norm-training", "multiply"))]


def test_light_changes_alone_are_kept() -> None:
    assert kept(of(Kind.REMOVED, "copy", "")) == [(Kind.REMOVED, ("copy", ""))]


def test_opcodes_are_counted_but_for_heavy_ones_and_tuples() -> None:
    counts = (("reshape", 1036, 0), ("dot", 8, 6), ("tuple", 9, 2), ("copy", 0, 12))
    assert count_light(counts) == "Other instructions, by opcode: reshape 1,036 → 0, copy 0 → 12."
    assert count_light((("dot", 8, 6),)) == ""


def test_of_many_opcodes_those_that_changed_most_are_named() -> None:
    counts = tuple((f"op{number}", 20 - number, 0) for number in range(11))
    assert count_light(counts).endswith("op7 13 → 0 and 3 more.")


def test_asynchronous_copies_and_memory_spaces_are_kept() -> None:
    copy, space = of(Kind.ADDED, "", "copy-start"), of(Kind.SPACE, "parameter", "parameter")
    assert set(kept(copy, space, of(Kind.REMOVED, "copy", ""))) == {
        (Kind.ADDED, ("", "copy-start")),
        (Kind.SPACE, ("parameter", "parameter")),
    }
