from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.steps.text_difference import TextDiff, text_diff
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

Read = Callable[[str], HloModule]

BEFORE = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b.1 = f32[8]{0} negate(%a)
  %c.2 = f32[8]{0} tanh(%b.1)
  %d.3 = f32[8]{0} sine(%c.2)
  %e.4 = f32[8]{0} cosine(%d.3)
  %f.5 = f32[8]{0} exponential(%e.4)
  ROOT %g = f32[8]{0} log(%f.5)
}
"""


def difference(read: Read, before: str, after: str) -> TextDiff:
    return text_diff(match(read(before), read(after)))


def signs(found: TextDiff) -> list[str]:
    return [
        f"{line.sign} {line.text.split(' = ')[0].removeprefix('ROOT ')}"
        for computation in found.computations
        for hunk in computation.hunks
        for line in hunk.lines
    ]


def test_equal_snapshots_have_no_difference(read: Read) -> None:
    assert difference(read, BEFORE, BEFORE).computations == ()


def test_numbers_that_shifted_are_no_change(read: Read) -> None:
    found = difference(read, BEFORE, BEFORE.replace("c.2", "c.9").replace("d.3", "d.2"))
    [computation] = found.computations
    assert computation.hunks == ()
    assert found.renumbered == 3


def test_a_changed_line_stands_with_two_lines_around_it(read: Read) -> None:
    found = difference(read, BEFORE, BEFORE.replace("sine(%c.2)", "ceil(%c.2)"))
    assert signs(found) == ["  %b.1", "  %c.2", "~ %d.3", "  %e.4", "  %f.5"]
    line = found.computations[0].hunks[0].lines[2]
    assert (line.text, line.other) == (
        "%d.3 = f32[8]{0} sine(%c.2)",
        "%d.3 = f32[8]{0} ceil(%c.2)",
    )


def test_a_line_put_in(read: Read) -> None:
    after = BEFORE.replace("  %d.3", "  %new = f32[8]{0} copy(%c.2)\n  %d.3").replace(
        "sine(%c.2)", "sine(%new)"
    )
    assert signs(difference(read, BEFORE, after)) == [
        "  %b.1", "  %c.2", "+ %new", "~ %d.3", "  %e.4", "  %f.5",
    ]  # fmt: skip
    assert "- %new" in signs(difference(read, after, BEFORE))


def test_lines_that_went_elsewhere_say_where(read: Read) -> None:
    fused = """
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %b.7 = f32[8]{0} negate(%p)
  ROOT %c.7 = f32[8]{0} tanh(%b.7)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %fusion = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused
  %d.3 = f32[8]{0} sine(%fusion)
  %e.4 = f32[8]{0} cosine(%d.3)
  %f.5 = f32[8]{0} exponential(%e.4)
  ROOT %g = f32[8]{0} log(%f.5)
}
"""
    found = difference(read, BEFORE, fused)
    gone = [line for hunk in found.computations[0].hunks for line in hunk.lines if line.sign == "-"]
    assert [line.other for line in gone] == ["fused/%b.7", "fused/%c.7"]
    new = found.computations[1]
    assert (new.before, new.after) == (None, "fused")
    assert {line.sign for line in new.hunks[0].lines} == {"+"}
    assert [line.other for line in new.hunks[0].lines[1:]] == ["", "main/%b.1", "main/%c.2"]


def test_two_changes_far_apart_are_two_hunks(read: Read) -> None:
    body = "\n".join(f"  %x{n} = f32[8]{{0}} negate(%a)" for n in range(20))
    before = (
        f"ENTRY %main (a: f32[8]) -> f32[8] {{\n  %a = f32[8]{{0}} parameter(0)\n{body}\n"
        "  ROOT %r = f32[8]{0} tanh(%x1)\n}"
    )
    after = before.replace("%x2 = f32[8]{0} negate", "%x2 = f32[8]{0} sine").replace(
        "%x17 = f32[8]{0} negate", "%x17 = f32[8]{0} sine"
    )
    [computation] = difference(read, before, after).computations
    assert [hunk.start for hunk in computation.hunks] == [1, 16]


def swapped(text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if "%y" in line)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return "".join(lines)


ORDERED = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %y = f32[8]{0} negate(%a)
  %z = f32[8]{0} tanh(%a)
  ROOT %g = f32[8]{0} add(%y, %z)
}
"""


_UNSCHEDULED = ORDERED.replace(", is_scheduled=true", "")


def reordered(text: str, other: str = "") -> TextDiff:
    reader = TextReader()
    texts = text, swapped(other or text)
    before, after = (reader.read(each.encode(), "m.txt") for each in texts)
    assert before is not None
    assert after is not None
    return text_diff(match(before, after))


def test_another_schedule_is_told_as_order() -> None:
    found = reordered(ORDERED)
    [hunk] = found.computations[0].hunks
    [moved] = [line for line in hunk.lines if line.sign != " "]
    assert (moved.sign, moved.places) in ((">", (1, 2)), ("<", (2, 1)))


def test_another_order_without_a_schedule_is_no_change() -> None:
    assert reordered(_UNSCHEDULED).computations == ()
    assert reordered(_UNSCHEDULED, ORDERED).computations == ()


_DUPLICATES = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %x.1 = f32[8]{0} negate(%a)
  %y.2 = f32[8]{0} negate(%a)
  ROOT %g = f32[8]{0} add(%x.1, %y.2)
}
"""


def test_a_merged_duplicate_is_removed_and_the_kept_one_is_not(read: Read) -> None:
    lines = _DUPLICATES.replace("  %y.2 = f32[8]{0} negate(%a)\n", "")
    first = difference(read, _DUPLICATES, lines.replace("%y.2", "%x.1"))
    assert "- %y.2" in signs(first)
    assert "  %x.1" in signs(first)
    lines = _DUPLICATES.replace("  %x.1 = f32[8]{0} negate(%a)\n", "")
    second = difference(read, _DUPLICATES, lines.replace("%x.1", "%y.2"))
    assert "- %x.1" in signs(second)
    assert "  %y.2" in signs(second)


def test_another_name_is_a_change_and_its_users_are_not_changed(read: Read) -> None:
    found = difference(read, BEFORE, BEFORE.replace("d.3", "loop_sine"))
    assert signs(found) == ["  %b.1", "  %c.2", "~ %d.3", "  %e.4", "  %f.5"]


def test_an_opcode_that_is_a_name_too_is_not_renamed(read: Read) -> None:
    before = BEFORE.replace("d.3", "sine")
    found = difference(read, before, before.replace("%sine", "%sine.7"))
    [computation] = found.computations
    assert computation.hunks == ()
    assert found.renumbered == 2
