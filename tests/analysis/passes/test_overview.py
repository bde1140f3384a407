"""All steps taken together: growth, numbers that may change, circles, idle passes, times."""

from collections.abc import Callable
from pathlib import Path

from xlareport.analysis.passes.overview import summarize_passes
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]


def test_a_real_module_at_a_glance(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_train_step", BuildOptions())
    found = summarize_passes(module, (), ())
    assert len(found.growth) == len(module.snapshots)
    assert found.growth[-1].fusions > found.growth[0].fusions == 0
    assert None not in [one.flops for one in found.growth]
    assert (found.passes, found.span) == ((), None)
    assert "no record" in found.idle.proof
