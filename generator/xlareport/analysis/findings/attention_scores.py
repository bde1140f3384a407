"""Finds the scores and weights of attention that lie in memory between two matrix products."""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from xlareport.analysis.findings.split_products import count_parts
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.hlo.shape import Shape
from xlareport.runtime.graphs import reachable

_DEEPEST = 4
"""Instructions between the scores and their softmax, without renames."""
_NARROW = 4
"""Scores have at least this part of the elements of the queries and of the keys."""
_RENAMES = frozenset({"bitcast", "get-tuple-element", "copy"})
_LIBRARY = ("cublas", "gemm", "cudnn")
_BATCH_OF_CALL = re.compile(r'"lhs_batch_dimensions":\s*\["')


class _Parts(Struct, frozen=True):
    """What an instruction computes that matters here, inside of fusions too."""

    has_product: bool
    has_exponential: bool
    has_maximum: bool
    """A reduction by the maximum, with which a softmax begins."""


def find_attention_scores(module: HloModule, computation: Computation) -> Mapping[str, int]:
    """Return what holds the scores of attention, their softmax or the gradients of either.

    For each instruction the number of elements of the scores; of a tuple, elements of that size
    hold them. A softmax subtracts the maximum before the exponential; an activation or a
    normalization between two products does not. The logits of a router or classifier are no
    scores: they are much smaller than what they are computed from, or no batch of matrices.
    """
    parts = {line.name: _parts(module, line) for line in computation.instructions}
    seeds: dict[int, set[str]] = defaultdict(set)
    for softmax in computation.instructions:
        inside = parts[softmax.name]
        if (
            inside.has_exponential
            and not inside.has_product
            and _feeds(computation, softmax, parts)
        ):
            above = _above(computation, softmax)
            has_maximum = inside.has_maximum or any(parts[name].has_maximum for name in above)
            scores = [name for name in above if parts[name].has_product]
            lines = [computation.by_name[name] for name in scores]
            are_scores = all(
                _is_wide(computation, line) and _is_batch(module, computation, line)
                for line in lines
            )
            if has_maximum and scores and are_scores:
                seeds[max(_counts(softmax.shape))] |= {softmax.name, *scores}
    return {
        name: count
        for count, names in seeds.items()
        for name in _connected(computation, names, count, parts)
    }


def _connected(
    computation: Computation, seeds: Iterable[str], count: int, parts: Mapping[str, _Parts]
) -> Iterator[str]:
    """Yield what holds so many elements and comes of such a product, around the seeds.

    A product passes nothing on: what it reads and what it returns are of different matrices.
    """
    links: dict[str, set[str]] = {}
    for line in computation.instructions:
        if count in _counts(line.shape):
            is_product = parts[line.name].has_product
            sources = [] if is_product else [name for name in line.operand_names if name in links]
            if is_product or sources:
                links[line.name] = {*sources}
                for name in sources:
                    links[name].add(line.name)
    for name in reachable((name for name in seeds if name in links), links.__getitem__):
        if computation.by_name[name].opcode not in ALIASES:
            yield name


def _counts(shape: Shape) -> set[int]:
    """Return the numbers of elements of an array, or of the arrays of a tuple."""
    return {part.element_count or 0 for part in (shape.elements or (shape,))}


def _parts(module: HloModule, instruction: Instruction) -> _Parts:
    lines = [instruction]
    if instruction.opcode == "fusion":
        for name in called_computations(module, (instruction,)):
            lines += module.by_name[name].instructions
    target = instruction.call_target.lower()
    return _Parts(
        any(line.opcode == "dot" for line in lines) or any(word in target for word in _LIBRARY),
        any(line.opcode == "exponential" for line in lines),
        any(line.opcode == "reduce" and _is_maximum(module, line) for line in lines),
    )


def _is_maximum(module: HloModule, reduction: Instruction) -> bool:
    roots = [applied.root for applied in module.callees(reduction)]
    return any(root is not None and root.opcode == "maximum" for root in roots)


def _feeds(computation: Computation, value: Instruction, parts: dict[str, _Parts]) -> bool:
    """Return whether a matrix product reads a value, or what is computed of it by element.

    A softmax that is kept for its gradient is divided by its sum apart from the exponential.
    """
    count = max(_counts(value.shape))

    def by_element(name: str) -> list[str]:
        return [
            user.name
            for user in computation.users.get(name, ())
            if user.opcode in _RENAMES
            or (count in _counts(user.shape) and not parts[user.name].has_product)
        ]

    return any(
        parts[user.name].has_product
        for name in reachable([value.name], by_element)
        for user in computation.users.get(name, ())
    )


def _above(computation: Computation, value: Instruction) -> set[str]:
    """Return the computed operands of a value, with their own, up to the matrix products."""
    result: set[str] = set()
    seen: set[str] = set()
    waiting = deque((name, 1) for name in value.operand_names)
    while waiting:
        name, depth = waiting.popleft()
        line = computation.by_name.get(name)
        if line is None or name in seen or depth > _DEEPEST:
            continue
        seen.add(name)
        if line.opcode in _RENAMES:
            waiting.extendleft((operand, depth) for operand in line.operand_names)
            continue
        result.add(name)
        if not (line.opcode in ("dot", "custom-call") or _is_custom(line)):
            waiting.extend((operand, depth + 1) for operand in line.operand_names)
    return result


def _is_wide(computation: Computation, product: Instruction) -> bool:
    """Return whether a product is not much smaller than the largest of its operands."""
    sizes = [
        operand.shape.element_count or 0 for operand in computation.operands(product) if operand
    ]
    return _NARROW * (product.shape.element_count or 0) >= max(sizes, default=0)


def _is_batch(module: HloModule, computation: Computation, product: Instruction) -> bool:
    """Return whether a product is of many matrices, as of each head; parts of a sum are none."""
    if count_parts(module, computation, product):
        return False
    if product.opcode == "custom-call":
        return bool(_BATCH_OF_CALL.search(product.attributes_text))
    lines = (
        line
        for name in called_computations(module, (product,))
        for line in module.by_name[name].instructions
    )
    return any("lhs_batch_dims" in line.attributes for line in (product, *lines))


def _is_custom(line: Instruction) -> bool:
    return line.opcode == "fusion" and line.attributes.get("kind", "") == "kCustom"
