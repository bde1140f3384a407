"""How each opcode counts in flops and bytes: the table `opcode_work.toml`."""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class OpcodeWork:
    """Opcodes by how they count; those of no list have a rule of their own or none."""

    elementwise: frozenset[str]
    """One flop for each element of the result."""
    transcendental: frozenset[str]
    """One transcendental for each element of the result."""
    movement: frozenset[str]
    """No arithmetic."""
    free: frozenset[str]
    """No bytes by XLA's count."""
    bookkeeping: frozenset[str]
    """Bytes by XLA's count, none by ours."""


@cache
def opcode_work() -> OpcodeWork:
    """Return the table, read once."""
    table = tomllib.loads(files(__package__).joinpath("opcode_work.toml").read_text("utf-8"))
    return OpcodeWork(**{field.name: frozenset(table[field.name]) for field in fields(OpcodeWork)})
