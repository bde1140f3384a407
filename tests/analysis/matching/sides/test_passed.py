"""Which operand an instruction returns as it is."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.sides.passed import passed_operand, reduces_nothing, scalar_of
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_LINES = {
    "reshape": ("f32[8,1]{1,0} reshape(%a)", 0),
    "thin": ("f32[8,1]{1,0} broadcast(%a), dimensions={0}", 0),
    "wide": ("f32[8,4]{1,0} broadcast(%a), dimensions={0}", None),
    "same": ("f32[8]{0} convert(%a)", 0),
    "half": ("bf16[8]{0} convert(%a)", None),
    "unpadded": ("f32[8]{0} pad(%a, %zero), padding=0_0", 0),
    "padded": ("f32[9]{0} pad(%a, %zero), padding=0_1", None),
    "more": ("f32[8]{0} add(%zeros, %a)", 1),
    "less": ("f32[8]{0} subtract(%zeros, %a)", None),
    "times": ("f32[8]{0} multiply(%a, %ones)", 0),
    "over": ("f32[8]{0} divide(%ones, %a)", None),
    "least": ("f32[8]{0} maximum(%a, %lowest)", 0),
    "at_least": ("s32[8]{0} maximum(%whole, %lows)", 0),
    "at_most": ("s32[8]{0} minimum(%whole, %lows)", None),
    "natural": ("s32[8]{0} maximum(%whole, %nones)", None),
    "positive": ("f32[8]{0} maximum(%a, %zeros)", None),
    "reduced": ("f32[8]{0} reduce(%reshape, %zero), dimensions={1}, to_apply=%sum", 0),
    "raised": ("f32[8]{0} reduce(%reshape, %float), dimensions={1}, to_apply=%sum", None),
    "total": ("f32[] reduce(%a, %zero), dimensions={0}, to_apply=%sum", None),
    "root": ("f32[8]{0} sqrt(%a)", None),
    "scaled": ("f32[8]{0} multiply(%a, %ranges)", 0),
    "positives": ("pred[8]{0} compare(%a, %zeros), direction=GT", None),
    "chosen": ("pred[8]{0} select(%positives, %yeses, %noes)", 0),
    "other": ("pred[8]{0} select(%positives, %noes, %yeses)", None),
}
_TEXT = """
HloModule m
%sum (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}}
ENTRY %main (p: f32[8]) -> f32[] {{
  %p = f32[8]{{0}} parameter(0)
  %a = f32[8]{{0}} {of_a}(%p)
  %zero = f32[] constant(0)
  %zeros = f32[8]{{0}} broadcast(%zero), dimensions={{}}
  %one = s32[] constant(1)
  %float = f32[] convert(%one)
  %ones = f32[8]{{0}} broadcast(%float), dimensions={{}}
  %range = f32[] subtract(%float, %zero)
  %ranges = f32[8]{{0}} broadcast(%range), dimensions={{}}
  %yes = pred[] constant(true)
  %yeses = pred[8]{{0}} broadcast(%yes), dimensions={{}}
  %no = pred[] constant(false)
  %noes = pred[8]{{0}} broadcast(%no), dimensions={{}}
  %low = f32[] constant(-inf)
  %lowest = f32[8]{{0}} broadcast(%low), dimensions={{}}
  %whole = s32[8]{{0}} convert(%a)
  %least_whole = s32[] constant(-2147483648)
  %lows = s32[8]{{0}} broadcast(%least_whole), dimensions={{}}
  %none = s32[] constant(0)
  %nones = s32[8]{{0}} broadcast(%none), dimensions={{}}
{lines}
  ROOT %end = f32[] custom-call({names}), custom_call_target="c"
}}
"""


@pytest.mark.parametrize("name", _LINES)
def test_what_is_passed_on(read: Read, name: str) -> None:
    lines = "\n".join(f"  %{known} = {text}" for known, (text, _) in _LINES.items())
    names = ", ".join(f"%{known}" for known in _LINES)
    texts = [_TEXT.format(of_a=opcode, lines=lines, names=names) for opcode in ("tanh", "cosine")]
    side = start(*map(read, texts), same_program=True).before
    nodes = {node.instruction.name: node for node in side.values.order}
    node = (
        nodes[name]
        if name in nodes
        else side.graph.frames[0].node(side.graph.frames[0].computation.by_name[name])
    )
    assert passed_operand(side, node) == _LINES[name][1]
    assert reduces_nothing(side, node) == (name == "reduced")


def test_the_scalar_that_a_value_repeats(read: Read) -> None:
    texts = [_TEXT.format(of_a=opcode, lines="", names="%a") for opcode in ("tanh", "cosine")]
    side = start(*map(read, texts), same_program=True).before
    frame = side.graph.frames[0]
    found = {
        name: scalar_of(side, frame.node(frame.computation.by_name[name]))
        for name in ("zeros", "ones", "lowest", "p", "a")
    }
    assert found == {"zeros": "0", "ones": "1", "lowest": "-inf", "p": None, "a": None}
