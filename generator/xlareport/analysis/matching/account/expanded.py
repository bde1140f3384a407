"""Pairings of expanded instructions, which take the place of a removal and additions."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    changes = _Changes(search, gone, new, partner)
    _expand_values(changes, _expand_halves(changes))
    _expand_stacks(changes)
    repeated = add_repeated_parts(search, changes.left, (*pairings, *partner.values()))
    changes.expanded.update(map(id, repeated))
    rest = [pairing for pairing in pairings if id(pairing) not in changes.expanded]
    _name_expanded_users(rest, (*rest, *partner.values()))
    return rest


@dataclass(frozen=True)
class _Changes:
    """Pairings of nodes removed (`gone`), added (`new`), and of places with a counterpart.

    `expanded` are the identities of those of new nodes that belong to what was expanded.
    """

    search: Search
    gone: Mapping[Node, Pairing]
    new: Mapping[Node, Pairing]
    partner: Mapping[Place, Pairing]
    expanded: set[int] = field(default_factory=set)

    @property
    def left(self) -> dict[Node, Pairing]:
        """The new nodes that belong to nothing expanded."""
        new = self.new.items()
        return {node: pairing for node, pairing in new if id(pairing) not in self.expanded}

    def pairing_of(self, node: Node) -> Pairing | None:
        """Return the pairing of an old node."""
        return self.gone.get(node) or self.partner.get(place_of(node))

    def expand(self, pairing: Pairing | None, nodes: Sequence[Node], reason: Reason) -> None:
        """Let a pairing say that its instruction became nodes, of which the first is its result."""
        if pairing is None or not _is_of_one(pairing):
            return
        places = dict.fromkeys(map(place_of, nodes))
        self.expanded.update(id(self.new[node]) for node in nodes if node in self.new)
        pairing.after = tuple(places)
        pairing.relation = Relation.EXPANDED if len(places) > 1 else Relation.REPLACED
        pairing.grade = weakest((pairing.grade, Grade.MATCHED))
        pairing.reason = reason


def _expand_halves(changes: _Changes) -> Mapping[Node, Collection[Node]]:
    """Expand complex values into their halves; return what they were expanded into."""
    halves: dict[Node, Collection[Node]] = {}
    for split in in_halves(changes.search, changes.new):
        halves[split.node] = nodes = (split.result, *split.parts)
        changes.expand(changes.pairing_of(split.node), nodes, split.reason)
        for reader in split.readers:
            _remove(changes.partner[place_of(reader)], split.node)
    return halves


def _expand_values(changes: _Changes, halves: Mapping[Node, Collection[Node]]) -> None:
    """Expand what was removed or replaced into the new instructions that give its value."""
    search, new = changes.search, changes.left
    homes = group_by_key((node.frame.computation.name, node) for node in new)
    for node, result, parts in expansions(search, changes.gone, new, halves):
        if any(id(new[part]) in changes.expanded for part in (result, *parts) if part in new):
            continue
        known = changes.pairing_of(node)
        if _is_scattered(node) or _is_scattered(read_at(search.before, node, 0)):
            continue
        if known is not None and known.relation in _EXPANDABLE and _is_of_one(known):
            nodes = (result, *parts, *_in_loops(search, (result, *parts), homes))
            _expand_or_keep(changes, node, known, nodes)


def _expand_or_keep(changes: _Changes, node: Node, known: Pairing, nodes: Sequence[Node]) -> None:
    """Expand a node into nodes; if one of them does what it did, let it go on as that one."""
    itself = _itself(node, nodes)
    if itself is None or itself not in changes.new:
        changes.expand(known, nodes, _reason(nodes))
        return
    former, place = known.after, place_of(itself)
    _go_on(known, place)
    if former:
        changes.new[itself].after = former
        changes.new[itself].reason = f"it gives the result of %{node.instruction.name}"
    else:
        changes.expanded.add(id(changes.new[itself]))


def _expand_stacks(changes: _Changes) -> None:
    """Expand what is still removed into the new instructions of its op_name and Python stack."""
    for node, nodes in stack_expansions(changes.search, changes.gone, changes.left):
        if changes.gone[node].relation is Relation.REMOVED:
            changes.expand(changes.gone[node], nodes, _reason(nodes))


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
