"""Sentences on values that a collective moves, and whose shardings are not known."""

from collections.abc import Callable

import pytest
from tests.modules import parse_module

from xlareport.analysis.collectives.partitioning import Counterpart, PartitioningStep
from xlareport.analysis.collectives.reshard_words import (
    describe_move,
    describe_resharding,
    find_merging_reshape,
    merges,
)
from xlareport.analysis.collectives.sharding_pair import make_pair
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

TEXT = """
ENTRY %main (x: f32[8,6]) -> f32[8,6] {
  %x = f32[8,6] parameter(0)
  %all-gather.1 = f32[8,24] all-gather(%x), dimensions={1}
  %collective-permute.1 = f32[8,6] collective-permute(%x), source_target_pairs={{0,1},{1,2}}
  %all-to-all.1 = f32[8,6] all-to-all(%x), dimensions={1}
  ROOT %dot.1 = f32[8,6] add(%x, %x)
}
"""


MERGED = """HloModule m, num_partitions=4

ENTRY main {
  a = f32[8,16] parameter(0), sharding={devices=[TILES]<=[4]}
  flat = f32[128] reshape(a)
  ROOT d = f32[] dot(flat, flat), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"""


@pytest.mark.parametrize(
    ("collective", "is_made", "expected"),
    [
        ("all-gather.1", False, "Joins the parts of `x` along dimension 1 for `dot.1` (add)."),
        (
            "all-gather.1",
            True,
            "Joins the parts of what the partitioner computes for `dot.1` along dimension 1.",
        ),
        (
            "collective-permute.1",
            False,
            "Sends each device's part of `x` to another device for `dot.1` (add).",
        ),
        ("all-to-all.1", False, "Moves the parts of `x` between devices for `dot.1` (add)."),
    ],
)
def test_a_move_says_what_is_known(
    collective: str, expected: str, read_text: Callable[[str], HloModule], *, is_made: bool
) -> None:
    entry = read_text(TEXT).entry
    assert entry is not None
    wanting = Counterpart(entry, entry.by_name["dot.1"], Grade.MATCHED)
    body, source = entry.by_name[collective], entry.by_name["x"]
    assert describe_move(body, source, wanting, is_made=is_made) == expected


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ("{replicated}", "Reshards `x` from `{devices=[2]<=[2]}` to `{replicated}`."),
        ("", "Reshards `x` from `{devices=[2]<=[2]}`."),
        ("{devices=[]...}", "Reshards `x`."),
    ],
)
def test_the_known_sharding_is_stated_where_the_other_is_not(after: str, words: str) -> None:
    module = parse_module(MERGED.replace("TILES", "1,4"))
    step = PartitioningStep(Partitioning(module, module), match(module, module))
    pair = make_pair("x", "{devices=[2]<=[2]}", after, "resharding", Grade.MATCHED)
    assert describe_resharding(step, pair, None) == words


@pytest.mark.parametrize(("tiles", "reshape"), [("1,4", "flat"), ("4,1", None)])
def test_a_reshape_that_merges_a_sharded_dimension_is_found(
    tiles: str, reshape: str | None
) -> None:
    """Rows stay together in the flat value, columns do not."""
    module = parse_module(MERGED.replace("TILES", tiles))
    assert module.entry is not None
    step = PartitioningStep(Partitioning(module, module), match(module, module))
    assert module.entry.root is not None
    wanting = Counterpart(module.entry, module.entry.root, Grade.MATCHED)
    pair = make_pair("a", "", "", "resharding", Grade.MATCHED)
    found = find_merging_reshape(step, pair, wanting)
    assert (found.name if found else None) == reshape


def test_a_reshape_that_keeps_the_sharded_dimension_merges_nothing() -> None:
    text = MERGED.replace("f32[128] reshape", "f32[2,4,16] reshape").replace("TILES", "1,4")
    module = parse_module(text)
    assert module.entry is not None
    lines = module.entry.by_name
    assert not merges(lines["a"], lines["flat"], (1, 4))


def test_of_an_iota_the_transfer_is_needless() -> None:
    text = MERGED.replace("TILES", "1,4").replace(
        "ROOT", "count = s32[8] iota(), iota_dimension=0\n  ROOT"
    )
    module = parse_module(text)
    step = PartitioningStep(Partitioning(module, module), match(module, module))
    pair = make_pair("count", "{devices=[2]<=[2]}", "{replicated}", "resharding", Grade.MATCHED)
    assert describe_resharding(step, pair, None) == (
        "Reshards `count` from `{devices=[2]<=[2]}` to `{replicated}`. "
        "It is an iota, which each device could compute whole."
    )
