"""Assertions for tests of programs: each fails where it should, and where nothing can be told."""

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import xlareport
from xlareport.testing import (
    assert_fused,
    assert_no_collectives,
    assert_no_recompilation,
    assert_peak_bytes,
    final_snapshot,
)

Unpack = Callable[[str], Path]
pytest_plugins = ("pytester",)

SHARDED = """HloModule jit_f

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%fused (p: f32[8]) -> f32[8] {
  %p = f32[8] parameter(0)
  %tanh = f32[8] tanh(%p), metadata={op_name="jit(f)/tanh"}
  ROOT %neg = f32[8] negate(%tanh), metadata={op_name="jit(f)/neg"}
}

%wrapped (q: f32[8]) -> f32[8] {
  %q = f32[8] parameter(0)
  ROOT %sin = f32[8] sine(%q), metadata={op_name="jit(f)/sin"}
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8] parameter(0)
  %start = f32[8] all-reduce-start(%x), replica_groups={{0,1}}, to_apply=%add
  %done = f32[8] all-reduce-done(%start)
  %exp = f32[8] exponential(%done), metadata={op_name="jit(f)/exp"}
  %sole = f32[8] fusion(%exp), kind=kLoop, calls=%wrapped, metadata={op_name="jit(f)/sin"}
  ROOT %fusion = f32[8] fusion(%sole), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/tanh"}
}
"""


@pytest.fixture(scope="module")
def report(unpacked: Unpack) -> xlareport.Report:
    return xlareport.read(unpacked("jax-cpu-train"))


def test_collectives_are_found_in_every_form() -> None:
    sharded = xlareport.read_text(SHARDED)

    assert_no_collectives(sharded, "all-gather")
    with pytest.raises(pytest.fail.Exception, match="1 all-reduce"):
        assert_no_collectives(sharded)


def test_what_is_fused_and_what_is_not() -> None:
    sharded = xlareport.read_text(SHARDED)

    assert_fused(sharded, "tanh")
    with pytest.raises(pytest.fail.Exception, match="Not fused: %exp"):
        assert_fused(sharded, "/exp")
    with pytest.raises(pytest.fail.Exception, match="Not fused: %sin"):
        assert_fused(sharded, "/sin")  # a fusion of one instruction
    with pytest.raises(pytest.fail.Exception, match="has no op"):
        assert_fused(sharded, "softmax")


def test_the_peak_is_held_against_bytes_and_a_baseline(report: xlareport.Report) -> None:
    assert_peak_bytes(report, "<1GiB")
    assert_peak_bytes(report, "<0%", report)
    with pytest.raises(pytest.fail.Exception, match="above 1 B"):
        assert_peak_bytes(report, "<1B")
    with pytest.raises(pytest.fail.Exception, match=r"above 2\.0 KiB"):
        assert_peak_bytes(report, "<2KiB")
    for limit, baseline in (("5%", report), ("<5%", None), ("<5MB", report), ("", None)):
        with pytest.raises(ValueError, match="is no limit"):
            assert_peak_bytes(report, limit, baseline)


def test_a_dump_that_cannot_tell_is_never_green(tmp_path: Path) -> None:
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").write_text(SHARDED)
    cut = xlareport.read(tmp_path)

    with pytest.raises(pytest.fail.Exception, match="has no optimized module"):
        final_snapshot(cut)
    with pytest.raises(pytest.fail.Exception, match="states no peak"):
        assert_peak_bytes(cut, "<1GiB")


def test_a_file_that_was_cut_is_named(tmp_path: Path) -> None:
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").write_text(SHARDED)
    cut = "module_0001.jit_f.cpu_after_optimizations.txt"
    (tmp_path / cut).write_text(SHARDED[: SHARDED.index("%exp")])
    with pytest.raises(pytest.fail.Exception, match=cut):
        final_snapshot(xlareport.read(tmp_path))


def test_recompilations_are_named(report: xlareport.Report, unpacked: Unpack) -> None:
    assert_no_recompilation(report)
    with xlareport.read(unpacked("labelled-training")) as eager:
        assert [group.is_helper for group in eager.recompilations] == [True]
        assert_no_recompilation(eager)
    repeated = xlareport.read(unpacked("labelled-retraced"))
    with pytest.raises(pytest.fail.Exception, match="Compiled several times: jit_"):
        assert_no_recompilation(repeated)


def test_the_fixture_captures_a_program(
    pytester: pytest.Pytester, unpacked: Unpack, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = next(unpacked("jax-cpu-train").glob("module_0006.*after_optimizations.txt"))
    pytester.makepyfile(
        train=f"""
        import os, pathlib, re, shutil
        to = pathlib.Path(re.search(r"--xla_dump_to=(\\S+)", os.environ["XLA_FLAGS"])[1])
        to.mkdir(parents=True, exist_ok=True)
        shutil.copy({str(dump)!r}, to)
        """,
        test_train="""
        import sys
        import pytest
        from xlareport.testing import assert_no_collectives

        def test_kept(xla_capture):
            assert_no_collectives(xla_capture([sys.executable, "train.py"]))

        def test_failed(xla_capture):
            xla_capture([sys.executable, "-c", "raise SystemExit(3)"])

        def test_empty(xla_capture):
            xla_capture([sys.executable, "-c", ""])
        """,
    )
    monkeypatch.setenv("PYTHONPATH", str(Path(xlareport.__file__).parents[1]))
    installed = entry_points(group="pytest11", name="xlareport")
    plugin = () if installed else ("-p", "xlareport.pytest_plugin")
    result = pytester.runpytest_subprocess(*plugin, "-q")

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*ended with exit code 3*", "*XLA dumped nothing*"])
