"""Copies of computations: closed ones, merged ones, and those that no known instruction calls."""

from collections.abc import Callable

from tests.modules import parse_module

from xlareport.analysis.matching.account.copies import continues_others
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

_ADD = """{name} {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}

"""
_ENTRY = """ENTRY e {{
  x = f32[4,4] parameter(0)
  z = f32[] constant(0)
  r = f32[4] reduce(x, z), dimensions={{1}}, to_apply={first}
  q = f32[4] reduce(x, z), dimensions={{0}}, to_apply={second}
  ROOT t = (f32[4], f32[4]) tuple(r, q)
}}
"""


def text(first: str, second: str) -> str:
    added = "".join(_ADD.format(name=name) for name in dict.fromkeys((first, second)))
    return f"HloModule m\n\n{added}{_ENTRY.format(first=first, second=second)}"


def kinds(before: str, after: str) -> set[Kind]:
    made = step(parse_module(before), parse_module(after), "`p`")
    return {group.kind for group in made.groups}


def test_a_computation_that_another_call_has_now_was_cloned() -> None:
    assert kinds(text("add", "add"), text("add", "add.clone")) == {Kind.COPIED}


def test_copies_that_became_one_were_merged() -> None:
    assert kinds(text("add", "add.clone"), text("add", "add")) == {Kind.UNIFIED}


def test_other_contents_are_no_copy() -> None:
    beginning, entry = text("add", "add.clone").split("ENTRY")
    before, after = beginning.rsplit("add(a, b)", 1)
    changed = f"{before}maximum(a, b){after}ENTRY{entry}"
    assert Kind.COPIED not in kinds(text("add", "add"), changed)


def test_a_copy_that_nothing_calls_is_known_by_its_name_alone() -> None:
    copy = _ADD.format(name="add.clone")
    uncalled = text("add", "add").replace("HloModule m\n\n", f"HloModule m\n\n{copy}")
    assert kinds(text("add", "add"), uncalled) == {Kind.LEFTOVER}


Read = Callable[[str], HloModule]

_SUM = """%add.N (x.N: f32[], y.N: f32[]) -> f32[] {
  %x.N = f32[] parameter(0)
  %y.N = f32[] parameter(1)
  ROOT %s.N = f32[] add(%x.N, %y.N)
}

"""
_SUMS = _SUM.replace(".N", ".1") + _SUM.replace(".N", ".2")
_HEAD = """ENTRY %main (a: f32[8]) -> (f32[], f32[]) {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  %total.1 = f32[] reduce(%a, %zero), dimensions={0}, to_apply=%add.1
  %total.2 = f32[] reduce(%a, %zero), dimensions={0}, to_apply=%add.2
"""
_BEFORE = f"""HloModule m

{_SUMS}{_HEAD}  ROOT %out = (f32[], f32[]) tuple(%total.1, %total.2)
}}
"""


def _summed(clone: str) -> str:
    computation = _SUM.replace("add.N", clone).replace(".N", ".9")
    sent = f"  %sent = f32[] all-reduce(%total.2), to_apply=%{clone}\n"
    root = "  ROOT %out = (f32[], f32[]) tuple(%total.1, %sent)\n}\n"
    return f"HloModule m\n\n{_SUMS}{computation}{_HEAD}{sent}{root}"


def test_a_clone_has_the_name_of_its_original_with_a_mark_behind_it(read: Read) -> None:
    pairing = match(read(_BEFORE), read(_summed("add.2.clone"))).pairing_after(
        Place("add.2.clone", "s.9")
    )
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.grade is Grade.MATCHED
    assert pairing.before == (Place("add.2", "s.2"),)


def test_of_equal_computations_the_first_part_of_the_name_is_a_guess(read: Read) -> None:
    called = _summed("add.7").replace(
        "all-reduce(%total.2), to_apply=%add.7",
        'custom-call(%total.2), custom_call_target="x", called_computations={%add.7}',
    )
    pairing = match(read(_BEFORE), read(called)).pairing_after(Place("add.7", "s.9"))
    assert pairing is not None
    assert pairing.grade is Grade.GUESSED


def test_a_computation_that_a_new_instruction_alone_applies_copies_no_equal_one(
    read: Read,
) -> None:
    """`all_gather_decomposer` makes a sum for each all-reduce that it makes."""
    before, after = read(_BEFORE), read(_summed("add.7"))
    pairing = match(before, after).pairing_after(Place("add.7", "s.9"))
    assert pairing is not None
    assert pairing.relation is Relation.ADDED
    made = step(before, after)
    assert "`%add.7` is applied by `%sent`" in " ".join((made.headline, *made.account))


def test_a_computation_whose_lines_continue_others_copies_nothing(read: Read) -> None:
    """Its parameters are new, and no clones of those of a computation with equal contents."""
    module = read(_BEFORE)
    computation = module.by_name["add.1"]
    assert continues_others(computation, {Place("add.1", "s.1")})
    assert not continues_others(computation, {Place("add.1", "x.1")})


def test_what_a_merged_reduce_applied_is_removed_with_it() -> None:
    before = text("add", "sum").replace("  q = f32[4] reduce(x, z)", "  q = f32[] reduce(r, z)")
    before = before.replace("(f32[4], f32[4]) tuple(r, q)", "(f32[]) tuple(q)")
    start, end = "  r = f32[4]", "  q = f32[] reduce(r, z), dimensions={0}"
    inner = before[before.index(start) : before.index(end)]
    after = before.replace(inner, "").replace(end, "  q = f32[] reduce(x, z), dimensions={0,1}")
    after = after.replace(_ADD.format(name="add"), "")
    assert kinds(before, after) >= {Kind.COMBINED, Kind.UNAPPLIED}
    assert Kind.UNIFIED not in kinds(before, after)
