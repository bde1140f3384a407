"""Matrix products of real dumps and of texts: tile, split-K, and what tiles load, by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.kernels.gemms import ModuleGemms, read_gemms
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_module

CONFIG = (
    'backend_config={"fusion_backend_config":{"kind":"__triton_nested_gemm_fusion",'
    '"block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":["1","32","64"]}],'
    '"num_stages":3}}}'
)
SPLIT = f"""HloModule m, is_scheduled=true

%add (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(%x, %y)
}}

%product (l: f32[256,4,196], r: f32[4,196,512]) -> f32[4,256,512] {{
  %l = f32[256,4,196] parameter(0)
  %r = f32[4,196,512] parameter(1)
  ROOT %dot = f32[4,256,512] dot(%l, %r), lhs_batch_dims={{1}}, lhs_contracting_dims={{2}}, \
rhs_batch_dims={{0}}, rhs_contracting_dims={{1}}
}}

ENTRY %main (a: f32[256,4,196], b: f32[4,196,512]) -> f32[256,512] {{
  %a = f32[256,4,196] parameter(0)
  %b = f32[4,196,512] parameter(1)
  %zero = f32[] constant(0)
  %gemm = f32[4,256,512] fusion(%a, %b), kind=kCustom, calls=%product, {CONFIG}
  ROOT %sum = f32[256,512] reduce(%gemm, %zero), dimensions={{0}}, to_apply=%add
}}
"""


def gemms_of(folder: Path) -> list[ModuleGemms]:
    with open_source(folder) as source:
        modules = [read_module(files) for files in group(name_files(source)).modules]
    return [parsed for module in modules if (parsed := read_gemms(module)) is not None]


def test_split_k_by_hand(tmp_path: Path) -> None:
    """802,816 bytes of the left for 512 / 64 tiles, 1,605,632 of the right for 256 / 32."""
    (tmp_path / "module_0001.m.sm_9.0_gpu_after_optimizations.txt").write_text(SPLIT)
    (found,) = gemms_of(tmp_path)
    (gemm,) = found.gemms
    assert (gemm.instruction, gemm.made_by, gemm.tile) == ("gemm", "Triton", (1, 32, 64))
    assert (gemm.result, gemm.contracted, gemm.split_k) == ((4, 256, 512), 196, 4)
    assert gemm.operand_bytes == 802_816 + 1_605_632
    assert gemm.loaded_bytes == 802_816 * 8 + 1_605_632 * 8
    assert gemm.partial_bytes == 2 * 4 * 4 * 256 * 512
    assert (gemm.warps, gemm.stages) == (4, 3)
    assert found.same_tile == ()


def test_without_a_device_every_tile_is_the_same(unpacked: Callable[[str], Path]) -> None:
    """The dump was compiled ahead of time: nothing was measured."""
    (found,) = gemms_of(unpacked("gpu-kernels") / "sm_90")
    assert len(found.gemms) > 2
    assert found.same_tile == (16, 8)
    assert all(gemm.loaded_bytes for gemm in found.gemms)


@pytest.mark.parametrize("version", ["75"])
def test_library_products(unpacked: Callable[[str], Path], version: str) -> None:
    """On SM 7.5 products go to cuBLAS, with the number of an algorithm."""
    (found,) = gemms_of(unpacked("gpu-kernels") / f"sm_{version}")
    assert {gemm.made_by for gemm in found.gemms} == {"__cublas$lt$matmul"}
    assert {gemm.algorithm for gemm in found.gemms} == {"0"}
    assert all(gemm.loaded_bytes is None and gemm.operand_bytes for gemm in found.gemms)


def test_no_products(data: Path) -> None:
    assert gemms_of(data / "rocm-made") == []
