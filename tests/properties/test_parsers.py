"""What every parser promises: ours alone is raised, what is there is found, time is linear.

Those of side files are in `PARSERS` of the tests of each reader. Those of snapshots are tested in
`test_hlo_readers.py`, those of file names in `test_names.py`, others in `test_other_parsers.py`.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.readers.parsers import PATH, Parser
from tests.walks import LONG_WALKS, examples

import xlareport

PACKAGE = Path(xlareport.__file__).parent
SHARED = {"__init__", "lines", "op_events", "table_protos"}
"""Modules of the readers' floor that are no reader: others read by them, and are tested so."""
PARSERS: dict[str, Parser] = {
    f"{path.stem.removeprefix('test_')}.{parser.name}": parser
    for path in sorted((Path(__file__).parents[1] / "readers").glob("test_*.py"))
    for parser in getattr(import_module(f"tests.readers.{path.stem}"), "PARSERS", ())
}
names = pytest.mark.parametrize("parser", PARSERS.values(), ids=PARSERS)


def pieces(parser: Parser) -> list[bytes]:
    """Return what a file of this kind is made of, and what files of any kind may hold."""
    lines = parser.whole.splitlines(keepends=True)
    parts = [part for line in lines for part in line.split(b" ") if part]
    return [*lines, *parser.pieces, *parts, *RUBBISH]


LONG = 300_000 if LONG_WALKS else 100_000
"""Bytes of a long file."""
RUBBISH = (
    *(b"\n", b" ", b"\t", b"\0", b'"', b"\\", b"{", b"}", b"[", b"(", b")", b"<", b">", b"-", b","),
    *(b"9" * 5_000, b"-1", b"1e999", b"nan", "²".encode(), "٣".encode(), b"\xff\xfe", b"\r\n"),
)


@st.composite
def files(draw: st.DrawFn, parser: Parser) -> bytes:
    """Draw a file of pieces, of anything, or a good one with a part overwritten."""
    mixed = b"".join(draw(st.lists(st.sampled_from(pieces(parser)), max_size=25)))
    if draw(st.booleans()):
        return mixed or draw(st.binary(max_size=200))
    start = draw(st.integers(0, len(parser.whole)))
    end = draw(st.integers(start, min(len(parser.whole), start + 30)))
    return parser.whole[:start] + mixed[:60] + parser.whole[end:]


@names
@given(data=st.data())
@examples(40)
def test_no_bytes_stop_a_parser(parser: Parser, data: st.DataObject) -> None:
    _, problems = parser.read(data.draw(files(parser)))
    assert all(problem.path == PATH for problem in problems)


@names
def test_what_was_a_fault_is_none(parser: Parser) -> None:
    for case in parser.cases:
        _, problems = parser.read(case)
        assert all(problem.path == PATH for problem in problems)


@names
def test_a_good_file_is_read(parser: Parser) -> None:
    found, problems = parser.read(parser.whole)
    assert found or parser.name == "object_kernels"
    assert not problems


@names
@given(rubbish=st.binary(min_size=1, max_size=40))
@examples(20)
def test_nothing_is_never_taken_for_something(parser: Parser, rubbish: bytes) -> None:
    found, problems = parser.read(b"@ " + rubbish.replace(b"\n", b"@"))
    assert problems or not parser.says
    assert not parser.says or not _tells(found)


def _tells(found: Any) -> bool:
    """Say whether a reader claims to have found anything."""
    values = [getattr(found, name) for name in getattr(found, "__slots__", ())] or [found]
    return any(bool(_content(value)) for value in values)


def _content(value: Any) -> Any:
    """Return a graph's nodes: there is always a graph, if an empty one."""
    return [one.nodes for one in value if one.nodes] if _are_graphs(value) else value


def _are_graphs(value: Any) -> bool:
    return isinstance(value, tuple) and all(hasattr(one, "nodes") for one in value)


@names
@given(data=st.data())
@examples(8)
def test_the_time_is_linear(parser: Parser, data: st.DataObject) -> None:
    """Twice the text runs through at most some more than twice the lines of code."""
    drawn = data.draw(st.lists(st.sampled_from(pieces(parser)), min_size=1, max_size=4))
    start, unit = (parser.whole if data.draw(st.booleans()) else b""), b"".join(drawn)
    few = steps(lambda: parser.read(start + unit * 200))
    many = steps(lambda: parser.read(start + unit * 400))
    assert many <= 2.2 * few + 2_000


def steps(work: Callable[[], object]) -> int:
    """Return how many lines of Python the work runs through: the same on any machine."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return counted

    former = sys.gettrace()
    sys.settrace(counted)
    try:
        work()
    finally:
        sys.settrace(former)
    return count


@names
def test_long_texts_of_one_piece_are_read(parser: Parser) -> None:
    """What the interpreter does below the lines of code: quadratic, it would not end in minutes."""
    for piece in dict.fromkeys(pieces(parser)):
        parser.read(parser.whole + piece * (LONG // len(piece)))


def test_every_reader_has_a_parser_in_its_tests() -> None:
    there = {path.stem for path in (PACKAGE / "readers").glob("*.py")}
    assert {name.partition(".")[0] for name in PARSERS} == there - SHARED
