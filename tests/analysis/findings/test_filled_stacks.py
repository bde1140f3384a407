"""Fills of buffers that loops overwrite: their bytes and time, and what else needs the zeros."""

import pytest
from tests.analysis.findings.conftest import MakeCase
from tests.analysis.findings.texts import having

from xlareport.analysis.findings.filled_stacks import filled_stacks

TEXT = having("filled-stacks")


def test_buffers_and_the_time_to_fill_them(case_of: MakeCase) -> None:
    case = case_of(TEXT)
    (finding,) = filled_stacks(case)
    assert finding.places == (("e", "filled"),)
    assert "`filled` fills 2 buffers, 16.0 MiB, of which `loop` writes every slice" in (
        finding.evidence
    )
    assert finding.seconds == pytest.approx(case.time_of_bytes(2 * 8 << 20))


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("  t = (s32[]", "  read = f32[8,256,1024] tanh(first)\n  t = (s32[]"),
        (
            "first = f32[8,256,1024] broadcast(none)",
            "first = f32[8,256,1024] iota(), iota_dimension=0",
        ),
        ('"known_trip_count":{"n":"8"}', '"known_trip_count":{"n":"7"}'),
    ],
)
def test_what_is_needed_is_no_fill(was: str, now: str, case_of: MakeCase) -> None:
    assert was in TEXT
    assert not list(filled_stacks(case_of(TEXT.replace(was, now))))
