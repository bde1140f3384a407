import pytest

from xlareport.hlo.dot_graph import opcode_of_name, read_label, statements
from xlareport.hlo.opcode_groups import OPCODES


def test_opcodes() -> None:
    assert {"add", "all-reduce-start", "while", "tuple-select"} <= OPCODES
    assert all(opcode == opcode.strip().lower() for opcode in OPCODES)


def test_statements_begin_at_the_margin() -> None:
    sheet = "label = <x>;\n  %23a { fill: b; }\n"
    text = f'digraph G {{\n{sheet}1 [label=<a>, tooltip="b\nc"];\n1 -> 2 [x];\n}}'
    assert [(statement.line, statement.text) for statement in statements(text)] == [
        (2, "label = <x>;"),
        (4, '1 [label=<a>, tooltip="b\nc"];'),
        (6, "1 -> 2 [x];"),
        (7, "}"),
    ]


def test_escaped_quotes_do_not_end_a_text() -> None:
    (statement,) = statements('1 [label=<a>, tooltip="b \\"\n2 -> 3 [c", x];')
    assert statement.is_closed
    assert "\n" in statement.text


def test_a_quote_left_open_takes_the_rest() -> None:
    (statement,) = statements('1 [label=<a>, tooltip="b];\n2 -> 3 [c];')
    assert not statement.is_closed


@pytest.mark.parametrize(
    ("name", "opcode"),
    [
        ("add.5", "add"),
        ("reduce_sum.1", "reduce"),
        ("reduce-window.1", "reduce-window"),
        ("copy-start.2", "copy-start"),
        ("dot_general.3", "dot"),
        ("xyz", ""),
    ],
)
def test_opcodes_of_names(name: str, opcode: str) -> None:
    assert opcode_of_name(name) == opcode


def test_a_label() -> None:
    label = read_label(
        "<b>mul.1</b><br/>multiply<br/>a={&quot;b&quot;}<br/>f32[2,3]{1,0}<br/>"
        "<b>operand 1</b> = tuple-element 2 of while.3 f32[2,3]<br/><b>operand 0</b> = f32[] 1"
    )
    assert (label.name, label.opcode, label.shape) == ("mul.1", "multiply", "f32[2,3]{1,0}")
    assert label.folded == {1: "while.3#2"}
    assert label.attributes == ['a={"b"}']


def test_a_parameter() -> None:
    label = read_label("<b>Parameter 3</b><br/><i>from a in b</i><br/>pred[]")
    assert (label.name, label.opcode, label.number) == ("", "parameter", 3)
    assert label.attributes == []


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("(s32[], f32[2], f3...", "(s32[], f32[2], unknown[])"),
        ("((s32[], f32[2]{1,...", "((s32[], unknown[]))"),
        ("(f32[16...", "unknown[]"),
        ("kind=kLoop", "unknown[]"),
    ],
)
def test_shapes_that_are_cut(line: str, shape: str) -> None:
    assert read_label(f"<b>a</b><br/>{line}").shape == shape


def test_attributes_that_are_cut_are_left_out() -> None:
    assert read_label("<b>a</b><br/>frontend_attributes={a=...").attributes == []


def test_a_fusion_that_is_not_drawn() -> None:
    label = read_label("<b>f.1</b><br/>fusion:kLoop<br/>f32[2]")
    assert label.opcode == "fusion"
