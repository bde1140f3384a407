"""The tasks of workers with modules: the steps of a large one are matched by several first."""

from collections.abc import Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from xlareport.dump.modules import is_here, module_here
from xlareport.module_work.kept import KeptModules
from xlareport.module_work.module_pictures import draw_module
from xlareport.module_work.process import ModuleResult, ModuleTask, process_module
from xlareport.module_work.step_ranges import LARGE, match_in_ranges
from xlareport.pages.pictures.requests import PictureChoice
from xlareport.runtime.progress import ProgressCallback
from xlareport.runtime.worker_pool import Workers

_MATCHING = "matching steps of large modules"


class ModuleWork(Struct, frozen=True):
    """The work of a worker on each module."""

    pictures: PictureChoice | None
    """None where no pages are made."""
    kept: KeptModules | None = None
    """Where results are kept from build to build; None where they are not."""
    draws: bool = False
    """Whether the worker draws the pictures of the module as well."""

    def __call__(self, task: ModuleTask) -> ModuleResult:
        """Return the analysis of a module, and the data of its pages."""
        kept = self._kept_here
        work = kept.process if kept else process_module
        with module_here(task.files) as files:
            result = work(replace(task, files=files), self.pictures)
        return draw_module(result, self.pictures, kept) if self.draws else result

    def is_done(self, task: ModuleTask) -> bool:
        """Return whether a module's result is kept already."""
        kept = self._kept_here
        if kept is None or self.pictures is None:
            return False
        with module_here(task.files) as files:
            return kept.has(replace(task, files=files), self.pictures)

    @property
    def may_find(self) -> bool:
        """Whether a former build may have kept results."""
        return self.pictures is not None and self.kept is not None and not self.kept.is_empty()

    def find(self, task: ModuleTask) -> ModuleResult | None:
        """Return the result of a module that is kept; None where its files are not here."""
        if self.kept is None or self.pictures is None or not is_here(task.files):
            return None
        return self.kept.find(task, self.pictures)

    @property
    def _kept_here(self) -> KeptModules | None:
        """Where results are kept; None on a machine that does not share the output folder."""
        kept = self.kept
        if self.draws and kept is not None and not kept.store.folder.parent.is_dir():
            return None
        return kept


def match_large_modules(
    tasks: Iterator[ModuleTask], work: ModuleWork, workers: Workers, progress: ProgressCallback
) -> Iterator[ModuleTask]:
    """Yield tasks, the largest first; those of large modules with the matchings of their steps.

    As many large modules are matched together as there are workers.
    """
    some: list[ModuleTask] = []
    for task in tasks:
        if task.files.bytes < LARGE:
            yield from _matched(some, work, workers, progress)
            yield task
            break
        some.append(task)
        if len(some) >= workers.jobs:
            yield from _matched(some, work, workers, progress)
            some = []
    else:
        yield from _matched(some, work, workers, progress)
    yield from tasks


def _matched(
    tasks: list[ModuleTask], work: ModuleWork, workers: Workers, progress: ProgressCallback
) -> Iterator[ModuleTask]:
    done = workers.stream(work.is_done, tasks, _false)
    waiting = [task.files for task, is_done in done if not is_done]
    matched = match_in_ranges(workers, waiting, partial(progress, _MATCHING))
    for task in tasks:
        yield replace(task, matchings=matched.get(task.files.key, ()))


def _false(_: ModuleTask) -> bool:
    return False
