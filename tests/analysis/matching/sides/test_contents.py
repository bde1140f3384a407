import pytest

from xlareport.analysis.matching.sides.contents import stem


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("region_1.4.clone.3", "region_1"),
        ("fused_computation", "fused_computation"),
        ("add.5.remat2", "add"),
        ("wide.region_0.7", "wide.region_0"),
        ("v2.cast", "v2.cast"),
    ],
)
def test_numbers_and_copy_marks_are_no_part_of_the_stem(name: str, expected: str) -> None:
    assert stem(name) == expected
