"""Arithmetic that a library call took over: a scale, an addend, a bias, an activation."""

from collections.abc import Iterable, Iterator
from itertools import islice

from xlareport.analysis.matching.search.nodes import is_free, place_of, read_at
from xlareport.analysis.matching.search.reasons import DoneBy
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.model import Instruction
from xlareport.runtime.graphs import reachable

_PARTS = ("gemm_backend_config", "cudnn_conv_backend_config")
_NEUTRAL = {
    "alpha_real": 1,
    "beta": 0,
    "epilogue": "DEFAULT",
    "activation_mode": "kNone",
    "conv_result_scale": 1,
    "side_input_scale": 0,
}
"""Fields of XLA's `GemmBackendConfig` and `CudnnConvBackendConfig`; a call without them only
multiplies."""
_FARTHEST = 8
"""Removed instructions that are looked behind."""


def taken_over(search: Search, node: Node, uses: Iterable[tuple[Node, int]]) -> Iterator[DoneBy]:
    """Yield which library call does the work of a removed node for a user, and what states it."""
    for user, position in uses:
        call = None if user.partner is None else read_at(search.after, user.partner, position)
        former = None if call is None else call.partner
        if call is None or former is None or not _leads_to(search, node, former):
            continue
        stated = _stated(call.instruction, former.instruction)
        if stated:
            words = f"%{call.instruction.name} does its work: {', '.join(stated)}"
            yield DoneBy(*place_of(call), words)


def _leads_to(search: Search, node: Node, product: Node) -> bool:
    """Return whether a removed node computes with a product, through other removed nodes."""

    def operands(reader: Node) -> list[Node]:
        return [operand for operand, _ in search.before.graph.operands(reader)]

    removed = reachable([node], lambda reader: filter(is_free, operands(reader)))
    return any(product in operands(reader) for reader in islice(removed, _FARTHEST))


def _stated(call: Instruction, former: Instruction) -> list[str]:
    """Return the fields in which a call's configuration differs from what it was: `beta 1`."""
    if family_of(call) != "product" or call.opcode != "custom-call":
        return []
    now, was = _fields(call), _fields(former)
    return [
        f"{name} {_value_text(now[name])}"
        for name, neutral in _NEUTRAL.items()
        if name in now and now[name] != was.get(name, neutral)
    ]


def _fields(line: Instruction) -> dict[str, object]:
    config = read_backend_config(line) if line.opcode == "custom-call" else None
    if not isinstance(config, dict):
        return {}
    held = next((config[part] for part in _PARTS if part in config), config)
    return held if isinstance(held, dict) else {}


def _value_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)[:40]
