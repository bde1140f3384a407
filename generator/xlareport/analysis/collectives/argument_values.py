"""Names for values as a program has them: an argument that was only converted or rearranged."""

from xlareport.analysis.source.argument_names import name_arguments
from xlareport.hlo.model import Computation, HloModule, Instruction

_REARRANGED = frozenset({"bitcast", "convert", "copy", "copy-done", "reshape", "transpose"})
_FARTHEST = 20


def describe_value(module: HloModule, home: Computation, value: Instruction) -> str:
    """Return a value in words: an argument with its type, `p['embed']` (bf16), else its name.

    Names are in backticks. The type is written where the value was converted from another one.
    """
    source = find_argument(home, value)
    name = name_arguments(module).get(source.name, "") if source is not None else ""
    if source is None or not name or "`" in name:
        return f"`{value.name}`"
    own, written = value.shape.element_type, source.shape.element_type
    return f"`{name}`" + (f" ({own})" if own != written else "")


def find_argument(home: Computation, value: Instruction) -> Instruction | None:
    """Return the parameter of the entry that a value is, apart from type and form; else None."""
    for _ in range(_FARTHEST):
        if value.opcode == "parameter":
            return value if home.is_entry else None
        before = home.operand(value) if value.opcode in _REARRANGED else None
        if before is None:
            return None
        value = before
    return None
