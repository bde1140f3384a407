from collections.abc import Callable
from pathlib import Path

from tests.readers.parsers import Parser, with_path

from xlareport.readers.debug_options import read_debug_options, read_flagfile

OPTIONS = b"""xla_dump_to: "x\\n\\x41\\101"
xla_gpu_x {
  a: 1
}
"""
PARSERS = (
    Parser(with_path(read_debug_options), OPTIONS, (b"a {\n", b"}\n", b"a: '\\\n")),
    Parser(with_path(read_flagfile), b"--a=1\n--b\n", (b"--", b"--a=\\")),
)
"""For `tests/properties/test_parsers.py`."""


TEXT = rb"""xla_cpu_enable_fast_min_max: false
xla_dump_to: "/a \"b\"\n\303"
xla_gpu_enable_command_buffer: FUSION
xla_gpu_enable_command_buffer: CUBLAS
xla_jf_bounds_check {
}
loop_invert {
  limit: 3
  inner {
    x: 1
  }
}
"""


def test_fields_strings_and_messages() -> None:
    settings, problems = read_debug_options(TEXT, "d")
    assert problems == []
    assert [(setting.name, setting.value, setting.line) for setting in settings] == [
        ("xla_cpu_enable_fast_min_max", "false", 1),
        ("xla_dump_to", '/a "b"\n\xc3', 2),
        ("xla_gpu_enable_command_buffer", "FUSION", 3),
        ("xla_gpu_enable_command_buffer", "CUBLAS", 4),
        ("xla_jf_bounds_check", "{}", 5),
        ("loop_invert", "{ limit: 3 inner { x: 1 } }", 7),
    ]


def test_a_flagfile() -> None:
    settings, problems = read_flagfile(b"--a=1\n--b\n--c=x=y\n--d=\nrest\n", "f")
    assert [(setting.name, setting.value) for setting in settings] == [
        ("a", "1"),
        ("b", "true"),
        ("c", "x=y"),
        ("d", ""),
    ]
    assert [problem.line for problem in problems] == [5]


def test_what_is_no_field_is_a_problem() -> None:
    settings, problems = read_debug_options(b"one two\nx: 1\nopen {\n  y: 2\n", "d")
    assert [setting.name for setting in settings] == ["x"]
    assert [(problem.line, problem.message) for problem in problems] == [
        (1, "expected `name: value`: one two"),
        (3, "open: no closing brace"),
    ]


def test_every_line_of_real_files(unpacked: Callable[[str], Path]) -> None:
    for dump in ("jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"):
        paths = sorted(unpacked(dump).glob("*.debug_options"))
        assert paths
        for path in paths:
            settings, problems = read_debug_options(path.read_bytes(), path.name)
            assert problems == []
            assert "xla_dump_to" in {setting.name for setting in settings}
    tpu = unpacked("tpu-v5e-scan")
    flags, problems = read_flagfile(next(tpu.glob("*.flagfile")).read_bytes(), "flagfile")
    assert len(flags) > 1000
    assert problems == []
    environment = next(tpu.glob("*.tpu_comp_env.txt")).read_bytes()
    flags, problems = read_debug_options(environment, "tpu_comp_env")
    assert len(flags) > 1000
    assert problems == []
