from pathlib import Path

import pytest
from dialects import GET, compact_operands

from xlareport.hlo.attributes import Metadata
from xlareport.hlo.model import HloModule, Instruction, StackFrame
from xlareport.hlo.snapshot_reading import MAX_PROBLEMS
from xlareport.hlo.text import Tables, TextReader

HERE = Path(__file__).parent / "data"
DIALECTS = ("first-2017", "long-2019", "short-2023", "long-2025", "tables-2026")


def read(text: str) -> tuple[HloModule, list[str]]:
    reader = TextReader()
    module = reader.read(text.encode(), "a.txt")
    assert module is not None
    return module, [str(one) for one in reader.problems]


def dialect(name: str) -> str:
    return (HERE / f"{name}.txt").read_text("utf-8")


def facts(module: HloModule) -> dict[str, object]:
    """Return what every dialect tells alike."""
    return {
        f"{computation.name}/{one.name}": (
            one.opcode,
            one.shape.text,
            compact_operands(computation)[one.name],
            one.argument,
            one.is_root,
            tuple(name for _, name in one.called),
            (one.metadata.op_name, one.metadata.op_type),
        )
        for computation in module.computations
        for one in computation.instructions
        if one.opcode != GET
    }


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_tell_the_same(name: str) -> None:
    module, problems = read(dialect(name))
    assert problems == []
    assert module.name == "jit_f"
    assert {one.name for one in module.computations} == {
        "fused",
        "body",
        "condition",
        "sum",
        "main",
    }
    assert module.entry is module.by_name["main"]
    assert facts(module) == facts(read(dialect("tables-2026"))[0])


def test_an_instruction_in_full() -> None:
    module, _ = read(dialect("tables-2026"))
    total = module.by_name["main"].by_name["total"]
    assert total.operands == ("loop#1", "none")
    assert total.operand_names == ("loop", "none")
    assert total.attributes == {
        "dimensions": "{0}",
        "to_apply": "%sum",
        "metadata": '{op_type="Sum" op_name="f/sum" stack_frame_id=1}',
    }
    assert total.called == (("to_apply", "sum"),)
    assert total.metadata == Metadata("f/sum", "Sum", stack_frame_id=1)
    assert module.stack_frames == {1: StackFrame("f.py", "f", 3, 4, None)}
    assert module.by_name["main"].root is total
    assert module.attributes == {
        "is_scheduled": "true",
        "entry_computation_layout": "{(f32[4]{0})->f32[]}",
    }


def test_what_is_equal_is_one_object() -> None:
    reader = TextReader()
    text = dialect("tables-2026")
    first = reader.read(text.encode(), "a.txt")
    again = reader.read(text.encode(), "b.txt")
    changed = reader.read(text.replace("parameter(1)", "parameter(2)").encode(), "c.txt")
    assert first is not None
    assert changed is not None
    assert again is first
    assert changed is not first
    assert changed.by_name["main"] is first.by_name["main"]
    assert changed.by_name["sum"] is not first.by_name["sum"]
    assert changed.by_name["sum"].by_name["x"] is first.by_name["sum"].by_name["x"]
    assert changed.by_name["sum"].by_name["y"] is not first.by_name["sum"].by_name["y"]


@pytest.mark.parametrize("name", DIALECTS)
def test_line_breaks_of_windows(name: str) -> None:
    module, problems = read(dialect(name).replace("\n", "\r\n"))
    assert problems == []
    assert facts(module) == facts(read(dialect(name))[0])


def test_statements_over_several_lines() -> None:
    text = (
        "HloModule m\n\n%f (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n\n"
        "ENTRY %e () -> f32[2,2] {\n"
        "  // a comment\n"
        "  %c = f32[2,2]{1,0} constant({\n    { 1, 2 },\n    { 3, 4 }\n  })\n\n"
        "  %d = s32[3] constant({\n1, 2,\n3 })\n"
        '  ROOT %r = f32[2,2]{1,0} custom-call(%c), backend_config={\n  "a": {\n    "b": 1 }\n  }\n'
        "}\n"
    )
    module, problems = read(text)
    assert problems == []
    entry = module.by_name["e"]
    assert [one.name for one in entry.instructions] == ["c", "d", "r"]
    assert entry.by_name["c"].argument == "{\n    { 1, 2 },\n    { 3, 4 }\n  }"
    assert entry.by_name["d"].shape.text == "s32[3]"
    assert entry.by_name["r"].attributes["backend_config"].count("\n") == 3


def test_the_slow_way_shares_with_the_quick_one() -> None:
    reader = TextReader()
    text = dialect("tables-2026")
    quick = reader.read(text.encode(), "a.txt")
    slow = reader.read(text.replace("\n}\n", "\n\n}\n").encode(), "b.txt")
    assert quick is not None
    assert slow is not None
    assert [*slow.computations] == [*quick.computations]


def test_trailers() -> None:
    text = dialect("tables-2026").replace(
        "}\n\n%condition", '}, execution_thread="host"\n\n%condition'
    )
    module, problems = read(text)
    assert problems == []
    threads = {one.name: one.execution_thread for one in module.computations}
    assert threads.pop("body") == "host"
    assert set(threads.values()) == {"main"}


def test_names_and_attributes_that_hold_braces() -> None:
    text = (
        "HloModule m\n\nENTRY %e () -> f32[] {\n"
        '  %a = f32[] parameter(0), metadata={op_name="x } {\\"} y"}\n'
        "  ROOT %b = f32[] negate(%a), sharding={devices=[2,1]<=[2] last_tile_dim_replicate}\n"
        "}\n"
    )
    module, problems = read(text)
    assert problems == []
    names = module.computations[0].by_name
    assert names["a"].metadata.op_name == 'x } {"} y'
    assert names["b"].attributes == {"sharding": "{devices=[2,1]<=[2] last_tile_dim_replicate}"}


def test_duplicates_missing_operands_and_cycles_are_read() -> None:
    text = (
        "HloModule m\n\nENTRY %e () -> f32[] {\n"
        "  %a = f32[] add(%b, %gone)\n  %b = f32[] add(%a, %a)\n  %a = f32[] negate(%b)\n}\n"
    )
    module, problems = read(text)
    entry = module.entry
    assert problems == ["a.txt: %a is given more than once in %e; one is %a~2 here"]
    assert entry is not None
    assert entry.by_name["a"].opcode == "add"
    assert entry.by_name["a~2"].opcode == "negate"
    assert [one.opcode for one in entry.users["b"]] == ["add", "negate"]
    assert entry.root is entry.instructions[-1]


class TestBrokenTexts:
    """A bad line becomes a problem with its place; everything else is read."""

    BODY = "  %a = f32[] parameter(0)\n{}  ROOT %c = f32[] negate(%a)\n"

    def entry(self, line: str) -> tuple[list[Instruction], list[str]]:
        text = "HloModule m\n\nENTRY %e (a: f32[]) -> f32[] {\n" + self.BODY.format(line) + "}\n"
        module, problems = read(text)
        assert module.entry is not None
        return list(module.entry.instructions), problems

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            (
                "  %b = f32[] ad\n",
                "a.txt:5:13: expected an opcode and `(`\n  %b = f32[] ad\n            ^",
            ),
            (
                "  %b = f32[2,x] add(%a)\n",
                "a.txt:5:14: expected a dimension\n  %b = f32[2,x] add(%a)\n             ^",
            ),
            (
                "  %b = f32[] constant({\n    1, 2\n",
                (
                    "a.txt:5:22: the operands are not closed\n  %b = f32[] constant({\n"
                    "                     ^"
                ),
            ),
            (
                '  %b = f32[] add(%a), x="\n',
                (
                    'a.txt:5:21: the attributes are not closed\n  %b = f32[] add(%a), x="\n'
                    "                    ^"
                ),
            ),
            (
                "rubbish\n",
                "a.txt:5:1: expected `name = shape opcode(`\nrubbish\n^",
            ),
        ],
    )
    def test_a_bad_line(self, line: str, problem: str) -> None:
        instructions, problems = self.entry(line)
        assert [one.name for one in instructions] == ["a", "c"]
        assert problems == [problem]

    def test_long_lines_are_drawn_in_part(self) -> None:
        _, problems = self.entry("  %b = f32[" + "1," * 400 + "x" + ",1" * 400 + "] add(%a)\n")
        drawn = problems[0].split("\n")
        assert max(map(len, drawn)) < 100
        assert drawn[1][drawn[2].index("^")] == "x"

    def test_a_file_that_ends_early(self) -> None:
        text = dialect("tables-2026")
        for end in range(0, len(text), 7):
            reader = TextReader()
            module = reader.read(text[:end].encode(), "a.txt")
            whole = end >= text.rindex("}")
            assert bool(reader.problems) != whole, text[:end][-60:]
            assert (module is not None) == (end > len("HloModule"))

    def test_equal_broken_files_are_named_each(self) -> None:
        reader = TextReader()
        reader.read(b"nothing", "a.txt")
        reader.read(b"nothing", "b.txt")
        assert [str(one) for one in reader.problems] == [
            "a.txt:1: no line begins with HloModule",
            "b.txt:1: no line begins with HloModule",
        ]

    def test_an_empty_file(self) -> None:
        reader = TextReader()
        assert reader.read(b"", "a.txt") is None
        assert [str(one) for one in reader.problems] == ["a.txt: the file is empty"]

    def test_bytes_that_are_not_utf_8(self) -> None:
        reader = TextReader()
        data = dialect("tables-2026").encode().replace(b"f/sum", b"f/\xff")
        module = reader.read(data, "a.txt")
        assert module is not None
        assert module.by_name["main"].by_name["total"].metadata.op_name == "f/\ufffd"
        assert [one.line for one in reader.problems] == [49]
        assert data.split(b"\n")[48].count(b"\xff") == 1

    def test_missing_closing_braces(self) -> None:
        text = dialect("tables-2026").replace("}\n\n%sum", "\n%sum")
        module, problems = read(text)
        assert len(module.computations) == 5
        assert len(module.by_name["condition"].instructions) == 3
        assert problems == [
            "a.txt:36:1: the computation before is not closed\n%sum (x: f32[], y: f32[]) -> f...\n^"
        ]

    def test_many_problems_are_counted(self) -> None:
        _, problems = self.entry("x\n" * 250)
        assert len(problems) == MAX_PROBLEMS
        assert problems[-1] == "a.txt:104:1: 151 more problems from here on"

    def test_unknown_tables(self) -> None:
        _, problems = read(dialect("tables-2026").replace("StackFrames", "Frames"))
        assert [one.split("\n")[0] for one in problems] == [
            "a.txt:12:1: unknown text",
        ]


TEXT = r"""

FileNames
1 "/home/a \"b\".py"
2 "na\303\257ve.py"

FunctionNames
1 "f.<locals>.g"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=4 end_column=9}
2 {file_name_id=2 function_name_id=9 line=7 end_line=7 column=0 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=8 parent_frame_id=1}
4 {file_location_id=2}
"""


def tables(text: str) -> Tables:
    return Tables(enumerate(text.split("\n")))


def test_frames() -> None:
    assert tables(TEXT).frames == {
        1: StackFrame('/home/a "b".py', "f.<locals>.g", 3, 4, parent=None),
        2: StackFrame("naïve.py", "", 7, None, parent=1),
        4: StackFrame("naïve.py", "", 7, None, parent=None),
    }


def test_no_tables() -> None:
    assert tables("\n\n").frames == {}


def test_unknown_lines_are_kept_with_their_numbers() -> None:
    read = tables('\nFileNames\n1 "a"\n1 {x=1}\nOthers\n"\n// a comment')
    assert read.unknown == [(3, "1 {x=1}"), (4, "Others"), (5, '"')]
