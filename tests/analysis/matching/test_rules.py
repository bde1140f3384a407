from collections.abc import Callable

from xlareport.analysis.matching import rules
from xlareport.analysis.matching.search import start
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_ORIGIN = 'metadata={op_name="f"}'


def module(opcode: str, size: int) -> str:
    """Return the text of a module with two instructions of an opcode and one op_name."""
    shape = f"f32[{size},{size}]{{1,0}}"
    operands, dimensions = "%x", ""
    if opcode == "dot":
        operands, dimensions = "%x, %x", ", lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    lines = "\n  ".join(
        f"%{opcode}.{size}{number} = {shape} {opcode}({operands}){dimensions}, {_ORIGIN}"
        for number in range(2)
    )
    return f"""
HloModule step
ENTRY %main (x: {shape}) -> {shape} {{
  %x = {shape} parameter(0)
  {lines}
  ROOT %sum.{size} = {shape} add(%{opcode}.{size}0, %{opcode}.{size}1)
}}
"""


def grades(read: Read, opcode: str) -> list[str]:
    search = start(read(module(opcode, 8)), read(module(opcode, 4)))
    rules.same_operation(search)
    return [link.grade.value for link in search.links]


def test_light_instructions_of_one_framework_op_are_paired_in_order_as_a_guess(read: Read) -> None:
    assert grades(read, "tanh") == ["guessed", "guessed"]


def test_order_pairs_no_heavy_instructions_of_one_framework_op(read: Read) -> None:
    assert grades(read, "dot") == []
