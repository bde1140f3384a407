"""All-reduces in two stages, between which each device takes a slice."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_HEAD = """HloModule m

%sum (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

ENTRY %main (a: f32[8], i: s32[]) -> f32[2] {
  %a = f32[8]{0} parameter(0)
  %i = s32[] parameter(1)
  %n = f32[8]{0} negate(%a)
"""
_WHOLE = f"""{_HEAD}  %all-reduce.1 = f32[8]{{0}} all-reduce(%n), to_apply=%sum, replica_groups=ALL
  %ds = f32[2]{{0}} dynamic-slice(%all-reduce.1, %i), dynamic_slice_sizes={{2}}
  ROOT %out = f32[2]{{0}} negate(%ds)
}}
""".replace("ALL", "{{0,1,2,3}}")
_STAGED = (
    _WHOLE.replace("{{0,1,2,3}}", "{{0,1},{2,3}}")
    .replace(
        "  ROOT %out",
        "  %all-reduce.2 = f32[2]{0} all-reduce(%ds), to_apply=%sum, replica_groups={{0,2},{1,3}}\n"
        "  ROOT %out",
    )
    .replace("negate(%ds)", "negate(%all-reduce.2)")
)


def test_both_stages_do_the_work_of_the_former(read: Read) -> None:
    pairing = match(read(_WHOLE), read(_STAGED)).pairing_before(Place("main", "all-reduce.1"))
    assert pairing is not None
    assert pairing.relation is Relation.SPLIT
    assert {place.instruction for place in pairing.after} == {"all-reduce.1", "all-reduce.2"}


def test_the_groups_of_both_stages_are_told(read: Read) -> None:
    headline = step(read(_WHOLE), read(_STAGED), "all-reduce-splitter").headline
    assert "split 1 all-reduce" in headline
    assert "{{0,1,2,3}} → {{0,1},{2,3}} and {{0,2},{1,3}}" in headline


def test_long_lists_of_groups_are_cut(read: Read) -> None:
    every = ",".join(map(str, range(64)))
    halves = "{" + every.replace(",32,", "},{32,") + "}"
    pairs = "{" + "},{".join(f"{number},{number + 32}" for number in range(32)) + "}"
    before = _WHOLE.replace("{{0,1,2,3}}", f"{{{{{every}}}}}")
    after = _STAGED.replace("{{0,1},{2,3}}", f"{{{halves}}}").replace(
        "{{0,2},{1,3}}", f"{{{pairs}}}"
    )
    headline = step(read(before), read(after), "all-reduce-splitter").headline
    assert "split 1 all-reduce" in headline
    assert len(headline) < 400


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{{0,2},{1,3}}", "{{0,1},{2,3}}"),
        (", replica_groups={{0,2},{1,3}}", ""),
        ("all-reduce(%ds)", "all-reduce(%m)"),
    ],
)
def test_another_all_reduce_is_no_second_stage(read: Read, old: str, new: str) -> None:
    other = _STAGED.replace(old, new).replace(
        "ROOT %out", "%m = f32[2]{0} exponential(%ds)\n  ROOT %out"
    )
    pairing = match(read(_WHOLE), read(other)).pairing_before(Place("main", "all-reduce.1"))
    assert pairing is None or len(pairing.after) == 1
