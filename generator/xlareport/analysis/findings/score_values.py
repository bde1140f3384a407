"""Finds the scores and weights of attention that lie in memory between two matrix products."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.windows import WindowDimension, count_valid_positions, parse_window
from xlareport.analysis.findings.flat_flow import FlatFlow, Value, flatten
from xlareport.analysis.findings.split_products import count_parts
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import ALIASES, CONTROL_FLOW, DENSE_PRODUCTS, REARRANGEMENTS
from xlareport.hlo.shape import Shape
from xlareport.runtime.graphs import nearest_first, reachable

_NARROW = 4
"""Scores have at least this part of the elements of the queries and of the keys."""
_CLOSED = CONTROL_FLOW | {"parameter"}
"""Opcodes whose result is not computed of an operand element by element."""
_MOVES = REARRANGEMENTS | {"convert", "copy-done", "copy-start"}
_REDUCTIONS = frozenset({"reduce", "reduce-window"})
"""A TPU reduces and spreads the maximum again by a window."""
_MOST_STEPS = 1_000
"""Values around an exponential that are looked at."""
_PERMUTE = "collective-permute"
_LIBRARY = ("cublas", "gemm", "cudnn")
_BATCH_OF_CALL = re.compile(r'"lhs_batch_dimensions":\s*\["')
_NO_DIMENSIONS = ("", "{}")


def find_attention_scores(
    module: HloModule, computation: Computation
) -> Mapping[str, AbstractSet[int]]:
    """Return what writes the scores of attention, their softmax or the gradients of either.

    For each instruction the numbers of the elements of its result that hold them; empty where it is
    no tuple. Fusions are opened: on TPUs they contain the matrix products. A softmax subtracts the
    maximum before the exponential; an activation or a normalization between two products does not.
    The logits of a router or classifier are no scores: they are much smaller than what they are
    computed from, or no batch of matrices.
    """
    flow = flatten(module, computation)
    search = _Search(module, computation, flow)
    seeds: dict[int, set[int]] = defaultdict(set)
    for number, line in enumerate(flow.lines):
        if line.opcode == "exponential" and line.shape.element_count:
            seeds[line.shape.element_count] |= search.softmax(number)
    held = {
        number for count, some in seeds.items() if some for number in search.connected(some, count)
    }
    counts = {count for count, some in seeds.items() if some}
    written = (
        (line.name, _score_elements(flow, line, held, counts))
        for line in computation.instructions
        if line.opcode not in ALIASES and held
    )
    return {name: numbers for name, numbers in written if numbers is not None}


def has_capped_scores(module: HloModule, computation: Computation) -> bool:
    """Return whether a tanh is between the product of a softmax of attention and the softmax."""
    flow = flatten(module, computation)
    search = _Search(module, computation, flow)
    return any(
        flow.lines[above].opcode == "tanh"
        for number, line in enumerate(flow.lines)
        if line.opcode == "exponential" and search.softmax(number)
        for above in search.above(number)
    )


def is_ring(module: HloModule, computation: Computation) -> bool:
    """Return whether a collective-permute sends on what a product of a batch of matrices reads.

    The keys of a ring are loop state: no product is between them and the state, as there is where
    a loop is over layers.
    """
    flow = flatten(module, computation)
    search = _Search(module, computation, flow)
    sent, read = set[int](), set[int]()
    for number, line in enumerate(flow.lines):
        if line.opcode.startswith(_PERMUTE):
            sent |= search.state_behind(number)
        elif search.is_product(number) and _is_batch(line):
            read |= search.state_behind(number)
    return bool(sent & read)


def _score_elements(
    flow: FlatFlow, line: Instruction, held: AbstractSet[int], counts: AbstractSet[int]
) -> AbstractSet[int] | None:
    """Return which elements of its result an instruction computes as scores; None if none."""

    def is_scores(value: Value) -> bool:
        return isinstance(value, int) and value in held and flow.kernels[value] == line.name

    result = flow.results.get(line.name, ())
    if isinstance(result, tuple):
        return {number for number, part in enumerate(result) if is_scores(part)} or None
    if not is_scores(result):
        return None
    elements = enumerate(line.shape.elements)
    return {number for number, shape in elements if shape.element_count in counts}


class _Search(Struct, frozen=True):
    """Follows the values of a computation that have one number of elements."""

    module: HloModule
    computation: Computation
    flow: FlatFlow

    def softmax(self, exponential: int) -> set[int]:
        """Return the values of a softmax of scores and the products it is of; else nothing."""
        count = self.flow.lines[exponential].shape.element_count or 0
        scores = [number for number in self.above(exponential) if self.is_product(number)]
        is_attention = (
            scores
            and all(self._is_of_attention(number) for number in scores)
            and self._has_maximum(exponential)
            and self._feeds(exponential, count)
        )
        return {exponential, *scores} if is_attention else set()

    def above(self, exponential: int) -> set[int]:
        """Return an exponential and what it follows from by element, up to the products."""
        count = self.flow.lines[exponential].shape.element_count or 0
        return {*_nearest(exponential, self._alike(self.flow.sources, count))}

    def connected(self, seeds: Iterable[int], count: int) -> Iterator[int]:
        """Yield what has so many elements and comes of such a product, around the seeds.

        A product passes nothing on: what it reads and what it returns are of different matrices.
        """
        links: dict[int, set[int]] = {}
        for number, line in enumerate(self.flow.lines):
            if count in _counts(line.shape) and line.opcode not in _CLOSED:
                is_product = self.is_product(number)
                near = () if is_product else self.flow.sources[number]
                sources = {source for source in near if source in links}
                if is_product or sources:
                    links[number] = sources
                    for source in sources:
                        links[source].add(number)
        return reachable((seed for seed in seeds if seed in links), links.__getitem__)

    def state_behind(self, number: int) -> set[int]:
        """Return the elements of the computation's argument that a value is moved from.

        The operands of the instruction itself count, whatever it does.
        """

        def sources(value: int) -> Sequence[int]:
            is_moved = value == number or self.flow.lines[value].opcode in _MOVES
            return self.flow.sources[value] if is_moved else ()

        return {
            value
            for value in reachable([number], sources)
            if self.flow.lines[value].opcode == "get-tuple-element"
            and any(self.flow.lines[of].opcode == "parameter" for of in self.flow.sources[value])
        }

    def _alike(self, near: Sequence[Sequence[int]], count: int) -> Callable[[int], list[int]]:
        """Return a function for the neighbors of so many elements, up to the products."""

        def following(number: int) -> list[int]:
            if self.is_product(number) or self.flow.lines[number].opcode in _CLOSED:
                return []
            return [
                other for other in near[number] if count in _counts(self.flow.lines[other].shape)
            ]

        return following

    def _feeds(self, exponential: int, count: int) -> bool:
        """Return whether a matrix product reads a value, or what is computed of it by element.

        A softmax that is kept for its gradient is divided by its sum apart from the exponential.
        """
        users = self.flow.users
        by_element = _nearest(exponential, self._alike(users, count))
        return any(
            self.is_product(user)
            for number in by_element
            if not self.is_product(number)
            for user in users[number]
        )

    def _has_maximum(self, exponential: int) -> bool:
        """Return whether a maximum is subtracted: one over a dimension, of no product's operand."""

        def sources(number: int) -> Sequence[int]:
            return () if self.is_product(number) else self.flow.sources[number]

        above = (self.flow.lines[number] for number in _nearest(exponential, sources))
        return any(line.opcode in _REDUCTIONS and _is_maximum(self.module, line) for line in above)

    def is_product(self, number: int) -> bool:
        line = self.flow.lines[number]
        target = line.call_target.lower() if line.opcode == "custom-call" else ""
        return line.opcode in DENSE_PRODUCTS or any(word in target for word in _LIBRARY)

    def _is_of_attention(self, number: int) -> bool:
        """Return whether a product is of many matrices, as of each head, and not much smaller.

        Parts of a sum are no such matrices.
        """
        line, sources = self.flow.lines[number], self.flow.sources[number]
        sizes = [self.flow.lines[source].shape.element_count or 0 for source in sources]
        count = max(_counts(line.shape))
        kernel = self.computation.by_name[self.flow.kernels[number]]
        return (
            _NARROW * count >= max(sizes, default=0)
            and _is_batch(line)
            and not count_parts(self.module, self.computation, kernel)
        )


def _nearest(start: int, following: Callable[[int], Sequence[int]]) -> Iterator[int]:
    return islice(nearest_first([start], following), _MOST_STEPS)


def _counts(shape: Shape) -> set[int]:
    """Return the numbers of elements of an array, or of the arrays of a tuple."""
    return {part.element_count or 0 for part in shape.members}


def _is_maximum(module: HloModule, reduction: Instruction) -> bool:
    roots = [applied.root for applied in module.callees(reduction)]
    return any(root is not None and root.opcode == "maximum" for root in roots)


def _is_batch(product: Instruction) -> bool:
    """Return whether a product is of many matrices, on TPUs as a dimension of a window."""
    if product.opcode == "custom-call":
        return bool(_BATCH_OF_CALL.search(product.attributes_text))
    if product.opcode == "dot":
        return product.attributes.get("lhs_batch_dims", "") not in _NO_DIMENSIONS
    window = parse_window(product.attributes.get("window", ""))
    return any(dimension.size > 1 and _meets_one(dimension) for dimension in window)


def _meets_one(dimension: WindowDimension) -> bool:
    """Return whether each position of a window meets one element of as many, and another one."""
    size = dimension.size
    try:
        return count_valid_positions(dimension, size, size, size) == size
    except UncountableError:
        return False
