from collections.abc import Callable
from pathlib import Path

import xlareport
from xlareport.analysis.passes.step_boundaries import compare_neighbors, find_boundaries
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]


def test_every_step_of_a_module_has_its_boundary(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_train_step", BuildOptions())
    boundaries = find_boundaries(module)
    assert [boundary.number for boundary in boundaries] == list(range(1, len(module.snapshots)))
    assert [boundary.identical for boundary in boundaries] == compare_neighbors(module.snapshots)
    assert any(boundary.certain for boundary in boundaries)


def test_the_library_tells_steps_with_who_did_them(unpacked: Unpack) -> None:
    with xlareport.read(unpacked("jax-cpu-train")) as dump:
        steps = dump["jit_train_step"].steps
        assert len(steps) == len(dump["jit_train_step"].stages) - 1
    told = [step.headline for step in steps if not step.identical]
    assert any(one.startswith("`algsimp` ") for one in told)
    assert any(one.startswith("Passes up to and including `fusion` created") for one in told)
