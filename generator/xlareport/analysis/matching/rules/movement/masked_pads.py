"""A rule for slices or pads that were padded, and became a select by a mask.

`pad(slice(x), v)` that puts the part where it was is `select(mask, x, broadcast(v))`, and
`pad(pad(x, u), v)` is `select(mask, pad(x, u), broadcast(v))` with one pad.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from xlareport.analysis.matching.search.nodes import is_free, node_after, read_at, same_shape
from xlareport.analysis.matching.search.reasons import Masked, PaddedOnce
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, NodeElement
from xlareport.analysis.matching.sides.side import Side
from xlareport.hlo.opcode_groups import SAME_ORDER
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_LIMITS = re.compile(r"\[(\d{1,18}):(\d{1,18})(?::(\d{1,18}))?\]")
_PADDING = re.compile(r"(-?\d{1,18})_(-?\d{1,18})(?:_(\d{1,18}))?")
_MOST_MOVES = 4
_OPERANDS = 3
_Key: TypeAlias = tuple[Node | None, tuple[int, ...], Node | None]
"""A value, the element of it that is masked, and the scalar beside it."""
_Padding: TypeAlias = tuple[Node | None, Node | None, Node | None]
"""What is padded, and the scalars that it is padded with, the inner first."""


def masked(search: Search) -> None:
    """Pair a pad of a slice or a pad with the new select that takes the same part of a value."""
    pads = [node for node in search.before.open() if node.instruction.opcode == "pad"]
    if not pads:
        return
    search.evaluate()
    masks = [*_masks(search)]
    _of_pads(search, pads, [(key[0], node) for key, node in masks])
    selects = group_by_key(masks)
    for pad in pads:
        cut, filled = _cut(search.before, pad), read_at(search.before, pad, 1)
        if cut is None or filled is None or not is_free(pad):
            continue
        now, fill = node_after(search, cut[1][0]), node_after(search, filled)
        known = selects.get((now, cut[1][1], fill), ())
        alike = [node for node in known if is_free(node) and same_shape(search, pad, node)]
        if len(alike) == 1:
            search.link(pad, alike[0], Grade.MATCHED, Masked(cut[0].instruction.name))


def _of_pads(search: Search, pads: list[Node], masks: list[tuple[Node | None, Node]]) -> None:
    """Pair a pad of a pad with the select by a mask of the only pad that there is now."""
    once = group_by_key(
        (key, (value, select))
        for value, select in masks
        if value is not None and (key := _padding_by_mask(search, value, select)) is not None
    )
    for pad in pads if once else ():
        inner = read_at(search.before, pad, 0)
        if inner is None or inner.instruction.opcode != "pad" or not is_free(pad):
            continue
        source, scalar = (_after(search, node) for node in _operands(search.before, inner))
        key = source, scalar, _after(search, read_at(search.before, pad, 1))
        known = once.get(key, ())
        alike = [pair for pair in known if is_free(pair[1]) and same_shape(search, pad, pair[1])]
        if len(alike) == 1:
            ((value, select),) = alike
            search.link(pad, select, Grade.MATCHED, PaddedOnce(value.instruction.name))


def _padding_by_mask(search: Search, value: Node, select: Node) -> _Padding | None:
    """Return what a new pad reads, and the scalar that a select puts beside it; None of others."""
    if value.instruction.opcode != "pad" or not is_free(value):
        return None
    others = [node for node, _ in search.after.graph.operands(select)[1:] if node is not value]
    fill = read_at(search.after, others[0], 0) if others else None
    source, scalar = _operands(search.after, value)
    return (source, scalar, fill) if None not in (source, scalar, fill) else None


def _after(search: Search, node: Node | None) -> Node | None:
    return None if node is None else node_after(search, node)


def _operands(side: Side, pad: Node) -> tuple[Node | None, Node | None]:
    """Return what a pad reads, and the scalar that it is padded with."""
    return read_at(side, pad, 0), read_at(side, pad, 1)


def _masks(search: Search) -> Iterator[tuple[_Key, Node]]:
    """Yield the new selects between a value and a repeated scalar, with both as key."""
    graph = search.after.graph
    for node in search.after.open():
        operands = graph.operands(node) if node.instruction.opcode == "select" else ()
        for value, other in (operands[1:3], operands[:0:-1]) if len(operands) == _OPERANDS else ():
            fill = read_at(search.after, other[0], 0)
            if other[0].instruction.opcode == "broadcast" and fill is not None:
                yield (*value, fill), node


def _cut(side: Side, pad: Node) -> tuple[Node, NodeElement] | None:
    """Return the slice that a pad reads, with the value that is sliced, if it pads what was cut.

    Reshapes and transposes that move nothing are looked through. None of other pads.
    """
    node = read_at(side, pad, 0)
    for _ in range(_MOST_MOVES):
        if node is None or not _keeps_places(side, node):
            break
        node = read_at(side, node, 0)
    operands = side.graph.operands(node) if node is not None else ()
    if node is None or node.instruction.opcode != "slice" or not operands:
        return None
    sizes = operands[0][0].instruction.shape.dimensions
    limits = _LIMITS.findall(node.instruction.attributes.get("slice", ""))
    sides = _PADDING.findall(pad.instruction.attributes.get("padding", ""))
    if operands[0][1] or not len(limits) == len(sides) == len(sizes):
        return None
    is_put_back = all(
        stride in ("", "1") and inner in ("", "0") and low == start and int(end) + int(high) == size
        for (start, end, stride), (low, high, inner), size in zip(limits, sides, sizes, strict=True)
    )
    return (node, operands[0]) if is_put_back else None


def _keeps_places(side: Side, node: Node) -> bool:
    """Return whether a node gives its operand with the same dimensions, each where it was."""
    line, read = node.instruction, read_at(side, node, 0)
    if read is None or read.instruction.shape.dimensions != line.shape.dimensions:
        return False
    order = ",".join(map(str, range(len(line.shape.dimensions))))
    is_turned = line.opcode == "transpose" and line.attributes.get("dimensions") != f"{{{order}}}"
    return line.opcode in SAME_ORDER | {"copy", "transpose"} and not is_turned
