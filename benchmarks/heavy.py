"""Which instructions are heavy: those whose way through the compiler a user asks about first."""

import re

from xlareport.hlo.model import Instruction

_KINDS = {
    "dot": "matmul",
    "ragged-dot": "matmul",
    "scaled-dot": "matmul",
    "convolution": "matmul",
    "while": "while",
    "conditional": "conditional",
    "scatter": "scatter",
    "gather": "gather",
    "sort": "sort",
    "topk": "sort",
    "send": "collective",
    "recv": "collective",
}
_COLLECTIVE = re.compile(
    r"(?:all-reduce|all-gather|reduce-scatter|all-to-all|ragged-all-to-all|collective-permute"
    r"|collective-broadcast)(?:-start)?"
)
_TARGETS = (
    (re.compile(r"cublas|cudnn|onednn|__gemm|conv|matmul", re.IGNORECASE), "matmul"),
    (re.compile(r"top_?k", re.IGNORECASE), "sort"),
    (re.compile(r"triton|tpu_custom_call|mosaic|pallas", re.IGNORECASE), "kernel"),
    (re.compile(r"lapack|cusolver|cholesky|triangular|qr|eigh?|svd|fft", re.IGNORECASE), "library"),
)
_EXPANDED = {("scatter", "while"), ("gather", "while"), ("sort", "while"), ("library", "while")}
"""What an expander may make of what: loops."""


def kind(instruction: Instruction) -> str | None:
    """Return the kind of a heavy instruction, None for any other; `-done` halves are not asked for.

    Dots, convolutions and the library calls that do their work are one kind: passes exchange them.
    """
    if instruction.opcode == "custom-call":
        target = instruction.attributes.get("custom_call_target", "")
        return next((name for pattern, name in _TARGETS if pattern.search(target)), None)
    if _COLLECTIVE.fullmatch(instruction.opcode):
        return "collective"
    return _KINDS.get(instruction.opcode)


def can_become(kind_before: str | None, kind_after: str | None) -> bool:
    """Whether an instruction of the one kind can end as one of the other."""
    same = kind_before is not None and kind_before == kind_after
    return same or (kind_before, kind_after) in _EXPANDED
