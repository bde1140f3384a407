import pytest

from xlareport.analysis.steps.headers import header_changes, header_line
from xlareport.analysis.steps.step import step
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

ENTRY = "ENTRY %main (a: f32[8]) -> f32[8] {\n  ROOT %a = f32[8]{0} parameter(0)\n}\n"


def modules(*headers: str) -> list[HloModule]:
    reader = TextReader()
    found = []
    for header in headers:
        module = reader.read(f"HloModule m{header}\n\n{ENTRY}".encode(), "m")
        assert module is not None
        found.append(module)
    return found


ALIASES = ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (2, {}, must-alias) }"


@pytest.mark.parametrize(
    ("before", "after", "phrase"),
    [
        ("", ", is_scheduled=true", "scheduled the module"),
        (", is_scheduled=true", "", "removed the schedule of the module"),
        (", is_scheduled=true", ", is_scheduled=false", "removed the schedule of the module"),
        ("", ", num_partitions=8", "set `num_partitions` to 8"),
        (", replica_count=2", ", replica_count=4", "set `replica_count` to 4"),
        ("", ALIASES, "added 2 input/output aliases"),
        (ALIASES, "", "removed 2 input/output aliases"),
        (
            ALIASES,
            ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (3, {}, must-alias) }",
            "added 1 input/output alias and removed 1 input/output alias",
        ),
        ("", ", buffer_donor={ (1, {}) }", "added 1 buffer donor"),
        (
            ", entry_computation_layout={(f32[8]{0})->f32[8]{0}}",
            ", entry_computation_layout={(f32[8]{0:T(128)})->f32[8]{0:T(128)}}",
            "changed `entry_computation_layout`",
        ),
        (
            ", frontend_attributes={a={x=[1]},d=1}",
            ", frontend_attributes={a={x=[2]},c=3,d=1}",
            "set the frontend attribute `c` and changed the frontend attribute `a`",
        ),
    ],
)
def test_what_was_done_to_a_header(before: str, after: str, phrase: str) -> None:
    old, new = modules(before, after)
    [change] = header_changes(old, new)
    assert change.phrase == phrase
    told = step(old, new, "`hlo-pass`")
    assert not told.identical
    assert told.header == (change,)
    assert told.headline == f"`hlo-pass` {phrase}."


def test_equal_headers_and_headers_of_other_forms_of_files_do_not_count() -> None:
    plain, scheduled = modules("", ", is_scheduled=true")
    assert header_changes(plain, plain) == ()
    assert step(plain, scheduled, headers=False).identical


def test_the_text_difference_shows_both_headers() -> None:
    plain, scheduled = modules("", ", is_scheduled=true")
    matching = step(plain, scheduled).matching
    assert matching is not None
    [diff] = text_diff(matching, header=True).computations
    [line] = diff.hunks[0].lines
    assert (line.sign, line.text, line.other) == (
        "~",
        "HloModule m",
        "HloModule m, is_scheduled=true",
    )
    assert header_line(scheduled) == line.other
