"""A comparison for machines and comments."""

from xml.etree import ElementTree as ET

from xlareport.analysis.compare.verdict import NO_VERDICT
from xlareport.pages.compare.results import junit, markdown
from xlareport.records.budgets import parse_budget
from xlareport.records.compare import BreachRecord, ComparisonRecord, UncheckedRecord
from xlareport.records.report import DumpRecord, GeneratorRecord

DUMP = DumpRecord("d", 1, 1, ("cpu",), ("jax",))
BUDGETS = tuple(map(parse_budget, ("flops > +5%", "bytes_accessed > +5%", "new:all-gather")))


def view(*breaches: BreachRecord, unchecked: tuple[UncheckedRecord, ...] = ()) -> ComparisonRecord:
    generator = GeneratorRecord("xlareport", "0")
    return ComparisonRecord(
        *(2, generator, DUMP, DUMP, False, NO_VERDICT, (), (), breaches, ()), unchecked=unchecked
    )


GROWN = BreachRecord("flops > +5%", "jit_f", "FLOPs of `jit_f` grew by 9%.")
UNREAD = UncheckedRecord("bytes_accessed > +5%", "jit_f has no figure.")


def test_each_budget_is_a_case() -> None:
    suite = ET.fromstring(junit(view(GROWN, unchecked=(UNREAD,)), BUDGETS))  # noqa: S314 - our own
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
    }
    outcomes = {case.get("name"): [part.tag for part in case] for case in suite}
    assert outcomes == {
        "flops > +5%": ["failure"],
        "bytes_accessed > +5%": ["skipped"],
        "new:all-gather": [],
    }


def test_a_budget_that_one_module_breaks_is_not_skipped_for_another() -> None:
    both = view(GROWN, unchecked=(UncheckedRecord("flops > +5%", "jit_g has no figure."),))
    suite = ET.fromstring(junit(both, BUDGETS))  # noqa: S314 - our own
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")


def test_what_no_file_may_hold_is_made_visible() -> None:
    hostile = BreachRecord("flops > +5%", "m", "grew \x1b[31m & <b>")
    written = junit(view(hostile), BUDGETS)
    suite = ET.fromstring(written)  # noqa: S314 - our own
    failure = suite.find(".//failure")
    assert failure is not None
    assert "\x1b" not in (failure.text or "")
    assert "& <b>" in (failure.text or "")


def test_a_comment_lists_breaches_and_what_was_not_checked() -> None:
    written = markdown(view(GROWN, unchecked=(UNREAD,)))
    assert "**1 over budget:**" in written
    assert "Budget: `flops > +5%`" in written
    assert "**1 not checked:**" in written


def test_a_comment_mentions_nobody_and_links_nowhere() -> None:
    hostile = BreachRecord("flops > +5%", "m", "@team [x](http://a) <!-- | `code`")
    (line,) = [each for each in markdown(view(hostile)).splitlines() if "team" in each]
    assert "\\@team \\[x\\](http\\://a)" in line
    assert "\\<" in line
    assert "\\|" in line
