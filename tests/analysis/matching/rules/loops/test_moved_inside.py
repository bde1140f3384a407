"""Work on a result of a loop or conditional that a pass does inside it."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEHIND = """
HloModule m

%body (p: (s32[], f32[4,8])) -> (s32[], f32[4,8]) {
  %p = (s32[], f32[4,8]{1,0}) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %all = f32[4,8]{1,0} get-tuple-element(%p), index=1
  %one = s32[] constant(1)
  %more = s32[] add(%n, %one)
  %count = f32[] convert(%n)
  %row = f32[1,8]{1,0} broadcast(%count), dimensions={}
  %zero = s32[] constant(0)
  %filled = f32[4,8]{1,0} dynamic-update-slice(%all, %row, %n, %zero)
  ROOT %out = (s32[], f32[4,8]{1,0}) tuple(%more, %filled)
}

%condition (q: (s32[], f32[4,8])) -> pred[] {
  %q = (s32[], f32[4,8]{1,0}) parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  ROOT %ends = pred[] compare(%k, %k), direction=LT
}

ENTRY %main (a: s32[], b: f32[4,8]) -> f32[4,8] {
  %a = s32[] parameter(0)
  %b = f32[4,8]{1,0} parameter(1)
  %in = (s32[], f32[4,8]{1,0}) tuple(%a, %b)
  %while = (s32[], f32[4,8]{1,0}) while(%in), condition=%condition, body=%body
  %stacked = f32[4,8]{1,0} get-tuple-element(%while), index=1
  %copy.1 = f32[4,8]{0,1} copy(%stacked)
  ROOT %tanh = f32[4,8]{0,1} tanh(%copy.1)
}
"""
_INSIDE = (
    _BEHIND.replace("f32[4,8]{1,0}", "f32[4,8]{0,1}")
    .replace("  %copy.1 = f32[4,8]{0,1} copy(%stacked)\n", "")
    .replace("tanh(%copy.1)", "tanh(%stacked)")
    .replace(
        "  %filled = f32[4,8]{0,1} dynamic-update-slice(%all, %row,",
        "  %copy.2 = f32[1,8]{0,1} copy(%row)\n"
        "  %filled = f32[4,8]{0,1} dynamic-update-slice(%all, %copy.2,",
    )
)


def test_a_copy_of_what_a_loop_stacks_is_made_of_each_part_now(read: Read) -> None:
    made = step(read(_BEHIND), read(_INSIDE), "`tpu-copy-normalizer`")
    words = " ".join((made.headline, *made.account))
    assert "moved 1 copy into loops" in words
    assert (
        "`%copy.1` in `main` moved into the loop `%while`; shape: `f32[4,8]{0,1}` → `f32[1,8]{0,1}`"
        in words
    )
    assert "removed 1 copy" not in words.lower()


def test_a_copy_to_another_layout_did_not_move(read: Read) -> None:
    other = _INSIDE.replace("%copy.2 = f32[1,8]{0,1}", "%copy.2 = f32[1,8]{1,0}")
    assert match(read(_BEHIND), read(other)).partner_after(Place("main", "copy.1")) is None


_CHOSEN = """
HloModule m

%yes (x: f32[4,8]) -> (f32[4,8], f32[4,8]) {
  %x = f32[4,8]{1,0} parameter(0)
  %sine = f32[4,8]{1,0} sine(%x)
  ROOT %first = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%sine, %x)
}

%no (y: f32[4,8]) -> (f32[4,8], f32[4,8]) {
  %y = f32[4,8]{1,0} parameter(0)
  %cosine = f32[4,8]{1,0} cosine(%y)
  ROOT %second = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%cosine, %y)
}

ENTRY %main (c: pred[], b: f32[4,8]) -> (f32[4,8], f32[4,8]) {
  %c = pred[] parameter(0)
  %b = f32[4,8]{1,0} parameter(1)
  %either = (f32[4,8]{1,0}, f32[4,8]{1,0}) BRANCHES
  %chosen = f32[4,8]{1,0} get-tuple-element(%either), index=0
  %same = f32[4,8]{1,0} get-tuple-element(%either), index=1
  %copy.1 = f32[4,8]{0,1} copy(%chosen)
  ROOT %all = (f32[4,8]{0,1}, f32[4,8]{1,0}) tuple(%copy.1, %same)
}
""".replace("BRANCHES", "conditional(%c, %b, %b), true_computation=%yes, false_computation=%no")
_IN_BRANCHES = (
    _CHOSEN.replace("  %copy.1 = f32[4,8]{0,1} copy(%chosen)\n", "")
    .replace("tuple(%copy.1, %same)", "tuple(%chosen, %same)")
    .replace("%chosen = f32[4,8]{1,0}", "%chosen = f32[4,8]{0,1}")
    .replace("%either = (f32[4,8]{1,0},", "%either = (f32[4,8]{0,1},")
    .replace(
        "  ROOT %first = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%sine,",
        "  %copy.2 = f32[4,8]{0,1} copy(%sine)\n"
        "  ROOT %first = (f32[4,8]{0,1}, f32[4,8]{1,0}) tuple(%copy.2,",
    )
    .replace(
        "  ROOT %second = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(%cosine,",
        "  %copy.3 = f32[4,8]{0,1} copy(%cosine)\n"
        "  ROOT %second = (f32[4,8]{0,1}, f32[4,8]{1,0}) tuple(%copy.3,",
    )
)


def test_a_copy_behind_a_conditional_moved_into_its_branches(read: Read) -> None:
    matching = match(read(_CHOSEN), read(_IN_BRANCHES))
    pairing = matching.pairing_before(Place("main", "copy.1"))
    assert pairing is not None
    assert pairing.relation is Relation.CLONED
    assert pairing.after == (Place("yes", "copy.2"), Place("no", "copy.3"))
    made = step(read(_CHOSEN), read(_IN_BRANCHES), "`conditional-code-motion`")
    words = " ".join((made.headline, *made.account))
    assert "`%copy.1` in `main` was cloned to `%copy.3` in `%no`" in words
