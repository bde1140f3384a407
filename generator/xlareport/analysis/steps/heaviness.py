"""How much an instruction matters in an account: what costs time in a program is named first."""

from collections.abc import Iterable

from xlareport.hlo.opcode_groups import TUPLES

_USUAL = 1.0
PLAIN = 0.2
"""Weight of what only makes or moves values."""
_PLAIN_OPCODES = (
    "bitcast",
    "broadcast",
    "constant",
    "copy",
    "iota",
    "parameter",
    "reshape",
)
_FRAMING = 0.05
"""Weight of what only groups values: a loop with other elements leaves one of these for each."""
_HEAVIEST = 40.0
_HEAVIEST_OPCODES = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "convolution",
    "dot",
    "ragged-all-to-all",
    "ragged-dot",
    "reduce-scatter",
    "scaled-dot",
    "while",
)
HEAVY = 10.0
"""Weight of what costs time in most programs."""
_HEAVY_OPCODES = (
    "cholesky",
    "conditional",
    "custom-call",
    "fft",
    "fusion",
    "gather",
    "reduce",
    "reduce-window",
    "rng-bit-generator",
    "scatter",
    "select-and-scatter",
    "sort",
    "topk",
    "triangular-solve",
)
_WEIGHTS = {
    **dict.fromkeys(_PLAIN_OPCODES, PLAIN),
    **dict.fromkeys(TUPLES, _FRAMING),
    **dict.fromkeys(_HEAVIEST_OPCODES, _HEAVIEST),
    **dict.fromkeys(_HEAVY_OPCODES, HEAVY),
}


def heaviness(opcode: str) -> float:
    """Return the weight of an opcode; the two halves of an asynchronous one share it."""
    started = opcode.removesuffix("-start")
    if opcode.endswith("-done"):
        return PLAIN
    return _WEIGHTS.get(started, _USUAL)


def heaviest(opcodes: Iterable[str]) -> float:
    """Return the largest weight of some opcodes; '' has none."""
    return max((heaviness(opcode) for opcode in opcodes if opcode), default=PLAIN)


def heaviness_of_change(opcodes: tuple[str, str]) -> float:
    """Return the weight of what was one opcode and is another.

    A custom call that became a move was a mark, of a sharding or a memory space: no library call.
    """
    before, after = opcodes
    is_mark = before == "custom-call" and after in (*_PLAIN_OPCODES, *TUPLES)
    return heaviest((after,) if is_mark else opcodes)
