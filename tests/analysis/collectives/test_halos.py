"""Which ops need the edges of their neighbors: windows over sharded dimensions, small shifts."""

from collections.abc import Callable

import pytest

from xlareport.analysis.collectives.halos import needs_edges
from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import HloModule

ReadText = Callable[[str], HloModule]
IMAGE = "bf16[8,16,16,64]"
BY_FEATURE = "{devices=[2,1,1,4]<=[8]}"
BY_ROW = "{devices=[1,8,1,1]<=[8]}"
OPS = {
    "convolution": (
        "bf16[8,16,16,64] convolution(%image, %kernel), window={size=3x3 pad=1_1x1_1}, "
        "dim_labels=b01f_01io->b01f"
    ),
    "reduce-window": (
        "bf16[8,14,16,64] reduce-window(%image, %zero), window={size=1x3x1x1}, to_apply=%add"
    ),
    "split": "bf16[8,16,16,32] slice(%image), slice={[0:8], [0:16], [0:16], [32:64]}",
    "shift": "bf16[8,15,16,64] slice(%image), slice={[0:8], [1:16], [0:16], [0:64]}",
    "pad": "bf16[8,17,16,64] pad(%image, %zero), padding=0_0x1_0x0_0x0_0",
}
PROGRAM = """
%add (x: bf16[], y: bf16[]) -> bf16[] {{
  %x = bf16[] parameter(0)
  %y = bf16[] parameter(1)
  ROOT %sum = bf16[] add(%x, %y)
}}

ENTRY %main (image: bf16[8,16,16,64], kernel: bf16[3,3,64,64]) -> {shape} {{
  %image = bf16[8,16,16,64] parameter(0), sharding={sharding}
  %kernel = bf16[3,3,64,64] parameter(1)
  %zero = bf16[] constant(0)
  ROOT %op = {op}
}}
"""


@pytest.mark.parametrize(
    ("op", "sharding", "halo"),
    [
        ("convolution", BY_ROW, "halo"),
        ("convolution", BY_FEATURE, ""),
        ("reduce-window", BY_ROW, "halo"),
        ("reduce-window", BY_FEATURE, ""),
        ("split", BY_FEATURE, ""),
        ("shift", BY_ROW, "halo"),
        ("shift", BY_FEATURE, ""),
        ("pad", BY_ROW, "halo"),
        ("pad", BY_FEATURE, ""),
    ],
)
def test_a_halo_needs_a_shift_along_a_sharded_dimension(
    op: str, sharding: str, halo: str, read_text: ReadText
) -> None:
    text = OPS[op]
    module = read_text(PROGRAM.format(shape=text.split()[0], sharding=sharding, op=text))
    step = PartitioningStep(Partitioning(module, module), match(module, module))
    home = module.by_name["main"]
    assert needs_edges(step, home, home.by_name["op"]) is bool(halo)
