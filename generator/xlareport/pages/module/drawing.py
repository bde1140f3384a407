"""Which pictures of modules are drawn when, and which of them show less than they should."""

from collections.abc import Iterable, Iterator, Sequence

from xlareport.pages.module.work import ModuleOutput, ModuleResult
from xlareport.pages.pictures.requests import PictureChoice
from xlareport.pictures.draw import PictureRequest, PictureResult, Place
from xlareport.records.report import ReportRecord


def early_requests(
    results: Iterable[ModuleResult], choice: PictureChoice
) -> Iterator[PictureRequest]:
    """Yield what can be drawn while modules are read: all, unless it hangs on their roles."""
    if choice != "main":
        for result in results:
            yield from result.output.requests


def part_requests(
    outputs: Sequence[ModuleOutput], report: ReportRecord, choice: PictureChoice
) -> tuple[list[PictureRequest], list[PictureRequest]]:
    """Return which pictures are drawn, and which are left out; equal ones of others once."""
    main = report.main.module if report.main else None
    wanted: list[PictureRequest] = []
    others: list[PictureRequest] = []
    for output, record in zip(outputs, report.modules, strict=True):
        chosen = choice != "main" or record.key == main
        (wanted if chosen else others).extend(output.requests)
    drawn = {request.place for request in wanted}
    left = {request.place: request for request in others}
    return wanted, [request for place, request in left.items() if place not in drawn]


def main_requests(
    outputs: Sequence[ModuleOutput], report: ReportRecord
) -> Iterator[PictureRequest]:
    """Yield what the page of the main program shows first; its layouts are kept by now."""
    for output, record in zip(outputs, report.modules, strict=True):
        if report.main and record.key == report.main.module:
            yield from output.plain


def note_faulty(results: Iterable[PictureResult], faulty: set[Place]) -> Iterator[PictureResult]:
    """Yield the results, and note which of them show less than was asked for."""
    for result in results:
        if result.note:
            faulty.add(result.request.place)
        yield result
