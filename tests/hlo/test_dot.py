from pathlib import Path

import pytest

from xlareport.hlo.dot import DotReader
from xlareport.hlo.model import HloModule

FUSED = (Path(__file__).parent / "data" / "fused.dot").read_text("utf-8")


def read(text: str) -> tuple[HloModule, list[str]]:
    reader = DotReader()
    module = reader.read(text.encode(), "a.dot")
    assert module is not None
    return module, [str(problem) for problem in reader.problems]


def test_a_drawing_as_text() -> None:
    module, problems = read(FUSED)
    assert problems == []
    assert module.name == "module_0001.jit_f.0003.fusion.after_fusion.before_cse"
    found = {
        computation.header: [instruction.text for instruction in computation.instructions]
        for computation in module.computations
    }
    # No edge names the parameter of condition.2 and the folded constants; the while is cut.
    assert found == {
        "%unnamed-of-multiply_fusion": [
            "%param_0 = f32[8] parameter(0)",
            "%param_1 = f32[8] parameter(1)",
            (
                "ROOT %mul.3 = f32[8] multiply(%param_0, %param_1), "
                'metadata={op_type="Mul" op_name="f/mul" source_file="/home/a.py" source_line=3}'
            ),
        ],
        "%body.1": [
            "%arg.2 = (s32[], f32[8]) parameter(0)",
            "%add.7 = s32[] add(%arg.2#0), control-predecessors={%arg.2}",
            "ROOT %tuple.5 = (s32[], f32[8]) tuple(%add.7, %arg.2#1)",
        ],
        "%condition.2": [
            "%unnamed-parameter.0 = (s32[], f32[8]) parameter(0)",
            "ROOT %lt.1 = pred[] compare(%arg.3#0), direction=LT",
        ],
        "ENTRY %main.9": [
            '%x.1 = f32[8] parameter(0), metadata={op_name="x"}',
            "%n.1 = s32[] parameter(1)",
            "%tuple.1 = (s32[], f32[8]) tuple(%n.1, %x.1)",
            (
                "%while.4 = (s32[], f32[8], f32[8], f32[8], f32[8], /*index=5*/f32[8], unknown[]) "
                "while(%tuple.1), condition=%condition.2, body=%body.1"
            ),
            (
                "%multiply_fusion = f32[8] fusion(%x.1, %while.4#1), kind=kLoop, "
                "calls=%unnamed-of-multiply_fusion"
            ),
            (
                "ROOT %reduce_sum.2 = f32[] reduce(%multiply_fusion), dimensions={0}, "
                "sharding={devices=[2]<=[2]}, "
                'metadata={op_name="f/\\"sum\\"" source_file="/home/b.py" source_line=12}'
            ),
        ],
    }


def test_sizes_that_are_not_drawn_are_unknown() -> None:
    module, _ = read(FUSED)
    entry = module.entry
    assert entry is not None
    assert entry.by_name["while.4"].shape.byte_size is None
    assert entry.by_name["multiply_fusion"].shape.byte_size == 32


def test_what_is_equal_is_one_object() -> None:
    reader = DotReader()
    first = reader.read(FUSED.encode(), "a.dot")
    # Addresses differ in every file.
    other = reader.read(FUSED.replace("2", "7").replace("17", "12").encode(), "b.dot")
    again = reader.read(FUSED.encode(), "c.dot")
    assert again is first
    assert other is not first


def test_addresses_do_not_matter() -> None:
    reader = DotReader()
    first = reader.read(FUSED.encode(), "a.dot")
    other = reader.read(FUSED.replace("\n11", "\n99").replace("-> 11", "-> 99").encode(), "b.dot")
    assert first is not None
    assert other is not None
    assert other.computations == first.computations


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("graph G {}", "a.dot:1: not a drawing: no digraph"),
        ("digraph G {\n}", "a.dot:1: a drawing without instructions"),
    ],
)
def test_no_drawing(text: str, problem: str) -> None:
    reader = DotReader()
    assert reader.read(text.encode(), "a.dot") is None
    assert [str(one) for one in reader.problems] == [problem]


def test_a_drawing_that_ends_early() -> None:
    whole, _ = read(FUSED)
    for end in range(FUSED.index("11 ["), len(FUSED), 13):
        reader = DotReader()
        module = reader.read(FUSED[:end].encode(), "a.dot")
        assert module is None or len(module.computations) <= len(whole.computations)


def test_a_quote_left_open_is_a_problem() -> None:
    _, problems = read(FUSED[: FUSED.index("op_type: Mul")])
    assert problems[0].startswith("a.dot:27:1: the drawing ends here\n23 [label=<<b>mul.3")


def test_cycles_and_duplicates_are_read() -> None:
    text = (
        "digraph G {\nlabel = <<b>t<br/>Computation c</b>>;\n"
        '1 [label=<<b>add.1</b><br/>f32[]>, shape=rect, tooltip="", style=""];\n'
        '2 [label=<<b>add.1</b><br/>f32[]>, shape=rect, tooltip="", style=""];\n'
        '1 -> 2 [tooltip="add.1 -> add.1"];\n2 -> 1 [tooltip="add.1 -> add.1"];\n}'
    )
    module, problems = read(text)
    assert problems == ["a.dot: %add.1 is given more than once in %c; one is %add.1~2 here"]
    assert [instruction.text for instruction in module.computations[0].instructions] == [
        "%add.1 = f32[] add(%add.1)",
        "%add.1 = f32[] add(%add.1)",
    ]
