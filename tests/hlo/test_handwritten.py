"""HLO as people write it: what XLA's parser takes and never prints."""

import pytest

from xlareport.hlo.handwritten import MAX_NESTED, without_comments
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader


def read(body: str) -> HloModule:
    reader = TextReader()
    module = reader.read(f"HloModule m\n\n{body}".encode(), "a.txt")
    assert module is not None
    assert [problem.message for problem in reader.problems] == []
    return module


def lines_of(body: str) -> list[str]:
    """Return each instruction of the entry as `name: shape opcode(operands)`."""
    entry = read(f"ENTRY e {{\n{body}\n}}\n").entry
    assert entry is not None
    return [
        f"{line.name}: {line.shape.text} {line.opcode}({', '.join(line.operands)})"
        for line in entry.instructions
    ]


def test_operands_that_are_instructions() -> None:
    assert lines_of(
        "  x = f32[4] parameter(0)\n"
        "  ROOT r = f32[4] add(x, f32[4] broadcast(f32[] constant(2))), metadata={}"
    ) == [
        "x: f32[4] parameter()",
        "constant.inline: f32[] constant()",
        "broadcast.inline: f32[4] broadcast(constant.inline)",
        "r: f32[4] add(x, broadcast.inline)",
    ]


def test_names_with_and_without_percent() -> None:
    assert (
        lines_of("  x = f32[] parameter(0)\n  ROOT %r = f32[] add(%x, x)")[-1]
        == "r: f32[] add(x, x)"
    )


def test_nested_operands_get_names_of_their_own() -> None:
    assert lines_of(
        "  x = f32[] parameter(0)\n"
        "  ROOT r = f32[] add(f32[] multiply(x, f32[] constant(2)), f32[] multiply(x, x))"
    ) == [
        "x: f32[] parameter()",
        "constant.inline: f32[] constant()",
        "multiply.inline: f32[] multiply(x, constant.inline)",
        "multiply.inline.1: f32[] multiply(x, x)",
        "r: f32[] add(multiply.inline, multiply.inline.1)",
    ]


@pytest.mark.parametrize(
    ("statement", "shape"),
    [
        ("after-all()", "token[]"),
        ("tuple(x, y)", "(f32[2,3], f32[3,5])"),
        ("get-tuple-element(t), index=1", "s32[]"),
        ("negate(x)", "f32[2,3]"),
        ("compare(x, x), direction=LT", "pred[2,3]"),
        ("transpose(x), dimensions={1,0}", "f32[3,2]"),
        ("dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[2,5]"),
        ("reduce(x, z), dimensions={1}, to_apply=sum", "f32[2]"),
        ("real(c)", "f32[7]"),
        ("call(x), to_apply=sum", "f32[]"),
        ("reduce-window(x, z), window={size=1x2}, to_apply=sum", "unknown[]"),
    ],
)
def test_shapes_follow_from_operands_or_are_not_known(statement: str, shape: str) -> None:
    module = read(
        "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = add(a, b)\n}\n"
        "ENTRY e {\n  x = f32[2,3] parameter(0)\n  y = f32[3,5] parameter(1)\n"
        "  z = f32[] constant(0)\n  c = c64[7] parameter(2)\n  t = (f32[2], s32[]) parameter(3)\n"
        f"  ROOT r = {statement}\n}}\n"
    )
    assert module.entry is not None
    assert module.entry.root is not None
    assert module.entry.root.shape.text == shape


def test_attributes_on_lines_of_their_own() -> None:
    module = read(
        "ENTRY e {\n  x = f32[2,3] parameter(0) // the input\n"
        "  ROOT d = f32[2,2]\n      dot(x, x),\n    lhs_contracting_dims={1}, /* one\n"
        '    of two */ rhs_contracting_dims={1},\n    backend_config={\n      name = "a // b"}\n}\n'
    )
    assert module.entry is not None
    root = module.entry.root
    assert root is not None
    assert dict(root.attributes) == {
        "lhs_contracting_dims": "{1}",
        "rhs_contracting_dims": "{1}",
        "backend_config": '{\n      name = "a // b"}',
    }


def test_statements_that_share_a_line() -> None:
    module = read(
        "sum { a = f32[] parameter(0)  b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
        "ENTRY\n e {\nx = f32[4] {0} parameter(0)\nROOT r = f32[4]negate(x)}\n"
    )
    assert [len(computation.instructions) for computation in module.computations] == [3, 2]
    assert module.entry is not None
    assert module.entry.name == "e"
    assert [line.shape.text for line in module.entry.instructions] == ["f32[4]{0}", "f32[4]"]


def test_headers_over_several_lines() -> None:
    reader = TextReader()
    text = (
        "HloModule m,\n  num_partitions=4,\n  entry_computation_layout={(f32[2])->f32[2]}\n"
        "ENTRY %e (a: f32[2])\n    -> f32[2] {\n  ROOT %a = f32[2] parameter(0)\n}\n"
    )
    module = reader.read(text.encode(), "a.txt")
    assert module is not None
    assert reader.problems == []
    assert list(module.attributes) == ["num_partitions", "entry_computation_layout"]


def test_operands_nested_too_deep_are_a_problem() -> None:
    deep = MAX_NESTED + 2
    reader = TextReader()
    text = (
        f"HloModule m\nENTRY e {{\n  ROOT r = {'negate(' * deep}f32[] constant(1){')' * deep}\n}}\n"
    )
    assert reader.read(text.encode(), "a.txt") is not None
    assert any("operand" in problem.message for problem in reader.problems)


def test_computations_inside_statements() -> None:
    module = read(
        "ENTRY e {\n  x = f32[4] parameter(0)\n  c = call(x), to_apply={\n"
        "    p = f32[4] parameter(0)\n    ROOT f = f32[4] fusion(p), kind=kLoop, calls={\n"
        "      q = f32[4] parameter(0)\n      ROOT n = negate(q)\n    }\n  }\n"
        "  ROOT r = f32[4] negate(c)\n}\n"
    )
    assert [len(computation.instructions) for computation in module.computations] == [2, 2, 3]
    assert module.entry is not None
    call = module.entry.by_name["c"]
    assert call.shape.text == "f32[4]"
    assert [name in module.by_name for _, name in call.called] == [True]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a /* b\nc\n", "a \nc\n"),
        ("a /*/ b\nc // d\ne", "a \nc \ne"),
        ("a /* b */ c /* d\ne /* f\ng", "a  c \ne \ng"),
        ('a /* "b"\nc "/* d"', 'a \nc "/* d"'),
        ("a /* b\n*/ c", "a \n c"),
    ],
)
def test_a_comment_that_is_not_closed_takes_the_rest_of_its_line(text: str, left: str) -> None:
    assert without_comments(text) == left
