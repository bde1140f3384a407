"""Links between modules: whose results are whose arguments.

A framework's graph proves them. Without one they are guessed from shapes and from the order in
which modules were compiled, which is the order of their first use; a guess is never shown as fact.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from xlareport.analysis.modules.autotuning_pieces import find_autotuning_pieces
from xlareport.analysis.modules.ports import Port, Ports, find_common_run, find_ports, remove_shapes
from xlareport.analysis.modules.processes import (
    Process,
    Processes,
    ranks_in_one_folder,
    select_programs,
)
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.readers.tf_graph import FrameworkGraph, GraphNode

_FAR = 200
"""How many modules back a producer is looked for."""

_DEEPEST = 10_000


@dataclass(frozen=True, slots=True)
class ModuleLink:
    """One module's results go into another one, or into its own next call."""

    source: str
    """Key of the module whose results they are."""
    target: str
    grade: Literal["exact", "guessed"]
    tensors: tuple[str, ...]
    """Their shapes, as far as they are known."""
    reason: str
    via: tuple[str, ...] = ()
    """Operations outside of XLA that some of the values pass through."""


def link_modules(
    summaries: Sequence[ModuleSummary],
    assigned: Processes,
    graphs: Sequence[FrameworkGraph] = (),
    orders: Sequence[Sequence[str]] = (),
) -> tuple[ModuleLink, ...]:
    """Return the links of a dump: the proven ones, else guesses; each pair of modules once.

    `orders` are the keys of what each process compiled, in order, where modules of several
    processes are one; `assigned` then has only the first of them.
    """
    proven = tuple(_proven(summaries, graphs))
    return proven or _each_once(_guessed(summaries, assigned, orders or _orders(assigned)))


def _proven(
    summaries: Sequence[ModuleSummary], graphs: Iterable[FrameworkGraph]
) -> Iterator[ModuleLink]:
    links: dict[tuple[str, str], ModuleLink] = {}
    for graph in graphs:
        compiled = {
            node.name: module
            for node in graph.nodes
            if node.unit and (module := _module_of(node.unit, summaries)) is not None
        }
        for source, target, via in _paths(graph, compiled):
            pair = source.files.key, target.files.key
            reason = f"the graph in {graph.path.rpartition('/')[2]} has this edge"
            link = ModuleLink(*pair, "exact", _common(source, target), reason, via)
            known = links.get(pair, link)
            links[pair] = replace(known, via=tuple(dict.fromkeys((*known.via, *via))))
    yield from links.values()


def _module_of(unit: str, summaries: Iterable[ModuleSummary]) -> ModuleSummary | None:
    """Return the module that a cluster or function became; TensorFlow appends to the name."""
    plain = unit.lstrip("_")
    names = (plain, plain.removeprefix("inference_"), f"a_{plain}")
    for summary in summaries:
        for name in names:
            rest = summary.display_name.removeprefix(name)
            if rest != summary.display_name and not rest[:1].isalnum():
                return summary
    return None


def _paths(
    graph: FrameworkGraph, compiled: dict[str, ModuleSummary]
) -> Iterator[tuple[ModuleSummary, ModuleSummary, tuple[str, ...]]]:
    """Walk back from each compiled node, through what stays outside, to other compiled ones.

    Through a variable a module can hand something to its own next call.
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
    stored: dict[str, list[GraphNode]] = defaultdict(list)
    for node in graph.nodes:
        if _writes(node):
            stored[node.inputs[0].partition(":")[0]].append(node)
    return stored


def _writes(node: GraphNode) -> bool:
    named = node.op.startswith("Assign") and node.op.endswith("VariableOp")
    return named and len(node.inputs) > 1


@dataclass(frozen=True, slots=True)
class _Walk:
    """A graph in which compiled nodes are looked for, from others backwards."""

    nodes: dict[str, GraphNode]
    compiled: dict[str, ModuleSummary]
    stored: dict[str, list[GraphNode]]

    def origins(self, node: GraphNode) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the compiled nodes whose values come to a node, with what they pass through."""
        read = node.inputs[1:] if _writes(node) else node.inputs
        waiting: list[tuple[str, tuple[str, ...]]] = [(name, ()) for name in read]
        seen: set[str] = set()
        while waiting and len(seen) < _DEEPEST:
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
        """Yield what comes to a node that stays outside: its inputs, and writes of a variable."""
        for name in outside.inputs:
            yield name, (outside.op, *via)
        for writer in self.stored.get(outside.name, ()):
            written = (writer.name,) if writer.name in self.compiled else writer.inputs[1:]
            yield from ((name, (_VARIABLE, *via)) for name in written)


def _common(source: ModuleSummary, target: ModuleSummary) -> tuple[str, ...]:
    taken = {argument.shape for argument in target.features.given.arguments}
    return tuple(result.shape for result in source.features.given.results if result.shape in taken)


def _each_once(links: Iterable[ModuleLink]) -> tuple[ModuleLink, ...]:
    """Put the links between two modules together, with the reason of the first."""
    pairs: dict[tuple[str, str], ModuleLink] = {}
    for link in links:
        pair = link.source, link.target
        known = pairs.get(pair)
        pairs[pair] = replace(known, tensors=known.tensors + link.tensors) if known else link
    return tuple(pairs.values())


def _orders(assigned: Processes) -> Sequence[Sequence[str]]:
    apart: dict[Process, list[str]] = defaultdict(list)
    for key, process in assigned.items():
        if process is not None:
            apart[process].append(key)
    return list(apart.values())


def _guessed(
    summaries: Sequence[ModuleSummary], assigned: Processes, orders: Sequence[Sequence[str]]
) -> Iterator[ModuleLink]:
    """Guess links, the modules of each process in the order in which they were compiled.

    What was cut out of another module is only compiled or timed; nothing is handed on to it. Of
    modules that several processes have, the links are those of the first of these.
    """
    pieces = find_autotuning_pieces(summaries)
    ports = {
        module.files.key: find_ports(module)
        for module in summaries
        if module.features.content and module.files.key not in pieces
    }
    seen: set[str] = set()
    for order in orders:
        modules = [ports[key] for key in order if key in ports]
        if all(module.key in seen for module in modules):
            continue
        for link in _of_process(modules):
            if link.source not in seen or link.target not in seen:
                yield link
        seen.update(module.key for module in modules)
    for members in ranks_in_one_folder(summaries, assigned).values():
        for link in _of_process([find_ports(module) for module in select_programs(members)]):
            yield replace(link, reason=f"{link.reason}; several ranks wrote into this folder")


def _of_process(modules: Sequence[Ports]) -> Iterator[ModuleLink]:
    used: set[tuple[str, str]] = set()
    for place, module in enumerate(modules):
        before = modules[max(0, place - _FAR) : place]
        wanted = list(module.arguments)
        own = find_common_run(module.results, wanted)
        if len(own) > 1 and 3 * len(own) >= len(wanted):
            reason = "it returns what it takes, in the same order: its next call takes its results"
            yield ModuleLink(module.key, module.key, "guessed", own, reason)
        bundle = _bundle(before, wanted)
        if bundle is not None:
            source, shapes = bundle
            reason = f"{len(shapes)} results in a row have the shapes of as many arguments in a row"
            yield ModuleLink(source, module.key, "guessed", shapes, reason)
            wanted = remove_shapes(wanted, shapes)
        yield from _singles(before, module, wanted, used)
        yield from _scalar(before, module)


def _bundle(before: Sequence[Ports], wanted: list[Port]) -> tuple[str, tuple[str, ...]] | None:
    """Return the last module before that makes several of the arguments in a row."""
    shapes = frozenset(port.shape for port in wanted)
    for source in reversed(before):
        if len(source.shapes & shapes) > 1:
            result = find_common_run(source.results, wanted)
            whole = 2 * len(result) >= min(len(source.results), len(wanted))
            if whole and len(set(result)) > 1:
                return source.key, result
    return None


def _singles(
    before: Sequence[Ports], target: Ports, wanted: Sequence[Port], used: set[tuple[str, str]]
) -> Iterator[ModuleLink]:
    """Link single arguments to the only module before that can have made them.

    Memory that was donated is gone; a result that was given on already is taken where nothing else
    returns its shape. The same function under another name is called beside it, not behind it.
    """
    for port in {port.shape: port for port in reversed(wanted)}.values():
        gone = _GONE + port.shape
        makers = [ports for ports in before if ports.makes(port) and (ports.key, gone) not in used]
        free = [maker for maker in makers if (maker.key, port.shape) not in used]
        only = makers if len(makers) == 1 else free
        if len(only) == 1 and only[0].content != target.content:
            used.add((only[0].key, port.shape))
            if port.donated:
                used.add((only[0].key, gone))
            yield ModuleLink(only[0].key, target.key, "guessed", (port.shape,), _only(makers))


_GONE = "donated "


def _only(makers: Sequence[Ports]) -> str:
    if len(makers) == 1:
        return "no other module before it returns this shape"
    return "no other module before it returns this shape without having given it on"


def _scalar(before: Sequence[Ports], target: Ports) -> Iterator[ModuleLink]:
    """Link a module that takes one number to the one right before that only casts or moves it."""
    if not before or len(target.scalars[0]) != 1 or target.arguments:
        return
    source = before[-1]
    if source.moves and source.scalars[1] == target.scalars[0] and not source.results:
        reason = "compiled right before it, it only casts or moves the one number that this takes"
        yield ModuleLink(source.key, target.key, "guessed", target.scalars[0], reason)
