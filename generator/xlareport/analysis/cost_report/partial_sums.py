"""Matmuls that are written in parts along the contracted dimension, for the memory report."""

from collections.abc import Mapping

from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.findings.split_products import count_parts
from xlareport.hlo.model import HloModule


def find_partial_sums(module: HloModule, cost: ModuleCost) -> Mapping[str, int]:
    """Return the bytes of the sum by the matmul whose result is its parts, of split-K.

    It is the result of what adds them, which may be of a narrower type.
    """
    sizes: dict[str, int] = {}
    for computation in module.computations:
        for product in computation.instructions:
            counted = cost.instructions.get((computation.name, product.name))
            is_product = counted is not None and counted.matrix_flops and not counted.fused
            if is_product and count_parts(module, computation, product):
                users = computation.users.get(product.name, ())
                sizes[product.name] = max(user.shape.byte_size or 0 for user in users)
    return sizes
