"""Where two compilations part: in what was given, at a pass, nowhere, or out of sight."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.compare.divergence import Divergence, SnapshotDigest, Where, find_divergence


def snapshots(forms: str) -> list[SnapshotDigest]:
    return [
        SnapshotDigest(f"{place:04d}", f"{place:04d}", form.encode(), "p", f"pass-{place}")
        for place, form in enumerate(forms)
    ]


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ("abc", "abc", Divergence(Where.NOWHERE, None, None)),
        ("aabbc", "abccc", Divergence(Where.NOWHERE, None, None)),
        ("abc", "xbc", Divergence(Where.INPUT, 0, 0)),
        ("aabcd", "abxd", Divergence(Where.PASS, 3, 2, (2, 1))),
        ("abcd", "abc", Divergence(Where.PASS, 3, None, (2, 2))),
        ("ab", "abcc", Divergence(Where.PASS, None, 2, (1, 1))),
        ("a", "b", Divergence(Where.UNKNOWN, 0, 0)),
        ("ab", "b", Divergence(Where.UNKNOWN, 0, 0)),
        ("", "", Divergence(Where.NOWHERE, None, None)),
        ("", "ab", Divergence(Where.UNKNOWN, None, 0)),
    ],
)
def test_where_they_part(base: str, head: str, expected: Divergence) -> None:
    assert find_divergence(snapshots(base), snapshots(head)) == expected


@pytest.mark.parametrize(
    ("instructions", "where", "header"),
    [(b"same", Where.HEADER, ("alias",)), (b"other", Where.INPUT, ()), (b"", Where.INPUT, ())],
)
def test_headers_of_equal_instructions(
    instructions: bytes, where: Where, header: tuple[str, ...]
) -> None:
    sides = []
    for form, own, alias in (("ab", b"same", None), ("xb", instructions, "1")):
        first, last = snapshots(form)
        known = (("partitions", "8"), ("alias", alias))
        sides.append([replace(first, instructions=own, header=known), last])
    divergence = find_divergence(*sides)
    assert (divergence.where, divergence.header) == (where, header)
