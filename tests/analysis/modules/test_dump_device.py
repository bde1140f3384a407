"""The device of modules that name none."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.modules.dump_device import device_files, words_of_device
from xlareport.dump.grouping import group_source
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import open_source

OPTIONS = CostOptions()
Modules = Callable[..., Sequence[ModuleFiles]]
HLO = "HloModule m\n\nENTRY e {\n  ROOT a = f32[4] parameter(0)\n}\n"


def target(version: str, x: int = 2) -> str:
    chips = f"chips_per_host_bounds {{ x: {x} y: 2 z: 1 }}\nhost_bounds {{ x: 1 y: 1 z: 1 }}\n"
    return f"version: {version}\n{chips}"


@pytest.fixture
def modules_of(tmp_path: Path) -> Modules:
    """Return a function: a target of each module, or none -> the modules."""

    def made(*targets: str) -> Sequence[ModuleFiles]:
        for number, text in enumerate(targets):
            name = f"module_{number:04d}.jit_f{number}.cl_1"
            (tmp_path / f"{name}.after_optimizations.txt").write_text(HLO)
            if text:
                (tmp_path / f"{name}.target_arguments.txt").write_text(text)
        with open_source(tmp_path) as source:
            return tuple(group_source(source).grouped.modules)

    return made


def test_a_device_that_all_name_is_of_those_that_name_none(modules_of: Modules) -> None:
    ironwood = target("TPU_VERSION_6acc60406")
    modules = modules_of(ironwood, "", ironwood)
    words = words_of_device(modules, OPTIONS)
    assert words.split() == ["TPU_VERSION_6acc60406", "slice-shape=2x2x1"]
    assert [device_files(module, OPTIONS) is None for module in modules] == [False, True, False]


@pytest.mark.parametrize(
    "targets",
    [
        (target("TPU_VERSION_6acc60406"), "", target("TPU_VERSION_PUFFERFISH")),
        (target("TPU_VERSION_6acc60406"), "", target("TPU_VERSION_6acc60406", x=4)),
        (target("TPU_VERSION_6acc60406"), "", target("TPU_VERSION_UNHEARD_OF")),
        (target("TPU_VERSION_6acc60406"), target("TPU_VERSION_6acc60406")),
        ("", ""),
    ],
)
def test_no_device_is_taken_where_they_differ_or_all_name_one(
    targets: tuple[str, ...], modules_of: Modules
) -> None:
    assert words_of_device(modules_of(*targets), OPTIONS) == ""
