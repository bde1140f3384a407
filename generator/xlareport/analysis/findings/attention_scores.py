"""Finds the scores and weights of attention that lie in memory between two matrix products."""

from msgspec import Struct

from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import reachable

_DEEPEST = 4
"""Instructions between the scores and their softmax, without renames."""
_NARROW = 4
"""Scores have at least this part of the elements of the queries and of the keys."""
_RENAMES = frozenset({"bitcast", "get-tuple-element", "copy"})
_LIBRARY = ("cublas", "gemm", "cudnn")


class _Parts(Struct, frozen=True):
    """What an instruction computes that matters here, inside of fusions too."""

    has_product: bool
    has_exponential: bool
    has_maximum: bool
    """A reduction by the maximum, with which a softmax begins."""


def find_attention_scores(module: HloModule, computation: Computation) -> frozenset[str]:
    """Return the products that compute scores, and the fusions with the softmax of scores.

    A softmax subtracts the maximum before the exponential; an activation or a normalization
    between two products does not. The logits of a router or classifier are no scores: they are
    much smaller than what they are computed from.
    """
    parts = {line.name: _parts(module, line) for line in computation.instructions}
    result: set[str] = set()
    for softmax in computation.instructions:
        known = parts[softmax.name]
        if known.has_exponential and not known.has_product and _feeds(computation, softmax, parts):
            above = _above(computation, softmax)
            has_maximum = known.has_maximum or any(parts[name].has_maximum for name in above)
            scores = [name for name in above if parts[name].has_product]
            are_wide = all(_is_wide(computation, computation.by_name[name]) for name in scores)
            if has_maximum and scores and are_wide:
                result |= {softmax.name, *scores}
    return frozenset(result)


def _parts(module: HloModule, instruction: Instruction) -> _Parts:
    lines = [instruction]
    if instruction.opcode == "fusion":
        for name in called_computations(module, (instruction,)):
            lines += module.by_name[name].instructions
    target = instruction.attributes.get("custom_call_target", "").lower()
    return _Parts(
        any(line.opcode == "dot" for line in lines) or any(word in target for word in _LIBRARY),
        any(line.opcode == "exponential" for line in lines),
        any(line.opcode == "reduce" and _is_maximum(module, line) for line in lines),
    )


def _is_maximum(module: HloModule, reduction: Instruction) -> bool:
    roots = [module.by_name[name].root for _, name in reduction.called if name in module.by_name]
    return any(root is not None and root.opcode == "maximum" for root in roots)


def _feeds(computation: Computation, value: Instruction, parts: dict[str, _Parts]) -> bool:
    """Return whether a matrix product reads a value, by whatever name."""

    def renamed(name: str) -> list[str]:
        return [user.name for user in computation.users.get(name, ()) if user.opcode in _RENAMES]

    return any(
        parts[user.name].has_product
        for name in reachable([value.name], renamed)
        for user in computation.users.get(name, ())
    )


def _above(computation: Computation, value: Instruction) -> set[str]:
    """Return the computed operands of a value, with their own, up to the matrix products."""
    result: set[str] = set()
    waiting = [(name, 1) for name in value.operand_names]
    while waiting:
        name, depth = waiting.pop()
        line = computation.by_name.get(name)
        if line is None or name in result or depth > _DEEPEST:
            continue
        if line.opcode not in _RENAMES:
            result.add(name)
            depth += 1
        is_product = line.opcode in ("dot", "custom-call") or _is_custom(line)
        if not is_product:
            waiting += [(name, depth) for name in line.operand_names]
    return result


def _is_wide(computation: Computation, product: Instruction) -> bool:
    """Return whether a product is not much smaller than the largest of its operands."""
    sizes = [
        operand.shape.element_count or 0 for operand in computation.operands(product) if operand
    ]
    return _NARROW * (product.shape.element_count or 0) >= max(sizes, default=0)


def _is_custom(line: Instruction) -> bool:
    return line.opcode == "fusion" and line.attributes.get("kind", "") == "kCustom"
