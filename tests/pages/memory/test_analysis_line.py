"""The line of `memory_analysis()` says what is known, and which memory its peak is of."""

from msgspec.structs import replace
from tests.modules import parse_module
from tests.pages.cost_of_dumps import Unpack, worked_out

from xlareport.analysis.cost.memory_stats import MemoryStats
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.cost_report.memory_builder import report_memory
from xlareport.pages.memory.analysis_line import analysis_line, describe_padding
from xlareport.program import MemoryFiles


def test_a_dump_without_a_buffer_assignment_has_no_line(unpacked: Unpack) -> None:
    _, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    assert "generated code size not in the dump" in analysis_line(cost.memory, "cpu")
    assert analysis_line(replace(cost.memory, stats=None), "cpu") == ""


def test_a_peak_of_memory_on_the_chip_is_not_told_as_one_of_hbm(unpacked: Unpack) -> None:
    _, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    stats = MemoryStats(1024, 4096, is_exact=False, peak_space=1, peak_space_bytes=3072)
    line = analysis_line(replace(cost.memory, stats=stats), "tpu")
    assert "peak about 4.0 KiB (from jaxlib 0.7.0 on; 3.0 KiB of it in VMEM, where a" in line
    assert "peak memory is HBM alone)" in line
    in_main = replace(stats, peak_space=0)
    assert "peak about 4.0 KiB (from jaxlib 0.7.0 on); " in analysis_line(
        replace(cost.memory, stats=in_main), "tpu"
    )
    unknown = analysis_line(replace(cost.memory, stats=replace(stats, peak_bytes=None)), "tpu")
    assert "jaxlib" not in unknown
    assert "peak and generated code size not in the dump" in unknown


def test_padding_of_arguments_is_said_where_it_shows(unpacked: Unpack) -> None:
    _, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu")
    assert cost.memory.argument_padding_bytes == 0
    assert describe_padding(cost.memory) == ""
    padded = replace(cost.memory, argument_padding_bytes=256)
    assert describe_padding(padded) == ", with 256 B of tile padding"
    assert describe_padding(replace(padded, figures=replace(padded.figures, held=None))) == ""


def test_tiles_pad_arguments() -> None:
    text = "HloModule m\n\nENTRY e {\n  ROOT a = f32[4,16,16,4]{3,2,1,0:T(8,128)} parameter(0)\n}\n"
    module = parse_module(text)
    memory = report_memory(MemoryFiles(None, None, ()), module, count_cost(module))
    assert memory.argument_padding_bytes == 4 * 16 * 16 * (128 - 4) * 4
