"""A rule for constants that were applied in a row and became one: (x * 2) * 3 as x * 6."""

import math
from collections.abc import Hashable, Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.matching.search.nodes import is_free
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import sole_pairs

_PRODUCTS = frozenset({"divide", "multiply"})
_SUMS = frozenset({"add", "subtract"})
_INVERSE = frozenset({"divide", "subtract"})
"""Opcodes that apply the inverse of a constant, which is their second operand."""
_REPEATS = frozenset({"bitcast", "broadcast", "convert", "copy", "reshape"})
_MOST_MOVES = 4
_TWO = 2
"""Operands of an operation, one of them a constant; and the fewest that are gathered."""
_LONGEST = 16
"""Operations in a row, or digits and signs of a number."""
_TOLERANCE = 1e-2
"""Relative: bf16 has 8 bits, and the compiler rounds the constant that it makes."""


class _Run(Struct, frozen=True):
    """Operations in a row that each apply a constant, the last one first."""

    nodes: tuple[Node, ...]
    constants: tuple[tuple[Node, ...], ...]
    """The constant of each, behind what repeats it; the constant is the last."""
    total: float
    """The sum or the product of all constants."""
    key: Hashable
    """The place, the shape, sum or product, and the value to which they are applied."""


def gathered(search: Search) -> None:
    """Pair products with constants in a row, and sums, with the one that has all constants."""
    sides = search.before, search.after
    old, new = [[node for node in side.open() if _family(node)] for side in sides]
    if not (old and new):
        return
    search.evaluate()
    ours = ((run.key, run) for run in _runs(search.before, old))
    theirs = ((run.key, run) for run in _runs(search.after, new))
    for run, whole in sole_pairs(ours, theirs):
        if _is_gathered(run, whole):
            _combine(search, run, whole)


def _is_gathered(run: _Run, other: _Run) -> bool:
    same = math.isclose(run.total, other.total, rel_tol=_TOLERANCE)
    return same and len(other.nodes) == 1 and len(run.nodes) >= _TWO


def _combine(search: Search, run: _Run, other: _Run) -> None:
    """Pair the operations with the one, and what gave their constants with what gives its."""
    whole, count = other.nodes[0], len(run.nodes)
    every = "both" if count == _TWO else f"all {count}"
    reason = f"%{whole.instruction.name} applies {every} constants at once"
    search.combine(list(run.nodes), whole, Grade.MATCHED, reason)
    run.nodes[0].token = whole.token
    if len({*map(_opcodes, (*run.constants, *other.constants))}) != 1:
        return
    result = "product" if whole.instruction.opcode in _PRODUCTS else "sum"
    for level, giving in enumerate(other.constants[0]):
        given = list(dict.fromkeys(nodes[level] for nodes in run.constants))
        if is_free(giving) and all(map(is_free, given)):
            search.combine([*given], giving, Grade.MATCHED, f"the {result} of the constants")


def _opcodes(nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple(node.instruction.opcode for node in nodes)


_FAMILIES = {opcode: family for family in (_PRODUCTS, _SUMS) for opcode in family}


def _family(node: Node) -> frozenset[str]:
    return _FAMILIES.get(node.instruction.opcode, frozenset())


def _runs(side: Side, nodes: list[Node]) -> Iterator[_Run]:
    """Yield the longest runs of free operations with constants."""
    within = set[Node]()
    for node in reversed(nodes):
        if node not in within and is_free(node):
            run = _run(side, node)
            if run is not None:
                within.update(run.nodes)
                yield run


def _run(side: Side, last: Node) -> _Run | None:
    """Return the run that ends at a node; None where it applies no constant."""
    family, node = _family(last), last
    nodes, constants = list[Node](), list[tuple[Node, ...]]()
    total = neutral = 1.0 if family is _PRODUCTS else 0.0
    token = UNKNOWN
    for _ in range(_LONGEST):
        place, chain, number = _applied(side, node)
        if place < 0 or number in (0.0, neutral):  # with these, it is removed, not combined
            break
        total = _apply(total, number, node.instruction.opcode)
        nodes.append(node)
        constants.append(chain)
        operand, path = side.graph.operands(node)[1 - place]
        token = side.value_of((operand, path))
        alone = is_free(operand) and side.has_one_user(operand)
        if path or not alone or _family(operand) is not family:
            break
        node = operand
    if not nodes or token == UNKNOWN:
        return None
    key = last.frame.number, last.instruction.shape.text, family is _PRODUCTS, token
    return _Run(tuple(nodes), tuple(constants), total, key)


def _apply(total: float, number: float, opcode: str) -> float:
    if opcode in _PRODUCTS:
        return total / number if opcode in _INVERSE else total * number
    return total - number if opcode in _INVERSE else total + number


def _applied(side: Side, node: Node) -> tuple[int, tuple[Node, ...], float]:
    """Return the place of the only constant operand, what gives it, and the number; -1: none."""
    chains = [
        () if path else _constant(side, operand) for operand, path in side.graph.operands(node)
    ]
    places = [place for place, chain in enumerate(chains) if chain]
    if len(chains) != _TWO or len(places) != 1:
        return -1, (), 0.0
    [place] = places
    number = _finite_number(chains[place][-1].instruction.argument)
    if number is None or (node.instruction.opcode in _INVERSE and not place):
        return -1, (), 0.0
    return place, chains[place], number


def _constant(side: Side, node: Node) -> tuple[Node, ...]:
    """Return a node and what it repeats, down to a constant; empty if there is none."""
    chain = [node]
    for _ in range(_MOST_MOVES):
        line = chain[-1].instruction
        if line.opcode == "constant":
            return tuple(chain)
        operands = side.graph.operands(chain[-1])
        if line.opcode not in _REPEATS or len(operands) != 1 or operands[0][1]:
            break
        chain.append(operands[0][0])
    return ()


def _finite_number(text: str) -> float | None:
    """Return the finite number that a constant states; None of anything else."""
    if len(text) > _LONGEST or not text.isascii():
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
