"""Whatever a snapshot holds, its reader returns a module or a problem, and takes linear time."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from targets.snapshots import everything
from tests.walks import LONG_WALKS, examples

from xlareport.hlo.dot import DotReader
from xlareport.hlo.model import HloModule
from xlareport.hlo.proto import ProtoReader
from xlareport.hlo.protos.schema import message_class
from xlareport.hlo.snapshot_reading import SnapshotReader
from xlareport.hlo.text import TextReader

DATA = Path(__file__).parents[1] / "hlo" / "data"
TEXTS = [path.read_bytes() for path in sorted(DATA.glob("*.txt"))]
DRAWING = (DATA / "fused.dot").read_bytes()

PIECES = st.sampled_from([
    "HloModule m", "ENTRY ", "%a", "a.1", " = ", "f32[2]{0}", "(f32[], s32[])", " add(", ")", "(",
    "{", "}", "\n", "\n}", "  ", ", ", "metadata={", 'op_name="', '"', "\\", "/*index=5*/", "ROOT ",
    " -> ", "constant(", "FileNames", '1 "a"', "StackFrames", "1 {file_location_id=1}", "#0",
    "\r\n", "calls=%a", "control-predecessors={%a}", "\x00", "日",
    "// x", ", execution_thread=", "%",
    "digraph G {\n", "1 [label=<", "<b>", "<br/>", ">, shape=", 'tooltip="', "1 -> 2 [",
    "subgraph ",
])  # fmt: skip
MIXED = st.lists(PIECES, max_size=40).map("".join).map(str.encode)


def read(reader: SnapshotReader, data: bytes) -> HloModule | None:
    module = reader.read(data, "a")
    assert module is not None or reader.problems
    assert all(problem.path == "a" for problem in reader.problems)
    if module is not None:
        everything(module)
    return module


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """Draw a file with a part left out, doubled or overwritten."""
    start = draw(st.integers(0, len(whole)))
    end = draw(st.integers(start, min(len(whole), start + 200)))
    put = draw(st.one_of(st.just(b""), st.just(whole[start:end] * 2), MIXED, st.binary(max_size=9)))
    return whole[:start] + put + whole[end:]


@given(st.one_of(MIXED, st.binary(max_size=300)))
@examples(100)
def test_anything_can_be_read(data: bytes) -> None:
    for made in (TextReader, ProtoReader, DotReader):
        read(made(), data)


@given(st.data(), st.sampled_from(TEXTS))
@examples(200)
def test_damaged_texts(data: st.DataObject, whole: bytes) -> None:
    module = read(TextReader(), data.draw(damaged(whole)))
    assert module is None or isinstance(module.name, str)


@given(st.data())
@examples(100)
def test_damaged_drawings(data: st.DataObject) -> None:
    read(DotReader(), data.draw(damaged(DRAWING)))


@given(st.data())
@examples(100)
def test_damaged_protos(data: st.DataObject) -> None:
    read(ProtoReader(), data.draw(damaged(PROTO)))


# A brace of its own ends or begins a computation, whatever stands before it; a comment that begins
# in the line may end in a later one.
@given(
    st.sampled_from(TEXTS),
    st.integers(0, 60),
    st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs"]), max_size=30),
)
@examples(100)
def test_a_line_put_in_costs_nothing_else(whole: bytes, place: int, line: str) -> None:
    assume("/*" not in line)
    lines = whole.split(b"\n")
    inside = [n for n, one in enumerate(lines) if one.startswith(b"  ")]
    at = inside[place % len(inside)]
    put = f"  @ {line.splitlines()[0] if line.strip() else ''}".replace('"', "").encode()
    before = read(TextReader(), whole)
    after = read(TextReader(), b"\n".join([*lines[:at], put, *lines[at:]]))
    assert before is not None
    assert after is not None
    assert [
        instruction.text
        for computation in before.computations
        for instruction in computation.instructions
    ] == [
        instruction.text
        for computation in after.computations
        for instruction in computation.instructions
    ]


@given(st.sampled_from(TEXTS))
@examples(100)
def test_a_module_written_again_reads_the_same(whole: bytes) -> None:
    reader = TextReader()
    first = read(reader, whole)
    assert first is not None
    again = reader.read(written(first).encode(), "b")
    assert again is not None
    assert again.computations == first.computations
    assert (again.name, again.header) == (first.name, first.header)


def written(module: HloModule) -> str:
    """Write a module from what the model holds."""
    head = f"HloModule {module.name}" + (f", {module.header}" if module.header else "")
    parts = [
        f"{computation.header} {{\n"
        + "".join(f"  {instruction.text}\n" for instruction in computation.instructions)
        + "}\n"
        for computation in module.computations
    ]
    return "\n\n".join([head, *parts])


def proto_of(module: HloModule) -> bytes:
    """Return a small proto with the names of a module, to be damaged."""
    computations = [
        {
            "name": computation.name.encode(),
            "id": number,
            "instructions": [
                {
                    "name": instruction.name.encode(),
                    "opcode": instruction.opcode.encode(),
                    "id": place,
                }
                for place, instruction in enumerate(computation.instructions)
            ],
        }
        for number, computation in enumerate(module.computations)
    ]
    made = message_class("HloProto")(hlo_module={"name": b"m", "computations": computations})
    data: bytes = made.SerializeToString()
    return data


PROTO = proto_of(TextReader().read(TEXTS[0], "a") or HloModule("", "", ()))

HEAD = b"HloModule m\n\nENTRY %e (p: f32[]) -> f32[] {\n  "
DRAWN = b"digraph G {\nlabel = <<b>x<br/>Computation c>>;\n"
TAIL = b"\n}\n"
LONG = 150_000 if LONG_WALKS else 40_000
"""Repetitions: what takes quadratic time does not end in minutes, under `make walks` in an hour."""


def link(number: int) -> bytes:
    """Return an instruction that uses the one before."""
    return b"%%a%d = f32[] abs(%%a%d)\n  " % (number + 1, number)


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "brackets": lambda n: HEAD + b"%a = " + b"(" * n + TAIL,
    "ends of shapes": lambda n: HEAD + b"%a = (" + b") b((" * n + TAIL,
    "opcodes": lambda n: HEAD + b"%a = (f32[]" + b") aaaa" * n + TAIL,
    "escaped quotes": lambda n: HEAD + b'%a = f32[] add(%b), m="' + b'\\"' * n + TAIL,
    "open attributes": lambda n: HEAD + b"%a = f32[] add(%b)" + b", a={" * n + TAIL,
    "comments": lambda n: HEAD + b"%a = f32[] add(a, " + b"/*" * n + TAIL,
    "headers": lambda n: b"HloModule m\n" + b"%a {\n" * n,
    "open statements": lambda n: HEAD + b"%a = f32[] constant({\n" * n,
    "one open statement": lambda n: HEAD + b"%a = f32[] constant({\n" + b"{1,2},\n" * n,
    "an open header": lambda n: b"HloModule m, x={" + b"\n%c () -> f32[] {\n}\n" * n,
    "an open quote": lambda n: b'HloModule m, x="' + b'\n{"\n' * n,
    "tables": lambda n: b"HloModule m\n\nFileNames\n" + b'1 "a' * n + b"\n" + b'1 "' * n,
    "metadata": lambda n: HEAD + b"%a = f32[] add(%b), metadata={" + b"a" * n + b"}" + TAIL,
    "layouts": lambda n: HEAD + b"%a = f32[1]{" + b"(" * n + b"} add(%b)" + TAIL,
    "modules": lambda n: b"HloModule " * n,
    "blanks": lambda n: b"\t" * n + b"\n" + b" \t" * n,
    "a chain": lambda n: HEAD + b"".join(map(link, range(n // 10))) + b"}\n",
}  # fmt: skip

HOSTILE_DRAWINGS: dict[str, Callable[[int], bytes]] = {
    "clusters": lambda n: DRAWN + b"subgraph cluster_1 {\n" * n,
    "open quotes": lambda n: DRAWN + b'1 [label=<<b>a</b>>, shape=rect, tooltip="\n' * n,
    "tags": lambda n: DRAWN + b"1 [label=<" + b"<b>" * n + b'>, shape=rect, tooltip="";\n',
    "edges": lambda n: (
        DRAWN
        + b'1 [label=<<b>a</b>>, shape=rect, tooltip=""];\n'
        + b'1 -> 1 [tooltip="a -> a"];\n' * n
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_texts(case: str) -> None:
    read(TextReader(), HOSTILE[case](LONG))


@pytest.mark.parametrize("case", HOSTILE_DRAWINGS)
def test_hostile_drawings(case: str) -> None:
    read(DotReader(), HOSTILE_DRAWINGS[case](LONG))
