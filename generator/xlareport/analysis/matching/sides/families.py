"""Families of heavy instructions: opcodes and library calls that passes exchange."""

import re

from xlareport.hlo.model import HloModule, Instruction

_FAMILIES = {
    "all-gather": "collective",
    "all-reduce": "collective",
    "all-to-all": "collective",
    "cholesky": "cholesky",
    "collective-broadcast": "collective",
    "collective-permute": "collective",
    "conditional": "conditional",
    "convolution": "product",
    "dot": "product",
    "gather": "gather",
    "ragged-all-to-all": "collective",
    "ragged-dot": "product",
    "recv": "recv",
    "reduce-scatter": "collective",
    "scaled-dot": "product",
    "scatter": "scatter",
    "select-and-scatter": "select-and-scatter",
    "send": "send",
    "sort": "sort",
    "topk": "sort",
    "triangular-solve": "triangular-solve",
    "while": "while",
}
_LIBRARIES = (
    (re.compile(r"triangular_?solve|trsm", re.IGNORECASE), "triangular-solve"),
    (re.compile(r"cholesky|potrf", re.IGNORECASE), "cholesky"),
    (re.compile(r"cublas|cudnn|onednn|__gemm|conv|matmul", re.IGNORECASE), "product"),
    (re.compile(r"top_?k", re.IGNORECASE), "sort"),
)
"""Targets of library calls that do the work of an instruction."""

_OF_EACH = frozenset(
    {"all-gather", "all-reduce", "all-reduce-start", "collective-permute", "reduce-scatter"}
)
"""Collectives that send each of several operands by itself."""

_MARKS = re.compile(r"Sharding|SPMD|sdy|annotate|MoveTo|AllocateBuffer|AssumeGather|X64|barrier")
"""Custom call targets that compute nothing."""


BUFFER = "AllocateBuffer"
"""Target of custom calls that give memory, and no values."""
JOIN = "ConcatBitcast"
"""Target of XLA:TPU's custom calls that join the pieces of a prefetch."""

REWRITES = frozenset(
    {
        ("cholesky", "custom-call"),
        ("convolution", "custom-call"),
        ("convolution", "dot"),
        ("custom-call", "fusion"),
        ("dot", "convolution"),
        ("dot", "custom-call"),
        ("dot", "fusion"),
        ("dot", "multiply"),
        ("gather", "while"),
        ("reduce", "reduce-window"),
        ("reduce-window", "while"),
        ("scatter", "while"),
        ("select-and-scatter", "while"),
        ("sort", "custom-call"),
        ("sort", "while"),
        ("triangular-solve", "custom-call"),
        ("triangular-solve", "while"),
        ("topk", "custom-call"),
    }
)
"""Opcodes of the same work, before and after."""


def family_of(instruction: Instruction) -> str | None:
    """Return the family of a heavy instruction; None for any other, `-done` halves among them."""
    opcode = instruction.opcode
    if opcode == "custom-call":
        return _family_of_target(instruction.call_target)
    return _FAMILIES.get(opcode.removesuffix("-start"))


def is_heavy_at(module: HloModule, place: tuple[str, str]) -> bool:
    """Return whether a computation and an instruction, by name, are those of heavy work."""
    line = module.find(*place)
    return line is not None and family_of(line) is not None


def is_bundle(instruction: Instruction) -> bool:
    """Whether the elements of a result are the operands, marked or each sent by itself."""
    if instruction.opcode == "tuple":
        return True
    target = instruction.call_target
    is_list = instruction.opcode in _OF_EACH or (target and _MARKS.search(target))
    return bool(is_list) and len(instruction.operands) == len(instruction.shape.elements)


def is_mark(instruction: Instruction) -> bool:
    """Return whether an instruction is a custom call that only marks its operand."""
    target = instruction.call_target
    return instruction.opcode == "custom-call" and bool(_MARKS.search(target))


def _family_of_target(target: str) -> str | None:
    if _MARKS.search(target):
        return None
    known = (family for pattern, family in _LIBRARIES if pattern.search(target))
    return next(known, f"call of {target}")


JOINED = {"add": "sum", "maximum": "maximum", "minimum": "minimum", "multiply": "product"}
"""What opcodes by which all-reduces combine values make of several values."""
