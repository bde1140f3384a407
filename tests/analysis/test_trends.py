"""Steps over the nights: levels count, single odd nights and noise do not."""

import pytest

from xlareport.analysis.trends import Step, find_steps, labels, select_slugs

NOISY = [100, 103, 98, 101, 97, 102, 99]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([5], []),
        ([100, 100, 100], []),
        ([100, 100, 110], [Step(2, 100, 110)]),
        ([100, 100, 110, 110, 90, 90], [Step(2, 100, 110), Step(4, 110, 90)]),
        ([100, 100, 110, 100, 100], []),
        ([1000, 1000, 1009, 1009], []),
        ([1000, 1000, 1011, 1011], [Step(2, 1000, 1011)]),
        ([*NOISY, 104, 100], []),
        ([*NOISY, 130, 131], [Step(7, 100, 130)]),
        ([0, 0, 4, 4], [Step(2, 0, 4)]),
        ([100, None, 100, None, 120, None, 121], [Step(4, 100, 120)]),
        ([None, None], []),
    ],
)
def test_steps(values: list[int | None], expected: list[Step]) -> None:
    assert list(find_steps(values)) == expected


def test_modules_keep_the_slugs_of_the_night_before() -> None:
    former = {"jit_f": "module_0004.jit_f", "jit_g": "module_0006.jit_g"}
    named = labels(["jit_new", "jit_f", "jit_f", "jit_g"])
    own = ("module_0004.jit_f", "module_0005.jit_f", "module_0006.jit_f", "module_0007.jit_g")

    assert named == ("jit_new", "jit_f", "jit_f (2)", "jit_g")
    assert select_slugs(named, own, former) == (
        "module_0004.jit_f-2",
        "module_0004.jit_f",
        "module_0006.jit_f",
        "module_0006.jit_g",
    )
