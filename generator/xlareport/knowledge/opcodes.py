"""Every HLO opcode in plain words: the table `opcodes.toml`.

Source: xla/hlo/ir/hlo_opcode.h for the names, xla/service/hlo_graph_dumper.cc for the colors.
"""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct, convert

from xlareport.knowledge.table_files import read_table
from xlareport.runtime.resources import read_toml


class Opcode(Struct, frozen=True):
    """An opcode, as it is spelled in HLO text and in protos."""

    name: str
    words: str
    """Its semantics, in one sentence."""
    color: str | None = None
    """Its scheme in `colors`; None where it follows another instruction, or is not known."""
    until: str | None = None
    """The year, or year and month, in which it was removed from XLA; None if it is in use."""


@cache
def all_entries() -> Mapping[str, Opcode]:
    """Return all opcodes by name, those in use first."""
    return read_table("opcodes", Opcode)


def find(name: str) -> Opcode | None:
    """Return the entry of an opcode; None if the table does not have it."""
    return all_entries().get(name)


@cache
def operation_of(opcode: str) -> str | None:
    """Return the operation of an opcode: `copy-start` runs `copy`.

    None for `copy-done`, whose work counts at its start. An `async-start` is its own operation: the
    wrapped instruction is in the computation that it calls.
    """
    stem, _, form = opcode.rpartition("-")
    if stem != "async" and stem not in all_entries():
        return opcode
    if form in ("done", "update"):
        return None
    return stem if form == "start" and stem != "async" else opcode


def family_of(opcode: str) -> str:
    """Return the operation that an opcode is a form of: `copy` of `copy-start` and `copy-done`."""
    stem = opcode.rpartition("-")[0]
    return operation_of(opcode) or (opcode if stem == "async" else stem)


class OpcodeWork(Struct, frozen=True):
    """Opcodes by how they count; those of no list have a rule of their own or none."""

    elementwise: frozenset[str]
    """Opcodes with one FLOP per element of the result."""
    transcendental: frozenset[str]
    """Opcodes with one transcendental per element of the result."""
    movement: frozenset[str]
    """No arithmetic."""
    free: frozenset[str]
    """No bytes by XLA's count."""
    bookkeeping: frozenset[str]
    """Opcodes whose bytes XLA counts, but the report does not."""
    collectives: frozenset[str]
    """Opcodes that communicate with other devices, without `-start` and `-done`."""
    complex_flops: Mapping[str, int]
    """Real FLOPs of a complex operation, by opcode; `default` for others."""
    complex_transcendentals: Mapping[str, int]
    """Real transcendentals of a complex one, by opcode; `default` for others."""

    @property
    def by_element(self) -> frozenset[str]:
        """Opcodes that compute each element of a result of those of the operands in its place."""
        return self.elementwise | self.transcendental - {"rng"}


def is_collective(opcode: str) -> bool:
    """Return whether an opcode communicates with other devices, including start and done."""
    return opcode.startswith(tuple(opcode_work().collectives))


def begins_collective(opcode: str) -> bool:
    """Return whether an opcode is that of a collective or of its start: each has one of these."""
    return opcode.removesuffix("-start") in opcode_work().collectives


@cache
def opcode_work() -> OpcodeWork:
    """Return the table, read once."""
    return convert(read_toml(__package__, "opcode_work.toml"), OpcodeWork)
