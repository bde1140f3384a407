"""A window that is divided over devices needs more than an edge of its neighbor's part."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.collective_origin import explain_cause
from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import HloModule

ReadText = Callable[[str], HloModule]
WHOLE = """
ENTRY %main (x: f32[8,32,4], k: f32[2,4,4]) -> f32[8,16,4] {
  %x = f32[8,32,4] parameter(0), sharding={devices=[4,2,1]<=[8]}
  %k = f32[2,4,4] parameter(1), sharding={replicated}
  ROOT %conv.1 = f32[8,16,4] convolution(%x, %k), window={size=2 stride=2}, \
dim_labels=b0f_0io->b0f, sharding={devices=[4,1,1,2]<=[8] last_tile_dim_replicate}, \
metadata={op_name="f/conv"}
}
"""
PARTS = """
ENTRY %main (x: f32[2,16,4], k: f32[1,4,4]) -> f32[2,16,4] {
  %x = f32[2,16,4] parameter(0)
  %k = f32[1,4,4] parameter(1)
  %slice.1 = f32[2,LENGTH,4] slice(%x), slice={[0:2], [FIRST:16], [0:4]}, \
metadata={op_name="f/conv"}
  %collective-permute.1 = f32[2,LENGTH,4] collective-permute(%slice.1), channel_id=1, \
source_target_pairs={{0,1},{2,3},{4,5},{6,7}}, metadata={op_name="f/conv"}
  %all.1 = f32[2,SUM,4] concatenate(%collective-permute.1, %x), dimensions={1}, \
metadata={op_name="f/conv"}
  ROOT %conv.5 = f32[2,16,4] convolution(%all.1, %k), window={size=SIZE stride=2}, \
dim_labels=b0f_0io->b0f, metadata={op_name="f/conv"}
}
"""


def cause_of(read_text: ReadText, length: int, size: int) -> tuple[CauseKind, str]:
    parts = PARTS.replace("LENGTH", str(length)).replace("FIRST", str(16 - length))
    parts = parts.replace("SUM", str(16 + length)).replace("SIZE", str(size))
    before, after = read_text(WHOLE), read_text(parts)
    step = PartitioningStep(Partitioning(before, after), match(before, after))
    cause = explain_cause(step, find_collectives(after)[0], 8)
    return cause.kind, cause.detail


def test_a_divided_window_is_no_halo_exchange(read_text: ReadText) -> None:
    kind, detail = cause_of(read_text, 15, 1)
    assert kind is CauseKind.SPLIT_WINDOW
    assert detail == (
        "Sends 15 of the 16 planes of a part of `x` along dimension 1, no edge: the window of "
        "`conv.1` (convolution, 2) is divided over 2 devices, and each applies 1 of it (`conv.5` "
        "after partitioning) at every position. No window of `conv.1` crosses a border of parts."
    )


@pytest.mark.parametrize(("length", "size"), [(1, 1), (15, 2)])
def test_an_edge_or_a_whole_window_is_a_halo_exchange(
    read_text: ReadText, length: int, size: int
) -> None:
    kind, detail = cause_of(read_text, length, size)
    assert kind is CauseKind.HALO
    assert "needs the edge" in detail
