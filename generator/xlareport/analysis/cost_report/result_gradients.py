"""Gradients of the results of matmuls, for the memory report: matched by op_names and dimensions.

The gradient of a result is an operand of both matmuls of the backward pass, which have the op_name
of the forward one inside `transpose(...)`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from xlareport.analysis.source.locations import op_name_of
from xlareport.analysis.source.scopes import Phase, phase_of, plain_path
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import ALIASES, DENSE_PRODUCTS

_WINDOW = re.compile(r"size=([\dx]+)", re.ASCII)


class ResultGradient(Struct, frozen=True):
    """What a value is the gradient of."""

    op: str
    """The matmul of the forward pass, as pages write it."""
    has_softmax: bool
    """Whether there are exponentials of its size and it is no batched matmul: logits, maybe."""


def find_result_gradients(module: HloModule, names: Iterable[str]) -> Mapping[str, ResultGradient]:
    """Return the gradients of results of matmuls among instructions of one result each."""
    products = {
        (plain_path(op_name), product.shape.dimensions): product
        for product in module.instructions
        if product.opcode in DENSE_PRODUCTS
        and phase_of(op_name := product.metadata.op_name) is Phase.FORWARD
    }
    exponentials = [line for line in module.instructions if line.opcode == "exponential"]
    gradients: dict[str, ResultGradient] = {}
    for value, readers in _gradients(module, frozenset(names)):
        keys = [
            (plain_path(op_name_of(reader, module)), value.shape.dimensions) for reader in readers
        ]
        key = next((key for key in keys if key in products), None)
        if key is not None:
            is_like = any(_are_alike(value, exponential) for exponential in exponentials)
            has_softmax = is_like and not _is_batched(products[key])
            gradients[value.name] = ResultGradient(key[0], has_softmax)
    return gradients


def _gradients(
    module: HloModule, names: AbstractSet[str]
) -> Iterator[tuple[Instruction, list[Instruction]]]:
    """Yield the values of the backward pass among those named, with what reads each."""
    for computation, value in module.placed:
        if value.name in names and phase_of(op_name_of(value, module)) is Phase.BACKWARD:
            yield value, [*_readers(computation, value)]


def _readers(computation: Computation, value: Instruction) -> Iterator[Instruction]:
    """Yield the instructions that read a value, also through one that only renames it."""
    for user in computation.users.get(value.name, ()):
        yield user
        if user.opcode in ALIASES:
            yield from computation.users.get(user.name, ())


def _are_alike(value: Instruction, exponential: Instruction) -> bool:
    """Return whether exponentials are of most of a value: of all but the last token, maybe."""
    if value.shape.dimensions[-1:] != exponential.shape.dimensions[-1:]:
        return False
    size, count = value.shape.element_count or 0, exponential.shape.element_count or 0
    return 0 < size <= 2 * count <= 2 * size


def _is_batched(product: Instruction) -> bool:
    """Return whether a matmul is one of batches, as attention scores are, not one with weights.

    A convolution has the batch as its window.
    """
    if product.opcode == "convolution":
        sizes = _WINDOW.search(product.attributes.get("window", ""))
        return sizes is not None and {*sizes[1].split("x")} != {"1"}
    return product.attributes.get("lhs_batch_dims", "{}") != "{}"
