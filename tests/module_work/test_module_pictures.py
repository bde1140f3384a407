"""When pictures of modules are drawn, and which are left out."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace
from tests.pages.records_of_modules import module, report

from xlareport.module_work.module_pictures import (
    MOST_TOGETHER,
    ModuleDrawing,
    draw_module,
    main_requests,
    note_faulty,
    part_requests,
)
from xlareport.module_work.process import ModuleResult
from xlareport.pages.module.output import ModuleOutput
from xlareport.pictures.draw import PictureRequest, PictureResult
from xlareport.records.report import CandidateRecord, MainProgramRecord, ReportRecord


def request(key: str) -> PictureRequest:
    return PictureRequest(key, ())


def two_modules() -> ReportRecord:
    modules = [replace(module("unknown"), key=key) for key in ("a", "b")]
    main = MainProgramRecord("b", "jit_b", 0.9, (), (), (CandidateRecord("b", "jit_b"),))
    return replace(report(*modules), main=main)


OUTPUTS = (
    ModuleOutput(requests=(request("a1"), request("both"))),
    ModuleOutput(requests=(request("both"), request("b1")), plain=(request("b1"),)),
)


def test_of_all_modules_every_picture_is_drawn() -> None:
    wanted, others = part_requests(OUTPUTS, two_modules(), "changed")
    assert [picture.key for picture in wanted] == ["a1", "both", "both", "b1"]
    assert others == []


def test_of_the_main_program_alone_others_are_left_out_once() -> None:
    wanted, others = part_requests(OUTPUTS, two_modules(), "main")
    assert [picture.key for picture in wanted] == ["both", "b1"]
    assert [picture.key for picture in others] == ["a1"]


def test_only_the_main_program_has_files_of_its_pictures() -> None:
    assert main_requests(OUTPUTS, two_modules()) == (request("b1"),)
    assert main_requests(OUTPUTS, replace(two_modules(), main=None)) == ()


def test_an_incomplete_picture_is_noted() -> None:
    faulty: set[tuple[str, str]] = set()
    results = [PictureResult(request("a"), ()), PictureResult(request("b"), (), "too large")]
    assert [*note_faulty(results, faulty)] == results
    assert faulty == {("", "b")}


def test_a_module_without_pages_draws_nothing() -> None:
    output = ModuleOutput(requests=(request("a"),))
    result = ModuleResult(None, output)  # type: ignore[arg-type]
    assert draw_module(result, None, None) is result
    assert draw_module(result, "main", None) is result
    drawn = replace(result, output=replace(output, drawn=()))
    assert draw_module(drawn, "changed", None) is drawn


class CountingRenderer:
    """Stands for a renderer: it notes how many pictures it is given at a time."""

    def __init__(self) -> None:
        self.together: list[int] = []

    def draw(self, requests: Iterable[PictureRequest]) -> Iterator[PictureResult]:
        self.together.append(len([*requests]))
        return iter(())


def test_modules_are_drawn_some_at_a_time(tmp_path: Path) -> None:
    renderer = CountingRenderer()
    payload = ("a.js", str(tmp_path))
    results = [
        ModuleResult(None, ModuleOutput((payload,), requests=(request(f"p{number}"),)))  # type: ignore[arg-type]
        for number in range(MOST_TOGETHER + 5)
    ]
    files = [*ModuleDrawing(renderer, "changed", None).files(results)]  # type: ignore[arg-type]
    assert renderer.together == [MOST_TOGETHER, 5]
    assert sum(len(some) for some in files) == len(results)
