"""Library convolutions over zeros that a pad inserts."""

from collections.abc import Callable

import pytest
from tests.analysis.findings.texts import having

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.inserted_zeros import inserted_zeros

MakeCase = Callable[[str], Case]
TEXT = having("inserted-zeros")


def test_the_share_of_data_and_the_largest_operand_are_named(case_of: MakeCase) -> None:
    (finding,) = inserted_zeros(case_of(TEXT))
    assert finding.places == (("e", "c"),)
    assert "Of the 134 MiB of `f`, 24% is data." in finding.evidence
    assert finding.seconds is not None
    assert "transpose_kernel=True" in finding.suggestion


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("constant(0)", "constant(1)"),
        ("__cudnn$convForward", "other"),
        ("2_2_1x2_2_1", "33_34x33_34"),
    ],
)
def test_other_pads_and_calls_insert_no_zeros(old: str, new: str, case_of: MakeCase) -> None:
    assert old in TEXT
    assert not [*inserted_zeros(case_of(TEXT.replace(old, new)))]
