"""The uses between drawn instructions, and stretches of labels without cycles.

A label (a phase, a layer, a source line) may occur before and after another one: values then go in
both directions between the two. Such a label is split into stretches, so that the values between
any two of them go in one direction only.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeVar

from msgspec import Struct

from xlareport.hlo.graph import control_predecessors
from xlareport.hlo.model import Instruction
from xlareport.pictures.boxless_instructions import Folding
from xlareport.runtime.graphs import forest, postorder
from xlareport.runtime.grouping import group_by_key

N = TypeVar("N", bound=Hashable)

_LONGEST_WAY = 100
"""Elements of elements of tuples; a text that names itself ends there."""


class ValueFlow:
    """The uses between the drawn instructions of one computation, and their file positions."""

    def __init__(self, folding: Folding) -> None:
        self._folding = folding
        self.places = {
            instruction.name: at for at, instruction in enumerate(folding.computation.instructions)
        }
        self._sources: dict[str, tuple[str, ...]] = {}

    def sources(self, name: str) -> tuple[str, ...]:
        """Return the drawn instructions above an instruction in the file that it uses or waits for.

        Those below are left out: a text in which values use one another in a cycle has no order.
        """
        if name not in self._sources:
            instruction = self._folding.computation.by_name[name]
            used = (*instruction.operand_names, *_waited_for(instruction))
            drawn = dict.fromkeys(map(self._drawn, used))
            self._sources[name] = tuple(self._above(name, drawn))
        return self._sources[name]

    def _above(self, name: str, others: Iterable[str | None]) -> Iterator[str]:
        place = self.places[name]
        return (other for other in others if other and self.places.get(other, place) < place)

    def _drawn(self, operand: str) -> str | None:
        elements = self._folding.elements
        for _ in range(_LONGEST_WAY):
            if operand not in elements:
                break
            operand = elements[operand].partition("#")[0]
        return None if self._folding.is_folded(operand) else operand


def _waited_for(instruction: Instruction) -> Iterable[str]:
    if "control-predecessors" not in instruction.attributes_text:
        return ()
    return control_predecessors(instruction)


Label = Hashable
"""The key by which instructions are grouped."""


class Stretch(NamedTuple):
    """Instructions with one label; values between two stretches go in one direction only."""

    label: Label
    number: int
    """Counted from 1; more than 1 only where the label had to be split."""


def quotient(
    names: Iterable[str], label: Mapping[str, N], flow: ValueFlow
) -> Mapping[N, Mapping[N, None]]:
    """Return which labels use which, by the label that makes the values."""
    edges: dict[N, dict[N, None]] = {label[name]: {} for name in names}
    for name, own in label.items():
        for source in flow.sources(name):
            if label.get(source, own) != own:
                edges[label[source]][own] = None
    return edges


def components(edges: Mapping[N, Iterable[N]]) -> Iterator[list[N]]:
    """Yield the strongly connected components, those that use others after them (Kosaraju)."""
    back: dict[N, list[N]] = {node: [] for node in edges}
    for node, others in edges.items():
        for other in others:
            back[other].append(node)
    finished = list(postorder(edges, edges.__getitem__))
    return forest(reversed(finished), back.__getitem__)


class _Cycle(Struct, frozen=True):
    """Labels between which values go in circles."""

    number: int
    labels: frozenset[Label]


def find_cycles(edges: Mapping[N, Iterable[N]]) -> Mapping[Label, _Cycle]:
    """Return, by its label, the cycle that each is in; empty where there is none."""
    cycles = (
        _Cycle(number, frozenset(component))
        for number, component in enumerate(components(edges))
        if len(component) > 1
    )
    return {label: cycle for cycle in cycles for label in cycle.labels}


def join(
    names: Sequence[str],
    label: Callable[[str], str | None],
    family: Callable[[str], str],
    flow: ValueFlow,
) -> Mapping[str, str]:
    """Return the label of each instruction that has one.

    An instruction without a label that is between others of one cycle takes the label of the last
    of them that it uses, else of the first that uses it: an addition between two layers belongs to
    the first. `names` are in file order; labels of one `family` count as one.
    """
    labels = {name: word for name in names if (word := label(name)) is not None}
    cycles = find_cycles(quotient(names, _nodes(names, labels, family), flow))
    within = [name for name in names if name not in labels and ("", name) in cycles]
    for name in within:
        mine = cycles["", name].labels
        sources = [source for source in flow.sources(name) if source in labels]
        near = [source for source in sources if _node(source, labels, family) in mine]
        if near:
            labels[name] = labels[max(near, key=flow.places.__getitem__)]
    _join_first_user([name for name in within if name not in labels], names, labels, flow)
    return labels


def _join_first_user(
    left: Iterable[str], names: Iterable[str], labels: dict[str, str], flow: ValueFlow
) -> None:
    users: dict[str, str] = {}
    for name in names:
        for source in flow.sources(name):
            users.setdefault(source, name)
    for name in reversed([*left]):
        word = labels.get(users.get(name, ""))
        if word is not None:
            labels[name] = word


def _node(name: str, labels: Mapping[str, str], family: Callable[[str], str]) -> Label:
    return family(labels[name]) if name in labels else ("", name)


def _nodes(
    names: Iterable[str], labels: Mapping[str, str], family: Callable[[str], str]
) -> Mapping[str, Label]:
    return {name: _node(name, labels, family) for name in names}


def split(
    names: Sequence[str], label: Mapping[str, Label], flow: ValueFlow
) -> Mapping[str, Stretch]:
    """Return the stretch of each instruction; a label without a cycle is one stretch.

    Within a cycle, the labels are ordered by their mean positions in the file. A value against that
    order begins the next stretch of its user.
    """
    cycles = find_cycles(quotient(names, label, flow))
    rank = _mean_places(names, label, flow) if cycles else {}
    number: dict[str, int] = {}
    for name in names:
        own = label[name]
        cycle = cycles.get(own)
        number[name] = 1
        if cycle is None:
            continue
        for source in flow.sources(name):
            if label.get(source) in cycle.labels:
                against = rank[label[source]] > rank[own]
                number[name] = max(number[name], number[source] + against)
    return {name: Stretch(label[name], number[name]) for name in names}


def _mean_places(
    names: Iterable[str], label: Mapping[str, Label], flow: ValueFlow
) -> Mapping[Label, tuple[float, str]]:
    """Return the sort keys of the labels; all are different."""
    places = group_by_key((label[name], flow.places[name]) for name in names)
    return {item: (sum(at) / len(at), str(item)) for item, at in places.items()}


def in_order(
    count: int, first: Callable[[int], int], edges: Mapping[int, Iterable[int]]
) -> list[int]:
    """Return the numbers up to `count`, what uses others after them, else by their `first`."""
    waiting = [0] * count
    for others in edges.values():
        for other in others:
            waiting[other] += 1
    ready = [(first(place), place) for place in range(count) if not waiting[place]]
    heapify(ready)
    result: list[int] = []
    while ready:
        _, node = heappop(ready)
        result.append(node)
        for other in edges.get(node, ()):
            waiting[other] -= 1
            if not waiting[other]:
                heappush(ready, (first(other), other))
    return result
