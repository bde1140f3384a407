"""The compiler's notes on an HLO instruction of a TPU, in its `backend_config`."""

import re
from math import prod

from msgspec import Struct

from xlareport.hlo.graph import outside_fusions
from xlareport.hlo.model import Computation, HloModule, Instruction

_SCOPED = re.compile(
    r'"used_scoped_memory_configs":\[\{"memory_space":"1","offset":"\d{1,15}","size":"(\d{1,15})"',
    re.ASCII,
)
_CYCLES = re.compile(r'"estimated_cycles":"(\d{1,15})"', re.ASCII)
_BOUNDS = re.compile(r'"iteration_bounds":\[((?:"\d{1,9}",?){1,32})\]', re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)


class CompilerNotes(Struct, frozen=True):
    """Notes on an instruction; None for what is not there."""

    computation: str
    scoped_vmem: int | None
    """Bytes of VMEM for its scratch, spilled registers included."""
    estimated_cycles: int | None
    """Before code generation, time for memory included."""
    iterations: int | None
    """Product of the bounds of its pipelined loop."""


def index_notes(module: HloModule) -> dict[str, CompilerNotes]:
    """Return the notes on each instruction outside of fusions by name; the first counts."""
    notes_of: dict[str, CompilerNotes] = {}
    for computation, instruction in outside_fusions(module):
        notes_of.setdefault(instruction.name, _notes(computation, instruction))
    return notes_of


def _notes(computation: Computation, instruction: Instruction) -> CompilerNotes:
    text = instruction.attributes_text
    scoped, cycles, bounds = _SCOPED.search(text), _CYCLES.search(text), _BOUNDS.search(text)
    return CompilerNotes(
        computation=computation.name,
        scoped_vmem=int(scoped[1]) if scoped else None,
        estimated_cycles=int(cycles[1]) if cycles else None,
        iterations=prod(map(int, _NUMBER.findall(bounds[1]))) if bounds else None,
    )
