"""What two programs have on lines of the same number is not paired with what is on others."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.fixed_lines import FixedLines
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]
OPS = '%{name} = f32[8]{{0}} {opcode}({operands}), metadata={{op_name="jit(f)/{op}" '
OPS += 'source_file="f.py" source_line={line}}}'
BEFORE = [
    ("a", "tanh", "%p", "tanh", 2),
    ("b", "add", "%a, %p", "add", 3),
    ("c", "sine", "%b", "sin", 4),
    ("d", "cosine", "%c", "cos", 5),
    ("e", "add", "%d, %p", "add", 7),
]
NEW = ("n", "add", "%a, %a", "add", 6)


def program(*lines: tuple[str, str, str, str, int]) -> str:
    body = "\n  ".join(
        OPS.format(name=name, opcode=opcode, operands=operands, op=op, line=line)
        for name, opcode, operands, op, line in lines
    )
    result = "  ROOT %r = f32[8]{0} copy(%e)"
    return f"\nENTRY %main {{\n  %p = f32[8]{{0}} parameter(0)\n  {body}\n{result}\n}}\n"


def test_an_op_of_a_new_line_continues_no_op_of_a_line_of_both(read: Read) -> None:
    others = [*BEFORE[:1], NEW, ("b", "add", "%n, %p", "add", 3), *BEFORE[2:]]
    matching = match(read(program(*BEFORE)), read(program(*others)), same_program=False)
    assert matching.partner_after(Place("main", "b")) == Place("main", "b")
    assert [place.instruction for place in matching.added] == ["n"]


@pytest.mark.parametrize(("moved", "parted"), [(0, True), (10, False)])
def test_nothing_is_said_of_a_file_whose_lines_moved(
    read: Read, moved: int, parted: object
) -> None:
    lines = [(*line[:4], line[4] + moved) for line in (*BEFORE[:4], NEW, BEFORE[4])]
    before, after = read(program(*BEFORE)), read(program(*lines))
    fixed = FixedLines(before, after)
    ours, theirs = before.by_name["main"], after.by_name["main"]
    assert fixed.part(ours.by_name["b"], theirs.by_name["n"]) is parted
    assert not fixed.part(ours.by_name["b"], theirs.by_name["b"])
