"""When pictures of modules are drawn, and which of them are incomplete."""

import atexit
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from xlareport.hlo.model import InstructionKey
from xlareport.module_work.kept import KeptModules, keep_all_pictures
from xlareport.module_work.process import ModuleResult
from xlareport.pages.module.output import ModuleOutput
from xlareport.pages.pictures.requests import PictureChoice, picture_files
from xlareport.pictures.draw import PictureRequest, PictureResult, Renderer
from xlareport.pictures.layout_pool import LayoutPool
from xlareport.records.report import ReportRecord
from xlareport.runtime.progress import silent
from xlareport.storage.payloads import TextFile

_ENOUGH = 32
"""Pictures that keep all workers busy."""
MOST_TOGETHER = 20
"""Limit on modules whose files are in memory at the same time."""


class ModuleDrawing(Struct, frozen=True):
    """Draws the pictures of modules as these are read, and keeps them for the next build."""

    renderer: Renderer
    choice: PictureChoice
    kept: KeptModules | None
    """Where results are kept from build to build; None where they are not."""

    def files(self, results: Iterable[ModuleResult]) -> Iterator[tuple[TextFile, ...]]:
        """Yield the payloads and pictures of some modules at a time.

        With `--pictures main` only payloads: the main program is not known before all are read.
        """
        for some in self._some(results):
            faulty: set[InstructionKey] = set()
            requests = [request for result in some for request in result.output.requests]
            drawn: dict[str, str] = {}
            if self.choice != "main":
                pictures = note_faulty(self.renderer.draw(requests), faulty)
                drawn = dict(picture_files(pictures))
            if self.kept is not None:
                keep_all_pictures(self.kept, some, drawn, faulty)
            of_modules = (
                file
                for result in some
                for file in (*result.output.payloads, *(result.output.drawn or ()))
            )
            yield *of_modules, *drawn.items()

    def _some(self, results: Iterable[ModuleResult]) -> Iterator[list[ModuleResult]]:
        """Yield groups of modules whose pictures are drawn together."""
        some: list[ModuleResult] = []
        for result in results:
            some.append(result)
            if (
                len(some) >= MOST_TOGETHER
                or sum(len(module.output.requests) for module in some) >= _ENOUGH
            ):
                yield some
                some = []
        if some:
            yield some


def draw_module(
    result: ModuleResult, choice: PictureChoice | None, kept: KeptModules | None
) -> ModuleResult:
    """Return the result with the files of its pictures, drawn where the module was read.

    Those of the main program alone hang on the roles of modules, and are drawn later.
    """
    output = result.output
    if choice in (None, "main") or output.drawn is not None:
        return result
    layouts = kept.store.folder.parent if kept else _own_layouts()
    faulty: set[InstructionKey] = set()
    renderer = Renderer(_own_pool(), layouts, silent)
    drawn = dict(picture_files(note_faulty(renderer.draw(output.requests), faulty)))
    if kept is not None:
        keep_all_pictures(kept, [result], drawn, faulty)
    return replace(result, output=replace(output, drawn=tuple(drawn.items()), requests=()))


@cache
def _own_layouts() -> Path:
    """Return a folder for the layouts of this process alone; it ends with the process.

    On a full disk it is one that can hold nothing.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix="xlareport-layouts-")
    except OSError:
        return Path(os.devnull) / "layouts"
    atexit.register(folder.cleanup)
    return Path(folder.name)


@cache
def _own_pool() -> LayoutPool:
    """Return the worker processes that lay out the pictures of this process; they end with it."""
    pool = LayoutPool(1)
    atexit.register(pool.__exit__)
    return pool


def part_requests(
    outputs: Sequence[ModuleOutput], report: ReportRecord, choice: PictureChoice
) -> tuple[list[PictureRequest], list[PictureRequest]]:
    """Return requests to draw, and those left out; equal ones of other modules once."""
    main = report.main_key
    wanted: list[PictureRequest] = []
    others: list[PictureRequest] = []
    for output, record in zip(outputs, report.outlines, strict=True):
        chosen = choice != "main" or record.key == main
        (wanted if chosen else others).extend(output.requests)
    drawn = {request.place for request in wanted}
    left = {request.place: request for request in others}
    return wanted, [request for place, request in left.items() if place not in drawn]


def main_requests(
    outputs: Sequence[ModuleOutput], report: ReportRecord
) -> Sequence[PictureRequest]:
    """Return the first pictures of the main program's page; their layouts are cached by now."""
    place = report.main_place
    return () if place is None else outputs[place].plain


def note_faulty(
    results: Iterable[PictureResult], faulty: set[InstructionKey]
) -> Iterator[PictureResult]:
    """Yield the results, and record which of them are incomplete."""
    for result in results:
        if result.note:
            faulty.add(result.request.place)
        yield result
