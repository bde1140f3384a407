"""Parameters and results of a program as arrays."""

import pytest
from tests.modules import parse_module

from xlareport.hlo.shape import parse_shape
from xlareport.replay.flatten import flatten
from xlareport.replay.runnable_program import Body, Line, NotRunnableError, RunnableProgram


def program(text: str) -> RunnableProgram:
    module = parse_module(f"HloModule m\n\nENTRY e {{\n{text}\n}}\n")
    assert module.entry is not None
    lines = [
        Line(
            *(line.name, line.opcode, line.shape, line.operand_names, line.argument),
            attributes=tuple(line.attributes.items()),
            is_root=line.is_root,
        )
        for line in module.entry.instructions
    ]
    return RunnableProgram([Body("e", lines, is_entry=True)])


def flat(text: str) -> list[str]:
    made = program(text)
    flatten(made)
    return [line.text() for line in made.entry.lines]


def test_each_array_of_a_tuple_is_a_parameter() -> None:
    assert flat(
        "  p = (f32[2], (s32[], pred[3])) parameter(0)\n"
        "  q = f32[4] parameter(1)\n"
        "  ROOT n = f32[4] negate(q)"
    ) == [
        "%p.0 = f32[2] parameter(0)",
        "%p.1.0 = s32[] parameter(1)",
        "%p.1.1 = pred[3] parameter(2)",
        "%p.1 = (s32[], pred[3]) tuple(%p.1.0, %p.1.1)",
        "%p = (f32[2], (s32[], pred[3])) tuple(%p.0, %p.1)",
        "%q = f32[4] parameter(3)",
        "ROOT %n = f32[4] negate(%q)",
    ]


def test_parameters_are_numbered_by_their_numbers_not_their_lines() -> None:
    lines = flat(
        "  q = f32[4] parameter(1)\n  p = (f32[2], s32[]) parameter(0)\n"
        "  ROOT t = (f32[4], f32[4]) tuple(q, q)"
    )
    assert "%q = f32[4] parameter(2)" in lines
    assert lines.index("%q = f32[4] parameter(2)") == 0


def test_a_nested_result_is_returned_flat() -> None:
    lines = flat(
        "  p = f32[2] parameter(0)\n  i = (f32[2], f32[2]) tuple(p, p)\n"
        "  ROOT t = (f32[2], (f32[2], f32[2])) tuple(p, i)"
    )
    assert lines[2] == "%t = (f32[2], (f32[2], f32[2])) tuple(%p, %i)"
    assert lines[-1] == (
        "ROOT %t.flat = (f32[2], f32[2], f32[2]) tuple(%t.leaf.0, %t.leaf.1.leaf.0, "
        "%t.leaf.1.leaf.1)"
    )
    assert sum(line.startswith("ROOT") for line in lines) == 1


def test_a_flat_result_stays() -> None:
    assert flat("  p = f32[2] parameter(0)\n  ROOT t = (f32[2]) tuple(p)")[-1] == (
        "ROOT %t = (f32[2]) tuple(%p)"
    )


def test_a_token_cannot_be_given() -> None:
    made = program("  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)")
    token = Line("k", "parameter", parse_shape("(f32[2], token[])"), (), "1")
    made.entry.lines.insert(1, token)
    with pytest.raises(NotRunnableError, match="token"):
        flatten(made)
