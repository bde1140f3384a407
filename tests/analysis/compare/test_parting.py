"""Where the snapshots of two compilations begin to differ, in words."""

from types import SimpleNamespace

import pytest

from xlareport.analysis.compare.divergence import Divergence, SnapshotDigest, Where
from xlareport.analysis.compare.parting import parting


def digest(
    after: str | None, pipeline: str | None = "simplify", key: str = "0001"
) -> SnapshotDigest:
    return SnapshotDigest(key, f"label {key}", b"", pipeline, after)


def parted(
    divergence: Divergence, base: SnapshotDigest | None = None, head: SnapshotDigest | None = None
) -> str:
    sides = [SimpleNamespace(snapshots=(side,) if side else ()) for side in (base, head)]
    return parting(SimpleNamespace(base=sides[0], head=sides[1], divergence=divergence))


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (Where.NOWHERE, "No snapshot differs"),
        (Where.INPUT, "Input HLO differs (model change, not a compiler change)"),
        (Where.UNKNOWN, "the dumps have no snapshots that show which pass did it"),
    ],
)
def test_without_a_pass_the_place_is_named(where: Where, words: str) -> None:
    assert words in parted(Divergence(where, None, None))


def test_a_header_is_named_by_its_attributes() -> None:
    header = Divergence(Where.HEADER, 0, 0, header=("input_output_alias", "num_partitions"))
    assert parted(header).endswith("differs in `input_output_alias` and `num_partitions`")


def test_the_same_pass_with_another_result() -> None:
    words = parted(Divergence(Where.PASS, 0, 0), digest("dce"), digest("dce"))
    assert words == (
        "The snapshots agree until `dce` in `simplify`, whose result differs in the head"
    )


def test_two_passes_are_named_side_by_side() -> None:
    words = parted(Divergence(Where.PASS, 0, 0), digest("dce", None), digest("cse", None))
    assert words == "The snapshots agree, then differ: `dce` changes the base next, `cse` the head"


@pytest.mark.parametrize(
    ("number", "base", "words"),
    [
        (None, None, "no further pass changes the base"),
        (0, digest(None), "what ran before label 0001 changes the base"),
        (0, digest(None, key="after_optimizations"), "a pass before the end changes the base"),
    ],
)
def test_a_pass_that_no_file_names(
    number: int | None, base: SnapshotDigest | None, words: str
) -> None:
    assert words in parted(Divergence(Where.PASS, number, 0), base, digest("cse"))


def test_a_module_of_one_side_has_no_snapshot_that_differs() -> None:
    alone = SimpleNamespace(base=None, head=object(), divergence=Divergence(Where.PASS, 0, 0))
    assert parting(alone) == "No snapshot differs"
