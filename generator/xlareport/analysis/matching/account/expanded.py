"""Pairings of expanded instructions, which take the place of a removal and additions."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from xlareport.analysis.matching.account.expansions import expansions
from xlareport.analysis.matching.account.fused import ALONE
from xlareport.analysis.matching.account.repeated_parts import add_repeated_parts
from xlareport.analysis.matching.account.stack_expansions import stack_expansions
from xlareport.analysis.matching.account.words import in_halves
from xlareport.analysis.matching.search.nodes import place_of, read_at
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.reasons import Reason, WithUser
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.facts import called_by
from xlareport.analysis.matching.sides.graph import Node
from xlareport.analysis.matching.sides.parameters import is_part
from xlareport.hlo.opcode_groups import PLAIN
from xlareport.knowledge.grades import Grade, weakest
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable
from xlareport.runtime.grouping import group_by_key

_EXPANDABLE = frozenset({Relation.REMOVED, Relation.REPLACED})


def with_expansions(
    search: Search, pairings: Sequence[Pairing], partner: Mapping[Place, Pairing]
) -> list[Pairing]:
    """Merge the pairings of an expanded instruction and of those that replace it.

    `partner` are the pairings of old instructions that have a counterpart.
    """
    gone = _by_node(search.before.open(), pairings, Relation.REMOVED)
    new = _by_node(search.after.open(), pairings, Relation.ADDED)
    if not new:
        return [*pairings]
    expanded: set[int] = set()
    halves: dict[Node, Collection[Node]] = {}
    for split in in_halves(search, new):
        known = gone.get(split.node) or partner.get(place_of(split.node))
        halves[split.node] = nodes = (split.result, *split.parts)
        _expand(known, nodes, split.reason, new, expanded)
        for reader in split.readers:
            _remove(partner[place_of(reader)], split.node)
    new = {node: pairing for node, pairing in new.items() if id(pairing) not in expanded}
    homes = group_by_key((node.frame.computation.name, node) for node in new)
    for node, result, parts in expansions(search, gone, new, halves):
        if any(id(new[part]) in expanded for part in (result, *parts) if part in new):
            continue
        known = gone.get(node) or partner.get(place_of(node))
        if _is_scattered(node) or _is_scattered(read_at(search.before, node, 0)):
            continue
        if known is not None and known.relation in _EXPANDABLE and _is_of_one(known):
            nodes = (result, *parts, *_in_loops(search, (result, *parts), homes))
            itself = _itself(node, nodes)
            if itself in new:
                former, place = known.after, place_of(itself)
                _go_on(known, place)
                if former:
                    new[itself].after = former
                    new[itself].reason = f"it gives the result of %{node.instruction.name}"
                else:
                    expanded.add(id(new[itself]))
            else:
                _expand(known, nodes, _reason(nodes), new, expanded)
    new = {node: pairing for node, pairing in new.items() if id(pairing) not in expanded}
    for node, nodes in stack_expansions(search, gone, new):
        if gone[node].relation is Relation.REMOVED:
            _expand(gone[node], nodes, _reason(nodes), new, expanded)
    new = {node: pairing for node, pairing in new.items() if id(pairing) not in expanded}
    repeated = add_repeated_parts(search, new, (*pairings, *partner.values()))
    expanded.update(map(id, repeated))
    rest = [pairing for pairing in pairings if id(pairing) not in expanded]
    _name_expanded_users(rest, (*rest, *partner.values()))
    return rest


def _is_scattered(node: Node | None) -> bool:
    """Return whether a node is an all-reduce that became a reduce-scatter, with moves around it.

    It was not expanded into these, nor was the slice that took a device's share of its result.
    """
    partner = None if node is None else node.partner
    became = "" if partner is None else partner.instruction.opcode
    return node is not None and (node.instruction.opcode, became) == _SCATTERED


_SCATTERED = ("all-reduce", "reduce-scatter")


def _name_expanded_users(pairings: Iterable[Pairing], every: Iterable[Pairing]) -> None:
    """Let what was removed with a user that was expanded say so."""
    places = {pairing.before[0] for pairing in every if pairing.relation is Relation.EXPANDED}
    for pairing in pairings if places else ():
        reason = pairing.reason
        if isinstance(reason, WithUser):
            user = Place(pairing.before[0].computation, reason.user)
            pairing.reason = replace(reason, is_expanded=user in places)


def _is_of_one(pairing: Pairing) -> bool:
    """Return whether a pairing is of one instruction, which has one counterpart at most."""
    return len(pairing.before) == 1 and len(pairing.after) <= 1


def _expand(
    pairing: Pairing | None,
    nodes: Sequence[Node],
    reason: Reason,
    new: Mapping[Node, Pairing],
    expanded: set[int],
) -> None:
    """Let a pairing say that its instruction became nodes, of which the first is its result."""
    if pairing is None or not _is_of_one(pairing):
        return
    places = dict.fromkeys(map(place_of, nodes))
    expanded.update(id(new[node]) for node in nodes if node in new)
    pairing.after = tuple(places)
    pairing.relation = Relation.EXPANDED if len(places) > 1 else Relation.REPLACED
    pairing.grade = weakest((pairing.grade, Grade.MATCHED))
    pairing.reason = reason


def _in_loops(
    search: Search, parts: Iterable[Node], homes: Mapping[str, Sequence[Node]]
) -> Iterator[Node]:
    """Yield what is new in the new bodies and conditions of the loops among parts, by `homes`."""
    lines = (part.instruction for part in parts if part.instruction.opcode == "while")
    called = [name for line in lines for _, name in line.called]
    module, known = search.after.graph.module, search.computations.partners
    for name in reachable(
        [name for name in called if name not in known], partial(called_by, module)
    ):
        yield from homes.get(name, ())


_AROUND = PLAIN | {"convert"}
"""Opcodes of what a pass puts around work that it does in another type."""


def _itself(node: Node, parts: Sequence[Node]) -> Node | None:
    """Return the part that does what a node did, or a device's share: alone with its opcode.

    It stayed, between converts of a pass that computes in another type, and was not expanded.
    """
    line = node.instruction
    alike = [part for part in parts if part.instruction.opcode == line.opcode]
    others = {part.instruction.opcode for part in parts} - {line.opcode}
    if not others <= _AROUND:
        return None
    shares = [part for part in alike if is_part(line.shape, part.instruction.shape)]
    return shares[0] if len(alike) == len(shares) == 1 and not line.shape.elements else None


def _go_on(pairing: Pairing, place: Place) -> None:
    """Let a pairing say that its instruction goes on, with converts around it."""
    pairing.after, pairing.relation = (place,), Relation.SAME
    pairing.grade = weakest((pairing.grade, Grade.MATCHED))
    pairing.reason = ALONE


def _remove(pairing: Pairing, whole: Node) -> None:
    """Let the pairing of what took a part of a complex value say that it is gone."""
    pairing.reason = f"%{pairing.after[0].instruction} gives this part of %{whole.instruction.name}"
    pairing.after, pairing.relation = (), Relation.REMOVED


def _reason(nodes: Sequence[Node]) -> str:
    count = len({*map(place_of, nodes)})
    return f"into {units.plural(count, 'instruction')}"


def _by_node(
    nodes: Iterable[Node], pairings: Iterable[Pairing], relation: Relation
) -> Mapping[Node, Pairing]:
    """Return the pairings of the nodes that are only known to be removed or added."""
    known = {
        (pairing.before or pairing.after)[0]: pairing
        for pairing in pairings
        if pairing.relation is relation and pairing.cause is None
    }
    places = ((node, place_of(node)) for node in nodes)
    return {node: known[place] for node, place in places if place in known}
