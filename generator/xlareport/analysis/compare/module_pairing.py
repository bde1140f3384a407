"""Pairs the modules of two dumps by name, program and signature, not by number.

Modules that were extracted from another one for autotuning are paired by content alone: XLA numbers
the names of fusions anew in each compilation.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TypeAlias

from msgspec import Struct

from xlareport.analysis.modules.recompilations import function_name
from xlareport.knowledge.grades import Grade


class Sketch(Struct, frozen=True):
    """The data by which a module is paired."""

    key: str
    name: str
    inputs: bytes
    """The form of its first snapshot."""
    final: bytes
    signature: str
    """Shapes of arguments and results."""
    opcodes: tuple[tuple[str, int], ...]
    """Of the first snapshot that could be read."""
    contents: bytes = b""
    """Digest of the first snapshot's instructions in any order; empty if unknown."""


class ModulePair(Struct, frozen=True):
    """A module of the base and its counterpart in the head; one of them may be None."""

    base: int | None
    head: int | None
    grade: Grade
    reason: str
    extracted: bool = False
    """Whether it is extracted from another module for autotuning."""


_Pieces: TypeAlias = Collection[int]
NOT_PAIRED = "extracted for autotuning, and none of the other side has the same content"
_BY_CONTENT = frozenset(
    {"same name, same code", "same name, same program", "same program, renumbered"}
    | {"same program under another name", "same signature and operations under another name"}
)
Mark = Callable[[Sketch], Hashable]
_RULES: tuple[tuple[Mark, Grade, str], ...] = (
    (
        lambda sketch: (sketch.name, sketch.inputs, sketch.final),
        Grade.EXACT,
        "same name, same code",
    ),
    (lambda sketch: (sketch.name, sketch.inputs), Grade.EXACT, "same name, same program"),
    (
        lambda sketch: (function_name(sketch.name), sketch.inputs),
        Grade.EXACT,
        "same program, renumbered",
    ),
    (lambda sketch: (sketch.name, sketch.signature), Grade.MATCHED, "same name and signature"),
    (
        lambda sketch: (function_name(sketch.name), sketch.signature),
        Grade.MATCHED,
        "same function and signature",
    ),
    (lambda sketch: sketch.inputs, Grade.MATCHED, "same program under another name"),
    (lambda sketch: sketch.name, Grade.MATCHED, "same name"),
    (lambda sketch: function_name(sketch.name), Grade.GUESSED, "same function"),
    (
        lambda sketch: (sketch.signature, sketch.opcodes),
        Grade.GUESSED,
        "same signature and operations under another name",
    ),
)


def pair_modules(
    base: Sequence[Sketch],
    head: Sequence[Sketch],
    mains: tuple[str | None, str | None] = (None, None),
    extracted: tuple[_Pieces, _Pieces] = ((), ()),
) -> tuple[ModulePair, ...]:
    """Return pairs of modules, the most certain rule first, in the order of both dumps.

    Modules without a counterpart are alone. `mains` are the keys of the main programs, which are
    paired if no other rule pairs them; `extracted` are the numbers of modules extracted for
    autotuning.
    """
    free_base, free_head = dict(enumerate(base)), dict(enumerate(head))
    pairs: list[ModulePair] = []
    for mark, grade, reason in _RULES:
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        left_out = ((), ()) if reason in _BY_CONTENT else extracted
        for number, sketch in free_head.items():
            if number not in left_out[1]:
                waiting[mark(sketch)].append(number)
        for number, this_sketch in list(free_base.items()):
            if number in left_out[0]:
                continue
            if candidates := waiting.get(mark(this_sketch)):
                partner = candidates.pop(0)
                is_piece = number in extracted[0] and partner in extracted[1]
                pairs.append(ModulePair(number, partner, grade, reason, is_piece))
                del free_base[number], free_head[partner]
    ours = next((number for number in free_base if base[number].key == mains[0]), None)
    theirs = next((number for number in free_head if head[number].key == mains[1]), None)
    if ours is not None and theirs is not None:
        pairs.append(ModulePair(ours, theirs, Grade.GUESSED, "main programs"))
        del free_base[ours], free_head[theirs]
    pairs += [_unpaired(number, None, "only in the base", extracted[0]) for number in free_base]
    pairs += [_unpaired(None, number, "only in the head", extracted[1]) for number in free_head]
    return tuple(sorted(pairs, key=_pair_order))


def _unpaired(base: int | None, head: int | None, reason: str, extracted: _Pieces) -> ModulePair:
    number = head if base is None else base
    is_piece = number in extracted
    return ModulePair(base, head, Grade.EXACT, NOT_PAIRED if is_piece else reason, is_piece)


def _pair_order(pair: ModulePair) -> tuple[int, int]:
    """Return the sort key of a pair: position in the head; modules only in the base come last."""
    return (0, pair.head) if pair.head is not None else (1, pair.base or 0)
