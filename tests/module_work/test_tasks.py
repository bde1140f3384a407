"""Tasks of workers: steps of large modules are matched first, and no task is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.module import AnalysisOptions
from xlareport.dump.grouping import group_source
from xlareport.dump.source import open_source
from xlareport.module_work import tasks
from xlareport.module_work.kept import keep_in
from xlareport.module_work.process import ModuleTask
from xlareport.module_work.step_ranges import unpack_matchings
from xlareport.module_work.tasks import ModuleWork, match_large_modules
from xlareport.runtime.worker_pool import WorkerPool


class AllDone(ModuleWork):
    """Work of which all is done."""

    def is_done(self, task: ModuleTask) -> bool:
        """Return that it is done."""
        return bool(task.files.key)


def test_large_modules_come_with_matchings_and_kept_ones_without(
    unpacked: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_source(unpacked("jax-cpu-train")) as source:
        modules = sorted(group_source(source).grouped.modules, key=lambda module: -module.bytes)
    every = [ModuleTask(module, AnalysisOptions()) for module in modules]
    monkeypatch.setattr(tasks, "LARGE", modules[0].bytes)
    work = ModuleWork("none", keep_in(tmp_path, 1 << 30))
    told: list[tuple[str, int, int]] = []
    with WorkerPool(2) as workers:
        large_modules = list(
            match_large_modules(iter(every), work, workers, lambda *step: told.append(step))
        )
        assert [task.files.key for task in large_modules] == [task.files.key for task in every]
        assert [bool(task.matchings) for task in large_modules] == [True] + [False] * (
            len(every) - 1
        )
        assert told[-1][1:] == (2, 2)
        assert len(unpack_matchings(large_modules[0].matchings)) > 5
        assert work(large_modules[0]) == work(every[0])
        assert not work.is_done(every[0])  # its pictures are not kept yet
    with WorkerPool(1) as workers:  # in this process: another one could not import AllDone
        done = match_large_modules(iter(every), AllDone("none"), workers, lambda *_: None)
        assert not any(task.matchings for task in done)
