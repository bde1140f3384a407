"""Links between modules: results of one that are arguments of another.

A framework's graph proves them. Without one they are guessed from shapes and from the order of
compilation, which is the order of first use; a guess is never shown as a fact.
"""

from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.modules.autotuning_pieces import find_autotuning_pieces
from xlareport.analysis.modules.ports import Port, Ports, find_common_run, find_ports, remove_shapes
from xlareport.analysis.modules.processes import (
    Processes,
    places_of,
    ranks_in_one_folder,
    select_programs,
)
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.readers.tf_graph import FrameworkGraph, GraphNode
from xlareport.runtime.grouping import group_by_key

_FAR = 200
"""How many modules back a producer is looked for."""

_MOST_NODES = 10_000
_IN_A_ROW = 2
"""Shapes of a bundle of results at least."""


class ModuleLink(Struct, frozen=True):
    """Results of one module are arguments of another module, or of its own next call."""

    source: str
    """Key of the module with the results."""
    target: str
    grade: Literal["exact", "guessed"]
    tensors: tuple[str, ...]
    """Their shapes, as far as they are known."""
    reason: str
    via: tuple[str, ...] = ()
    """Operations outside of XLA that some of the values pass through."""

    @property
    def ends(self) -> tuple[str, str]:
        """Its source and its target."""
        return self.source, self.target


def link_modules(
    summaries: Sequence[ModuleSummary],
    assigned: Processes,
    graphs: Sequence[FrameworkGraph] = (),
    orders: Sequence[Sequence[str]] = (),
    keep: Callable[[Iterable[ModuleLink]], Any] = tuple,
) -> Any:
    """Return the links of a dump: proven ones, else guesses; each pair of modules once.

    `orders` are the keys of the modules that each process compiled, in order, where equal modules
    of several processes are merged; `assigned` then has only the first of them. `keep` converts the
    guessed links, for example to a sequence.
    """
    proven = tuple(_proven(summaries, graphs)) if graphs else ()
    if proven:
        return proven
    return keep(_each_once(_guessed(summaries, assigned, orders or _orders(assigned))))


def _proven(
    summaries: Sequence[ModuleSummary], graphs: Iterable[FrameworkGraph]
) -> Iterator[ModuleLink]:
    links: dict[tuple[str, str], ModuleLink] = {}
    names = [summary.display_name for summary in summaries]
    modules: dict[int, ModuleSummary] = {}
    for graph in graphs:
        units = {node.unit for node in graph.nodes if node.unit}
        places = {unit: place for unit in units if (place := _place_of(unit, names)) is not None}
        for place in places.values():
            modules.setdefault(place, summaries[place])
        compiled = {
            node.name: modules[places[node.unit]] for node in graph.nodes if node.unit in places
        }
        for source, target, via in _paths(graph, compiled):
            pair = source.files.key, target.files.key
            reason = f"the graph in {graph.path.rpartition('/')[2]} has this edge"
            link = ModuleLink(*pair, "exact", _common(source, target), reason, via)
            former = links.get(pair, link)
            links[pair] = replace(former, via=tuple(dict.fromkeys((*former.via, *via))))
    yield from links.values()


def _place_of(unit: str, modules: Iterable[str]) -> int | None:
    """Return which of some modules a cluster or function became; TensorFlow appends to the name."""
    plain = unit.lstrip("_")
    names = (plain, plain.removeprefix("inference_"), f"a_{plain}")
    for place, module in enumerate(modules):
        for name in names:
            suffix = module.removeprefix(name)
            if suffix != module and not suffix[:1].isalnum():
                return place
    return None


def _paths(
    graph: FrameworkGraph, compiled: dict[str, ModuleSummary]
) -> Iterator[tuple[ModuleSummary, ModuleSummary, tuple[str, ...]]]:
    """Yield pairs of linked modules, searching backward from each compiled node.

    Through a variable, a module can pass a value to its own next call.
    """
    walk = _Walk({node.name: node for node in graph.nodes}, compiled, _stored(graph))
    for node in graph.nodes:
        target = compiled.get(node.name)
        if target is not None:
            for origin, via in walk.origins(node):
                if compiled[origin] is not target or _VARIABLE in via:
                    yield compiled[origin], target, via


_VARIABLE = "variable"


def _stored(graph: FrameworkGraph) -> dict[str, list[GraphNode]]:
    """Return the nodes that write a variable by the name of its handle, their first input."""
    return group_by_key(
        (node.inputs[0].partition(":")[0], node) for node in graph.nodes if _writes(node)
    )


def _writes(node: GraphNode) -> bool:
    named = node.op.startswith("Assign") and node.op.endswith("VariableOp")
    return named and len(node.inputs) > 1


class _Walk(Struct, frozen=True):
    """A graph that is searched backward for compiled nodes."""

    nodes: dict[str, GraphNode]
    compiled: dict[str, ModuleSummary]
    stored: dict[str, list[GraphNode]]

    def origins(self, node: GraphNode) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the compiled nodes whose values reach a node, with the operations in between."""
        read = node.inputs[1:] if _writes(node) else node.inputs
        waiting: list[tuple[str, tuple[str, ...]]] = [(name, ()) for name in read]
        seen: set[str] = set()
        while waiting and len(seen) < _MOST_NODES:
            name, via = waiting.pop()
            name = name.partition(":")[0]
            if name in self.compiled:
                yield name, via
            elif name in self.nodes and name not in seen:
                seen.add(name)
                waiting += self._before(self.nodes[name], via)

    def _before(
        self, outside: GraphNode, via: tuple[str, ...]
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the inputs of a node outside of modules, including writes of a variable."""
        for name in outside.inputs:
            yield name, (outside.op, *via)
        for writer in self.stored.get(outside.name, ()):
            written = (writer.name,) if writer.name in self.compiled else writer.inputs[1:]
            yield from ((name, (_VARIABLE, *via)) for name in written)


def _common(source: ModuleSummary, target: ModuleSummary) -> tuple[str, ...]:
    taken = {argument.shape for argument in target.features.given.arguments}
    return tuple(result.shape for result in source.features.given.results if result.shape in taken)


def _each_once(links: Iterable[ModuleLink]) -> Iterator[ModuleLink]:
    """Yield the links with those between the same two modules merged, with the first reason.

    The input is grouped by target, and a pair of modules occurs in one process only.
    """
    for _, some in groupby(links, key=lambda link: link.target):
        pairs: dict[str, ModuleLink] = {}
        for link in some:
            former = pairs.get(link.source)
            pairs[link.source] = (
                replace(former, tensors=former.tensors + link.tensors) if former else link
            )
        yield from pairs.values()


def _orders(assigned: Processes) -> Sequence[Sequence[str]]:
    apart = group_by_key((process, key) for key, process in assigned.items() if process is not None)
    return list(apart.values())


def _guessed(
    summaries: Sequence[ModuleSummary], assigned: Processes, orders: Sequence[Sequence[str]]
) -> Iterator[ModuleLink]:
    """Yield guessed links between the modules of each process, in order of compilation.

    Modules cut out of others are only compiled or timed; no results are passed to them. For modules
    that several processes have, the links are those of the first process.
    """
    pieces, places = find_autotuning_pieces(summaries), places_of(summaries)
    has_ports = bytearray(
        bool(summary.features.content) and summary not in pieces for summary in summaries
    )
    seen = bytearray(len(summaries))
    for order in orders:
        mine = array(
            "q", (places[key] for key in order if key in places and has_ports[places[key]])
        )
        if all(seen[place] for place in mine):
            continue
        for link in _of_process(find_ports(summaries[place]) for place in mine):
            if not (seen[places[link.source]] and seen[places[link.target]]):
                yield link
        for place in mine:
            seen[place] = True
    for members in ranks_in_one_folder(summaries, assigned).values():
        for link in _of_process(map(find_ports, select_programs(members))):
            yield replace(link, reason=f"{link.reason}; several ranks wrote into this folder")


def _of_process(modules: Iterable[Ports]) -> Iterator[ModuleLink]:
    before: deque[Ports] = deque(maxlen=_FAR)
    used: dict[str, set[str]] = {}
    """Of the modules before by their keys the shapes that they have given on."""
    for module in modules:
        wanted = list(module.arguments)
        common = find_common_run(module.results, wanted)
        if len(common) > 1 and 3 * len(common) >= len(wanted):
            matched = f"{len(common):,} of its outputs, without scalars, match inputs, in order"
            reason = f"{matched}: the next call takes these results"
            yield ModuleLink(module.key, module.key, "guessed", common, reason)
        bundle = _bundle(before, wanted)
        if bundle is not None:
            source, shapes = bundle
            reason = f"{len(shapes)} results in a row have the shapes of as many arguments in a row"
            yield ModuleLink(source, module.key, "guessed", shapes, reason)
            wanted = remove_shapes(wanted, shapes)
        yield from _singles(before, module, wanted, used)
        yield from _scalar(before, module)
        if len(before) == _FAR:
            used.pop(before[0].key, None)
        before.append(module)


def _bundle(before: deque[Ports], wanted: list[Port]) -> tuple[str, tuple[str, ...]] | None:
    """Return the last module before that makes several of the arguments in a row."""
    shapes = frozenset(port.shape for port in wanted)
    if len(shapes) < _IN_A_ROW:
        return None
    for source in reversed(before):
        if len(source.shapes & shapes) >= _IN_A_ROW:
            common = find_common_run(source.results, wanted)
            whole = 2 * len(common) >= min(len(source.results), len(wanted))
            if whole and len(set(common)) >= _IN_A_ROW:
                return source.key, common
    return None


def _singles(
    before: deque[Ports], target: Ports, wanted: Sequence[Port], used: dict[str, set[str]]
) -> Iterator[ModuleLink]:
    """Yield links of single arguments to the only earlier module that can have made them.

    Donated memory is no longer available; a result that was passed on already counts only if
    nothing else returns its shape. The same function under another name is called in parallel, not
    afterwards.
    """
    for port in {port.shape: port for port in reversed(wanted)}.values():
        gone = _GONE + port.shape
        makers, free = _makers(before, port, used)
        only = makers if len(makers) == 1 else free
        if len(only) == 1 and only[0].content != target.content:
            used.setdefault(only[0].key, set()).add(port.shape)
            if port.donated:
                used[only[0].key].add(gone)
            yield ModuleLink(only[0].key, target.key, "guessed", (port.shape,), _only(makers))


_GONE = "donated "


def _makers(
    before: Iterable[Ports], port: Port, used: Mapping[str, Collection[str]]
) -> tuple[list[Ports], list[Ports]]:
    """Return the modules that can have made an argument, and those that have not given it on.

    Of each only the first two: there is one, or there are several.
    """
    makers: list[Ports] = []
    free: list[Ports] = []
    for ports in before:
        given = used.get(ports.key, ())
        if _GONE + port.shape not in given and ports.makes(port):
            makers.append(ports)
            if port.shape not in given:
                free.append(ports)
            if len(free) > 1:
                break
    return makers, free


def _only(makers: Sequence[Ports]) -> str:
    if len(makers) == 1:
        return "no other module before it returns this shape"
    return "no other module before it returns this shape without having given it on"


def _scalar(before: deque[Ports], target: Ports) -> Iterator[ModuleLink]:
    """Link a module that takes one number to the one right before that only casts or moves it."""
    if not before or len(target.scalars[0]) != 1 or target.arguments:
        return
    source = before[-1]
    if source.moves and source.scalars[1] == target.scalars[0] and not source.results:
        reason = "compiled right before it, it only casts or moves the one number that this takes"
        yield ModuleLink(source.key, target.key, "guessed", target.scalars[0], reason)
