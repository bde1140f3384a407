"""The reading of a dump: each module once, the largest first; the results in the dump's order."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from xlareport.analysis.module import ModuleAnalysis
from xlareport.dump import duplicate_modules
from xlareport.dump.grouping import group_source
from xlareport.dump.source import Source, open_source
from xlareport.dump_reading import (
    DumpReading,
    ReadingOptions,
    analyze,
    begin_reading,
    read_outlines,
)
from xlareport.module_work.kept import keep_all_pictures
from xlareport.module_work.process import ModuleTask
from xlareport.readers.replay_result import ReplayResult
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.progress import silent
from xlareport.runtime.worker_pool import InlineWorkers, Task
from xlareport.storage import spooled_values

T = TypeVar("T")
R = TypeVar("R")

HLO = """HloModule jit_{name}

ENTRY main {{
  a = f32[4]{{0}} parameter(0)
{lines}
  ROOT b = f32[4]{{0}} {opcode}(a)
}}
"""
MODULES = {
    "small": (0, "tanh"),
    "large": (30, "negate"),
    "again": (0, "tanh"),
    "middle": (9, "sine"),
}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    """Open a dump of four modules, which is large here, so that equal ones are read once."""
    monkeypatch.setattr(duplicate_modules, "MANY", 2)
    for number, (name, (lines, opcode)) in enumerate(MODULES.items()):
        dead = "\n".join(f"  x{line} = f32[4]{{0}} cosine(a)" for line in range(lines))
        text = HLO.format(name="small" if name == "again" else name, lines=dead, opcode=opcode)
        shown = "small" if name == "again" else name
        path = tmp_path / f"module_{number:04d}.jit_{shown}.cpu_after_optimizations.txt"
        path.write_text(text)
    with open_source(tmp_path) as opened:
        yield opened


def begun(source: Source, options: ReadingOptions | None = None) -> DumpReading:
    return begin_reading(source, options or ReadingOptions(), InlineWorkers(), silent, pages=False)


def names(modules: Iterator[ModuleAnalysis] | list[ModuleAnalysis]) -> list[str]:
    return [module.summary.files.key for module in modules]


def test_the_largest_modules_are_read_first_and_those_that_repeat_others_last(
    source: Source,
) -> None:
    reading = begun(source)
    assert reading.number == 3
    assert reading.same == {"module_0002.jit_small": "module_0000.jit_small"}
    assert [task.files.name for task in begun(source).tasks] == [
        "jit_large",
        "jit_middle",
        "jit_small",
    ]
    read = names(result.analysis for result in reading.results())
    assert sorted(read) == [module.key for module in reading.grouped.modules]
    assert read[-1] == "module_0002.jit_small"


def test_all_results_of_a_small_dump_stay_in_memory(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spooled_values, "RESIDENT", 1)
    dumped = sum(entry.size for entry in source.entries)
    for most, resident in ((dumped, 4), (dumped - 1, 1)):
        monkeypatch.setattr(spooled_values, "SMALL_DUMP", most)
        reading = begun(source)
        reading.finish()
        for values in (reading.analyses, reading.outputs):
            assert sum(map(values.is_resident, range(4))) == resident


def test_the_results_are_in_the_order_of_the_dump(source: Source) -> None:
    dump = analyze(begun(source))
    assert names(list(dump.modules)) == [module.key for module in dump.grouped.modules]
    repeated = dump.modules[2]
    assert repeated.same_as is not None
    assert (repeated.same_as.key, repeated.is_identical) == ("module_0000.jit_small", True)
    assert dump.problems == ()


def test_every_module_is_told_to_the_progress(source: Source) -> None:
    steps: list[tuple[str, int, int]] = []

    def note(what: str, done: int, of: int) -> None:
        steps.append((what, done, of))

    reading = begin_reading(source, ReadingOptions(), InlineWorkers(), note, pages=False)
    reading.finish()
    assert steps == [("reading modules", done, 3) for done in range(4)]


def test_modules_are_read_once(source: Source) -> None:
    reading = begun(source)
    reading.finish()
    before = len(reading.analyses)
    reading.finish()
    assert len(reading.analyses) == before == len(MODULES)


def test_files_of_a_result_are_those_of_this_process(source: Source) -> None:
    reading = begun(source)
    reading.finish()
    for module, files in zip(reading.analyses, reading.grouped.modules, strict=True):
        assert module.summary.files.artifacts is files.artifacts
        assert set(module.read) <= {artifact.path for artifact in files.artifacts}


class NoWorkers(InlineWorkers):
    """Workers that are asked for the modules of some names and no others."""

    def __init__(self, allowed: set[str]) -> None:
        self.allowed = allowed

    def submit(self, work: Callable[[T], R], item: T, died: Callable[[T], R]) -> Task[T, R]:
        if isinstance(item, ModuleTask):
            self.allowed.remove(item.files.name)
        return super().submit(work, item, died)


def read_with_pages(
    source: Source, out: Path, workers: InlineWorkers
) -> dict[str, tuple[str, ModuleAnalysis]]:
    options = ReadingOptions(out=out, pictures="none")
    reading = begin_reading(source, options, workers, silent, pages=True)
    assert reading.work.kept is not None
    keep_all_pictures(reading.work.kept, reading.results(), {})
    keys = (module.key for module in reading.grouped.modules)
    values = zip(reading.kept_as, reading.analyses, strict=True)
    return dict(zip(keys, values, strict=True))


def test_results_that_are_kept_are_found_without_workers(
    source: Source, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("out")
    first = read_with_pages(source, out, NoWorkers({"jit_small", "jit_large", "jit_middle"}))
    assert read_with_pages(source, out, NoWorkers(set())) == first
    named = {module.key: module for module in group_source(source).grouped.modules}
    changed = named["module_0001.jit_large"].artifacts[0].entry.location
    changed.write_text(changed.read_text().replace("cosine", "sine"))
    with open_source(changed.parent) as opened:
        again = read_with_pages(opened, out, NoWorkers({"jit_large"}))
    same = {key for key in first if first[key][0] == again[key][0]}
    assert same == first.keys() - {"module_0001.jit_large"}
    assert {key for key, (kept_as, _) in again.items() if not kept_as} == {"module_0002.jit_small"}
    assert all(module.summary.files.key == key for key, (_, module) in again.items())


def test_a_replay_of_a_module_that_the_dump_has_not_is_refused(source: Source) -> None:
    result = ReplayResult("module_0009.jit_gone", "0.9", 0.0, (), None, False, "")  # noqa: FBT003 - a field of a record
    with pytest.raises(UnreadableInputError, match="names module_0009"):
        begun(source, ReadingOptions(replays=(result,)))


def test_the_name_of_the_dump_can_be_given(source: Source) -> None:
    assert analyze(begun(source, ReadingOptions(name="night 3"))).name == "night 3"


def test_outlines_have_the_figures_of_all_modules(source: Source) -> None:
    dump = read_outlines(source, group_source(source))
    instructions = {summary.files.name: summary.final.instructions for summary in dump.summaries}
    assert instructions == {"jit_small": 2, "jit_large": 32, "jit_middle": 11}
    assert all(module.cost is None for module in dump.modules)


def test_a_marker_is_searched_in_every_module(source: Source) -> None:
    dump = analyze(begun(source, ReadingOptions(marker="cosine")))
    marked = [module.summary.files.name for module in dump.modules.outlines if module.marker]
    assert marked == ["jit_large", "jit_middle"]


def test_a_module_that_names_no_device_takes_that_of_the_dump(tmp_path: Path) -> None:
    for number, name in enumerate(("main", "part")):
        text = HLO.format(name=name, lines="", opcode="tanh").replace("negate", name)
        path = tmp_path / f"module_{number:04d}.jit_{name}.cl_1.after_optimizations.txt"
        path.write_text(text)
    target = tmp_path / "module_0000.jit_main.cl_1.target_arguments.txt"
    target.write_text("version: TPU_VERSION_6acc60406\n")
    with open_source(tmp_path) as source:
        reading = begin_reading(source, ReadingOptions(), InlineWorkers(), silent, pages=False)
    others = {task.files.key: task.options.cost_options.others for task in reading.tasks}
    assert others == {
        "module_0000.jit_main": "",
        "module_0001.jit_part": " TPU_VERSION_6acc60406",
    }
