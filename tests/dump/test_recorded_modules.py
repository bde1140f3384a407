"""The module of a recorded run, where the dump has no HLO files."""

from collections.abc import Callable
from pathlib import Path

from xlareport.dump.classify import classify
from xlareport.dump.grouping import group_source
from xlareport.dump.modules import Artifact
from xlareport.dump.recorded_modules import find_recorded_module
from xlareport.dump.source import Entry, open_source
from xlareport.program import read_module

RUNS = "module_0004.jit_f.snapshot.-12.pb", "module_0004.jit_f.snapshot.-11.pb"


def artifacts(*paths: str, size: int = 10) -> list[Artifact]:
    return [
        Artifact(Entry(path, size, None, Path(path)), name)
        for path, name in zip(paths, classify(paths), strict=True)
    ]


def test_the_first_recorded_run_has_the_module_after_optimizations() -> None:
    module = find_recorded_module(artifacts(*RUNS))
    assert module is not None
    assert module.key == "after_optimizations"
    assert [file.path for file in module.readable()] == [RUNS[1]]


def test_none_is_read_beside_hlo_files_or_if_it_is_too_large() -> None:
    text = "module_0004.jit_f.before_optimizations.txt"
    assert find_recorded_module(artifacts(*RUNS, text)) is None
    assert find_recorded_module(artifacts(*RUNS, size=1 << 40)) is None
    unoptimized = "module_0004.jit_f.execution_0000.hlo_unoptimized_snapshot.pb"
    assert find_recorded_module(artifacts(unoptimized)) is None


def test_a_dump_of_recorded_runs_alone_has_modules(unpacked: Callable[[str], Path]) -> None:
    with open_source(unpacked("jax-cpu-runs")) as source:
        modules = {files.name: files for files in group_source(source).grouped.modules}
        module = read_module(modules["jit_hidden"])
    assert module.final is not None
    assert module.final.stage.key == "after_optimizations"
    lines = module.final.hlo.by_name["main.1"].instructions
    assert [line.opcode for line in lines] == ["parameter", "fusion", "dot"]
    assert module.problems == ()
