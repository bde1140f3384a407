from collections.abc import Callable

import pytest
from tests.analysis.findings.texts import having

from xlareport.analysis.findings.detoured_values import are_across, detoured_values
from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.rules import find_findings
from xlareport.hlo.shardings.device_groups import parse_groups


def test_half_of_what_two_devices_hold_alike_is_spared(case_of: Callable[..., Case]) -> None:
    case = case_of(having("detoured-values"))
    (finding,) = detoured_values(case)
    assert finding.places == (("e", "x"), ("e", "g"))
    assert (
        "`g` gathers a value from 2 devices, and only `x` uses it: it sends 3.0 MiB per device"
        in (finding.evidence)
    )
    assert finding.evidence.endswith("Of what each had before it is 1.5 MiB.")
    (moved,) = (figures for figures in case.collectives if figures.collective.kind == "all-to-all")
    assert finding.seconds == pytest.approx(moved.exposed_seconds / 2)
    assert "gathered-once" not in {finding.rule for finding in find_findings(case)}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("{{0,1},{2,3}}", "{{0,2},{1,3}}", True),
        ("{{0,1},{2,3}}", "{{0,1},{2,3}}", False),
        ("{{0,1},{2,3}}", "{{0,1,2,3}}", False),
    ],
)
def test_groups_are_across_if_they_share_one_device_at_most(
    first: str, second: str, expected: object
) -> None:
    assert are_across(parse_groups(first), parse_groups(second)) is expected
    assert not are_across(parse_groups(first), None)
