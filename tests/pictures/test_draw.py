"""All pictures are drawn, whatever happens to the layout of one."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.pictures.drawn import draw_all

from xlareport.hlo.model import HloModule
from xlareport.pictures import draw
from xlareport.pictures.draw import PictureRequest
from xlareport.pictures.drawing import Arrow, Box, Drawing
from xlareport.pictures.layout import Layout, LayoutFailure
from xlareport.pictures.layout_pool import LayoutPool
from xlareport.pictures.levels import ModulePictures, all_levels


def row(count: int, name: str = "n") -> Drawing:
    nodes = tuple(Box(f"{name}{n}", (f"{name}{n}",), "white") for n in range(count))
    return Drawing(
        name, nodes, tuple(Arrow(f"{name}{n}", f"{name}{n + 1}") for n in range(count - 1))
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the DOT texts that the pool is asked for."""
    texts: list[str] = []
    real = LayoutPool.layout_many

    def layout_many(
        pool: LayoutPool, requests: list[tuple[str, str]]
    ) -> Iterator[tuple[str, Layout | LayoutFailure]]:
        texts.extend(dot for _, dot in requests)
        return real(pool, requests)

    monkeypatch.setattr(LayoutPool, "layout_many", layout_many)
    return texts


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every layout fail of drawings with more boxes than the module attribute says."""

    def layout_many(
        _: LayoutPool, requests: list[tuple[str, str]]
    ) -> Iterator[tuple[str, LayoutFailure]]:
        return ((key, LayoutFailure("took more than 4 s")) for key, _ in requests)

    monkeypatch.setattr(LayoutPool, "layout_many", layout_many)


def test_the_results_come_in_the_order_of_the_requests(tmp_path: Path) -> None:
    requests = (PictureRequest(f"key {n}", (row(n % 9 + 1),)) for n in range(100))
    found = list(draw_all(requests, 2, tmp_path, 30))
    assert [one.request.key for one in found] == [f"key {n}" for n in range(100)]
    assert all(len(one.placed) == 1 and not one.note for one in found)


def test_equal_pictures_are_laid_out_once(tmp_path: Path, asked: list[str]) -> None:
    requests = [PictureRequest(f"key {n}", (row(3),)) for n in range(50)]
    svgs = {one.svg for one in draw_all(requests, 2, tmp_path, 30)}
    assert len(asked) == len(svgs) == 1


def test_layouts_are_kept_between_builds(tmp_path: Path, asked: list[str]) -> None:
    requests = [PictureRequest("a", (row(3),)), PictureRequest("b", (row(4),))]
    first = list(draw_all(requests, 1, tmp_path, 30))
    assert len(asked) == 2
    assert list(draw_all(requests, 1, tmp_path, 30)) == first
    assert len(asked) == 2


def test_before_and_after_share_one_layout(tmp_path: Path, asked: list[str]) -> None:
    [found] = draw_all([PictureRequest("step", (row(3), row(5)))], 1, tmp_path, 30)
    assert len(asked) == 1
    old, new = (
        {node.id: box for node, box in zip(drawing.nodes, layout.nodes, strict=True)}
        for drawing, layout in found.placed
    )
    assert len(old) == 3
    assert {name: new[name] for name in old} == old


def test_a_ribbon_is_turned(tmp_path: Path, asked: list[str]) -> None:
    nodes = tuple(Box(f"n{n}", ("a rather long line", f"n{n}"), "white") for n in range(60))
    hub = Box("hub", ("hub",), "white")
    edges = tuple(Arrow(f"n{n}", f"n{n + 30}") for n in range(30))
    drawing = Drawing("wide", (hub, *nodes), edges)
    [found] = draw_all([PictureRequest("wide", (drawing,))], 1, tmp_path, 30)
    assert ["rankdir=LR" in dot for dot in asked] == [False, True]
    width = float(found.svg.split('width="')[1].split('"')[0])
    assert width < 3000


@pytest.mark.usefixtures("failing")
def test_what_cannot_be_laid_out_is_drawn_in_plain_layers(
    tmp_path: Path, parse: Callable[[str], ET.Element]
) -> None:
    small, large = PictureRequest("s", (row(2),)), PictureRequest("l", (row(150),))
    found = {one.request.key: one for one in draw_all([small, large], 1, tmp_path)}
    words = "Simplified layout: Graphviz took more than 4 s."
    assert {one.note for one in found.values()} == {words}
    root = parse(found["l"].svg)
    assert sum(str(element.get("class")).startswith("n ") for element in root.iter()) == 150
    assert words in "".join(root.itertext())


def test_a_failure_costs_its_own_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = LayoutPool.layout_many

    def layout_many(
        pool: LayoutPool, requests: list[tuple[str, str]]
    ) -> Iterator[tuple[str, Layout | LayoutFailure]]:
        for key, found in real(pool, requests):
            large = isinstance(found, Layout) and len(found.nodes) > 60
            yield key, LayoutFailure("crashed") if large else found

    monkeypatch.setattr(LayoutPool, "layout_many", layout_many)
    requests = [PictureRequest(str(n), (row(n, f"p{n}"),)) for n in (5, 100, 6)]
    notes = {one.request.key: one.note for one in draw_all(requests, 1, tmp_path, 30)}
    words = "Simplified layout: Graphviz crashed."
    assert notes == {"5": "", "100": words, "6": ""}


def test_an_empty_drawing_is_drawn(tmp_path: Path, parse: Callable[[str], ET.Element]) -> None:
    [found] = draw_all([PictureRequest("empty", (Drawing("nothing", ()),))], 1, tmp_path, 30)
    assert parse(found.svg).findtext("{http://www.w3.org/2000/svg}title") == "nothing"


def test_requests_are_taken_as_they_are_needed(tmp_path: Path) -> None:
    taken = 0

    def requests() -> Iterator[PictureRequest]:
        nonlocal taken
        for n in range(1000):
            taken += 1
            yield PictureRequest(str(n), (row(2),))

    first = next(draw_all(requests(), 1, tmp_path, 30))
    assert first.request.key == "0"
    assert taken == draw._AT_A_TIME  # noqa: SLF001 - so many are held together


def test_all_pictures_of_a_real_module(
    tmp_path: Path, dumped: Callable[[str, str], HloModule], parse: Callable[[str], ET.Element]
) -> None:
    module = dumped("tpu-v5e-scan", ".after_optimizations.txt")
    levels = all_levels(module, ModulePictures(module))
    requests = (PictureRequest(level.target, (level.drawing,)) for level in levels)
    for found in draw_all(requests, 2, tmp_path, 30):
        assert found.note == ""
        assert len(found.svg) < 200_000
        assert parse(found.svg) is not None
