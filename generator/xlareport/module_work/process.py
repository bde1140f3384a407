"""One module: its analysis, then the data of its pages."""

from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.module import (
    AnalysisOptions,
    ModuleAnalysis,
    analyze_module,
    module_path,
    outline_module,
    unreadable_module,
    with_problems,
)
from xlareport.dump.modules import ModuleFiles
from xlareport.module_work.step_ranges import unpack_matchings
from xlareport.pages.module.output import ModuleOutput, ModulePages, make_step, place_pictures
from xlareport.pages.pictures.requests import PictureChoice
from xlareport.pages.texts.page import KeptTexts, kept_texts
from xlareport.runtime.faults import Faults, guard
from xlareport.runtime.garbage_collection import no_collections


class ModuleTask(Struct, frozen=True):
    """A module to be read by a worker."""

    files: ModuleFiles
    options: AnalysisOptions
    processes: int = 1
    """How many processes may work on it; the result is the same for any number."""
    matchings: tuple[bytes, ...] = ()
    """The packed matchings of its steps, as far as other workers have made them."""


class ModuleResult(Struct, frozen=True):
    """The values that the process returns."""

    analysis: ModuleAnalysis
    output: ModuleOutput = field(default_factory=ModuleOutput)
    kept_as: str = ""
    """The key under which it is kept: equal keys have equal results; empty where it is not."""


def process_module(task: ModuleTask, pictures: PictureChoice | None = "changed") -> ModuleResult:
    """Analyze a module and make what its pages load; only an outline where `pictures` is None.

    A defect in xlareport costs a part of the module's pages, or this module, and no other.
    """
    if pictures is None:
        return ModuleResult(outline_module(task.files, task.options))
    with no_collections():  # nearly all that is dropped on the way is in no cycle
        return guard(
            lambda: _process(task, pictures),
            lambda reason: ModuleResult(unreadable_module(task.files, reason)),
        )


def _process(task: ModuleTask, choice: PictureChoice) -> ModuleResult:
    files, processes = task.files, task.processes
    faults = Faults(module_path(files))
    texts = faults.attempt("The page of texts", lambda: kept_texts(files), KeptTexts())
    make = partial(make_step, files.slug, choice, texts)
    known = unpack_matchings(task.matchings)
    analyzed = analyze_module(files, task.options, faults, make, processes, matchings=known)
    steps = place_pictures(files.slug, choice, analyzed.shown)
    pages = ModulePages(analyzed, steps, texts, faults)
    output = pages.output(choice, processes)
    analysis = analyzed.analysis
    if pages.code is None:
        analysis = replace(analysis, code=None)
    return ModuleResult(with_problems(analysis, faults.problems), output)
