"""A slice of a result that became slices of the operands."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """
HloModule m
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[2], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
"""
_BEFORE = f"""{_HEAD}
  %add.1 = f32[8]{{0}} add(%a, %b)
  %slice.1 = f32[2]{{0}} slice(%add.1), slice={{[0:2]}}
  %negate.1 = f32[2]{{0}} negate(%slice.1)
  %exp.1 = f32[8]{{0}} exponential(%b)
  ROOT %out = (f32[2]{{0}}, f32[8]{{0}}) tuple(%negate.1, %exp.1)
}}
"""
_AFTER = f"""{_HEAD}
  %slice.7 = f32[2]{{0}} slice(%a), slice={{[0:2]}}
  %slice.8 = f32[2]{{0}} slice(%b), slice={{[0:2]}}
  %add.7 = f32[2]{{0}} add(%slice.7, %slice.8)
  %negate.1 = f32[2]{{0}} negate(%add.7)
  %exp.1 = f32[8]{{0}} exponential(%b)
  ROOT %out = (f32[2]{{0}}, f32[8]{{0}}) tuple(%negate.1, %exp.1)
}}
"""


def _relation(before: HloModule, after: HloModule, name: str) -> tuple[Relation, list[str]]:
    pairing = match(before, after).pairing_before(Place("main", name))
    assert pairing is not None
    return pairing.relation, [place.instruction for place in pairing.after]


def test_the_slice_moved_past_the_operation(read: Read) -> None:
    before, after = read(_BEFORE), read(_AFTER)
    assert _relation(before, after, "slice.1") == (Relation.SWAPPED, ["slice.7", "slice.8"])
    relation, new = _relation(before, after, "add.1")
    assert relation is not Relation.REMOVED
    assert new == ["add.7"]


def test_the_account_says_so(read: Read) -> None:
    account = " ".join(step(read(_BEFORE), read(_AFTER), "`pad-slice-mover`").account)
    headline = step(read(_BEFORE), read(_AFTER), "`pad-slice-mover`").headline
    assert "moved 1 slice past other instructions" in headline
    assert "`%slice.1` in `main` was cloned to `%slice.8`" in account


def test_a_result_with_other_users_stays_and_is_copied(read: Read) -> None:
    kept = _AFTER.replace("%slice.7 =", "%add.1 = f32[8]{0} add(%a, %b)\n  %slice.7 =")
    before = _BEFORE.replace("exponential(%b)", "exponential(%add.1)")
    after = kept.replace("exponential(%b)", "exponential(%add.1)")
    assert _relation(read(before), read(after), "add.1") == (Relation.CLONED, ["add.1", "add.7"])
    assert _relation(read(before), read(after), "slice.1")[0] is Relation.SWAPPED


@pytest.mark.parametrize(
    ("old", "new"), [("[0:2]", "[2:4]"), ("add(%slice.7", "subtract(%slice.7")]
)
def test_other_slices_or_another_operation_are_no_move(read: Read, old: str, new: str) -> None:
    after = read(_AFTER.replace(old, new))
    assert _relation(read(_BEFORE), after, "slice.1")[0] is not Relation.SWAPPED


def test_a_slice_of_indices_is_no_slice_of_what_they_gather(read: Read) -> None:
    by_index = (
        "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,"
        " slice_sizes={1,1}"
    )
    head = "HloModule m\nENTRY %main (a: f32[8,1], j: s32[8,1]) -> f32[2,1] {\n"
    head += "  %a = f32[8,1]{1,0} parameter(0)\n  %j = s32[8,1]{1,0} parameter(1)\n"
    cut = "slice={[0:2], [0:1]}"
    before = (
        f"{head}  %gather.1 = f32[8,1]{{1,0}} gather(%a, %j), {by_index}\n"
        f"  %slice.1 = f32[2,1]{{1,0}} slice(%gather.1), {cut}\n"
        "  ROOT %out = f32[2,1]{1,0} negate(%slice.1)\n}\n"
    )
    after = (
        f"{head}  %slice.7 = s32[2,1]{{1,0}} slice(%j), {cut}\n"
        f"  %gather.7 = f32[2,1]{{1,0}} gather(%a, %slice.7), {by_index}\n"
        "  ROOT %out = f32[2,1]{1,0} negate(%gather.7)\n}\n"
    )
    relation, new = _relation(read(before), read(after), "slice.1")
    assert "slice.7" not in new
    assert relation is not Relation.SWAPPED


_REVERSED = """
ENTRY %main (a: f32[8]) -> (f32[2], f32[3]) {
  %a = f32[8]{0} parameter(0)
  %reverse.1 = f32[8]{0} reverse(%a), dimensions={0}
  %slice.1 = f32[2]{0} slice(%reverse.1), slice={[0:2]}
  %slice.2 = f32[3]{0} slice(%reverse.1), slice={[5:8]}
  %negate.1 = f32[2]{0} negate(%slice.1)
  %negate.2 = f32[3]{0} negate(%slice.2)
  ROOT %out = (f32[2]{0}, f32[3]{0}) tuple(%negate.1, %negate.2)
}
"""
_MIRRORED = """
ENTRY %main (a: f32[8]) -> (f32[2], f32[3]) {
  %a = f32[8]{0} parameter(0)
  %slice.3 = f32[2]{0} slice(%a), slice={[6:8]}
  %reverse.3 = f32[2]{0} reverse(%slice.3), dimensions={0}
  %slice.4 = f32[3]{0} slice(%a), slice={[0:3]}
  %reverse.4 = f32[3]{0} reverse(%slice.4), dimensions={0}
  %negate.1 = f32[2]{0} negate(%reverse.3)
  %negate.2 = f32[3]{0} negate(%reverse.4)
  ROOT %out = (f32[2]{0}, f32[3]{0}) tuple(%negate.1, %negate.2)
}
"""


def test_slices_of_a_reversed_array_cut_the_other_end_of_the_array(read: Read) -> None:
    before, after = read(_REVERSED), read(_MIRRORED)
    assert _relation(before, after, "slice.1") == (Relation.SWAPPED, ["slice.3"])
    assert _relation(before, after, "slice.2") == (Relation.SWAPPED, ["slice.4"])
    assert _relation(before, after, "reverse.1")[1] == ["reverse.3", "reverse.4"]
    other = read(_MIRRORED.replace("[6:8]", "[0:2]").replace("[0:3]", "[1:4]"))
    assert _relation(before, other, "slice.1")[0] is not Relation.SWAPPED


_DOT_SLICED = """
ENTRY %main (x: bf16[8,512,64], y: bf16[64,32]) -> bf16[8,511,32] {
  %x = bf16[8,512,64] parameter(0)
  %y = bf16[64,32] parameter(1)
  %dot.1 = bf16[8,512,32] dot(%x, %y), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  %slice.1 = bf16[8,511,32] slice(%dot.1), slice={[0:8], [0:511], [0:32]}
  ROOT %out = bf16[8,511,32] tanh(%slice.1)
}
"""
_SLICED_DOT = """
  %slice.2 = bf16[8,511,64] slice(%x), slice={[0:8], [0:511], [0:64]}
  %dot.2 = bf16[8,511,32] dot(%slice.2, %y), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  ROOT %out = bf16[8,511,32] tanh(%dot.2)
"""


def test_a_slice_before_a_dot_is_a_copy_of_that_of_its_result_which_is_left(read: Read) -> None:
    last = "  ROOT %out = bf16[8,511,32] tanh(%slice.1)\n"
    after = _DOT_SLICED.replace(last, _SLICED_DOT.lstrip("\n"))
    pairing = match(read(_DOT_SLICED), read(after)).pairing_after(Place("main", "slice.2"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.before == (Place("main", "slice.1"),)
    places = Place("main", "slice.1"), Place("main", "slice.2")
    assert str(pairing.known_of(*places).reason) == "a further copy, past %dot.1"


def test_a_slice_of_other_elements_is_no_copy_of_that_of_a_result(read: Read) -> None:
    last = "  ROOT %out = bf16[8,511,32] tanh(%slice.1)\n"
    other = _SLICED_DOT.lstrip("\n").replace("[0:511]", "[1:512]")
    matching = match(read(_DOT_SLICED), read(_DOT_SLICED.replace(last, other)))
    assert Place("main", "slice.2") in matching.added
