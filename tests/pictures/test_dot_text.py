"""Graphviz gets DOT that we wrote: our own ids and numbers, and no name of a dump."""

import re
from collections.abc import Callable

import pytest

from xlareport.hlo.model import HloModule
from xlareport.pictures.dot_text import dot_text
from xlareport.pictures.drawing import Arrow, Box, Drawing, Group
from xlareport.pictures.levels import ModulePictures

HOSTILE = (
    '"]; node [URL="javascript:alert(1)"',
    '\\"]; image="/etc/passwd"',
    "<b>bold</b>",
    "a\nb\r\0c\u202ed\u2028e",
    "\\",
    'ends in a backslash \\"',
    "\ud800 alone",
    "%n %s ${HOME} `id`",
)
# One statement: a bare id, attributes whose values are numbers, nothing else.
STATEMENT = re.compile(
    r"n\d+ \[width=[\d.]+, height=[\d.]+\];"
    r"|n\d+ -> n\d+ \[id=e\d+(?:, weight=0)?\];"
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_does_not_reach_graphviz(text: str) -> None:
    drawing = Drawing(text, (Box(text, (text,), "white", "same", text, text),))
    body = dot_text(drawing).splitlines()[4:-1]
    assert len(body) == 1
    assert STATEMENT.fullmatch(body[0])


def test_pictures_that_differ_only_in_names_have_the_same_text() -> None:
    one, other = (Drawing(name, (Box(name, (name,), "white"),)) for name in ("dot.1", "dot.2"))
    assert dot_text(one) == dot_text(other)


def test_frames_are_nested_and_numbered() -> None:
    nodes = tuple(Box(name, (name,), "white") for name in "abc")
    groups = (
        Group("outer", "outer", "scope", ("a",)),
        Group("inner", "inner", "computation", ("b",), "outer"),
        Group("next", "next", "scope", ("c",)),
    )
    lines = dot_text(Drawing("frames", nodes, groups=groups)).splitlines()
    frames = [line for line in lines if line.startswith(("subgraph", "}")) or line == "n1;"]
    assert frames == [
        "subgraph cluster_0 {",
        "subgraph cluster_1 {",
        "n1;",
        "}",
        "}",
        "subgraph cluster_2 {",
        "}",
        "}",
    ]


def test_the_first_box_of_a_frame_makes_room_for_its_title() -> None:
    node = Box("a", ("a",), "white")
    title = "a title of thirty characters!!"
    framed = dot_text(Drawing("", (node,), groups=(Group("g", title, "scope", ("a",)),)))
    width = re.search(r"n0 \[width=([\d.]+)", framed)
    assert width is not None
    assert float(width[1]) * 72 > 190


def test_a_control_arrow_pulls_nothing() -> None:
    nodes = (Box("a", ("a",), "white"), Box("b", ("b",), "white"))
    dot = dot_text(Drawing("", nodes, (Arrow("a", "b", style="control"),)))
    assert "n0 -> n1 [id=e0, weight=0];" in dot


@pytest.mark.parametrize(
    ("dump", "ending"),
    [
        ("jax-cpu-train", "jit_rollout.before_optimizations.txt"),
        ("jax-cpu-train", "jit_train_step.cpu_after_optimizations.txt"),
        ("tf-add-multiply", "after_optimizations.txt"),
    ],
)
def test_the_picture_of_a_module(
    dump: str,
    ending: str,
    dumped: Callable[[str, str], HloModule],
    snapshot: Callable[[str, str], None],
) -> None:
    module = dumped(dump, ending)
    snapshot(
        dot_text(ModulePictures(module).overview()), f"{dump}.{ending.removesuffix('.txt')}.dot"
    )


def test_equal_drawings_give_equal_texts(dumped: Callable[[str, str], HloModule]) -> None:
    module = dumped("jax-cpu-train", "jit_train_step.cpu_after_optimizations.txt")
    first, second = (dot_text(ModulePictures(module).overview()) for _ in range(2))
    assert first == second
