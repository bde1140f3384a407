import pytest

from xlareport.analysis.modules.settings import classify_option
from xlareport.readers.debug_options import FlagValue


@pytest.mark.parametrize(
    ("name", "value", "backend", "by", "grade"),
    [
        ("xla_dump_to", "elsewhere", "cpu", "somebody", "exact"),
        ("xla_dump_compact_gte", "false", "tpu", "libtpu", "guessed"),
        ("xla_dump_compact_gte", "false", "gpu", "somebody", "exact"),
        ("xla_cpu_enable_fast_min_max", "false", "cpu", "jax", "guessed"),
        ("xla_cpu_enable_fast_min_max", "true", "cpu", "somebody", "guessed"),
        ("xla_gpu_cuda_data_dir", "/usr/local/cuda", "gpu", "jax", "guessed"),
        ("xla_gpu_enable_pdl_launch", "false", "tpu", "versions", "guessed"),
        ("xla_gpu_enable_pdl_launch", "false", None, "somebody", "guessed"),
        ("xla_disable_hlo_passes", "fusion", "cpu", "somebody", "guessed"),
    ],
)
def test_who_set_it(name: str, value: str, backend: str | None, by: str, grade: str) -> None:
    found = classify_option(FlagValue(name, value, 1), backend)
    assert (found.by, found.grade) == (by, grade)
    assert found.reason.endswith(".")
