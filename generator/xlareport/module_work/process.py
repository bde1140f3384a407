"""One module: its analysis, then the data of its pages."""

from collections.abc import Sequence

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
from xlareport.pages.module.output import ModuleOutput, ModulePages, StepMaker, place_pictures
from xlareport.pages.pictures.requests import PictureChoice
from xlareport.pages.texts.page import KeptTexts, kept_texts
from xlareport.runtime.faults import Faults, guard
from xlareport.runtime.garbage_collection import no_collections


class ModuleResult(Struct, frozen=True):
    """The values that the process returns."""

    analysis: ModuleAnalysis
    output: ModuleOutput = field(default_factory=ModuleOutput)
    kept_as: str = ""
    """The key under which it is kept for the next build; empty where it is not."""


def process_module(
    files: ModuleFiles,
    options: AnalysisOptions,
    pictures: PictureChoice | None = "changed",
    processes: int = 1,
    matchings: Sequence[bytes] = (),
) -> ModuleResult:
    """Analyze a module and make what its pages load; only an outline where `pictures` is None.

    Up to so many processes work on it; the result is the same for any number, and with any of its
    matchings, packed, that other workers have made.

    A defect in xlareport costs a part of the module's pages, or this module, and no other.
    """
    if pictures is None:
        return ModuleResult(outline_module(files, options))
    with no_collections():  # nearly all that is dropped on the way is in no cycle
        return guard(
            lambda: _process(files, options, pictures, processes, matchings),
            lambda reason: ModuleResult(unreadable_module(files, reason)),
        )


def _process(
    files: ModuleFiles,
    options: AnalysisOptions,
    choice: PictureChoice,
    processes: int,
    matchings: Sequence[bytes],
) -> ModuleResult:
    faults = Faults(module_path(files))
    texts = faults.attempt("The page of texts", lambda: kept_texts(files), KeptTexts())
    maker = StepMaker(files.slug, choice, texts)
    known = unpack_matchings(matchings)
    analyzed = analyze_module(files, options, faults, maker.make, processes, matchings=known)
    steps = place_pictures(files.slug, choice, analyzed.shown)
    pages = ModulePages(analyzed, steps, texts, faults)
    output = pages.output(choice, processes)
    analysis = analyzed.analysis
    if pages.code is None:
        analysis = replace(analysis, code=None)
    return ModuleResult(with_problems(analysis, faults.problems), output)
