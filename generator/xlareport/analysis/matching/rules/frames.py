"""Rules that carry links across the border of a computation: parameters and results."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator

from xlareport.analysis.matching.rules.loops.opened_results import sole_opened
from xlareport.analysis.matching.search.nodes import (
    are_tuples,
    is_free,
    paired_users,
    same_form,
    same_shape,
    same_type,
)
from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.facts import callees_of
from xlareport.analysis.matching.sides.graph import Frame, Node, opcode_of, opened_root
from xlareport.analysis.matching.sides.parameters import can_continue, is_part
from xlareport.analysis.matching.sides.retyped import retyped_lines
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.model import Instruction
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import sole_pairs

_KNOWN = "a computation with a known counterpart"


def called(search: Search) -> None:
    """Pair the closed computations that linked instructions call, and their callees."""
    for link in search.links:  # it grows meanwhile: with the lines of what is called
        before, after = link.before.instruction, link.after.instruction
        if before.opcode == after.opcode and len(before.called) == len(after.called):
            for (_, old), (_, new) in zip(before.called, after.called, strict=True):
                _pair_called(search, old, new, link)


def _pair_called(search: Search, old: str, new: str, call: NodePair) -> None:
    frame, other = search.before.homes.get(old), search.after.homes.get(new)
    correspondence = search.computations
    known = old in correspondence.pairs or new in correspondence.partners
    if known or frame is None or other is None or frame.caller or other.caller:
        return
    correspondence.pair(old, new)
    search.callers[old] = call.before
    ours, theirs = _outline(search, 0, frame), _outline(search, 1, other)
    if ours == theirs:
        _link_lines(search, frame, other, call.grade)
    else:
        _link_retyped(search, frame, other)
        _link_by_number(search, frame, other)


def _outline(search: Search, here: int, frame: Frame) -> list[Hashable]:
    """Return a computation's instructions without names: form, operand positions and callees."""
    lines = frame.computation.instructions
    places = {line.name: number for number, line in enumerate(lines)}
    outline: list[Hashable] = []
    for line in lines:
        read = [operand.partition("#") for operand in line.operands]
        operands = tuple([(places.get(name), element) for name, _, element in read])
        callees = tuple([search.contents[here].of(name) for name in callees_of(line)])
        outline.append((search.forms.of(line), operands, callees))
    return outline


def _link_lines(search: Search, frame: Frame, other: Frame, grade: Grade) -> None:
    """Pair the instructions of equal computations in order, with the callers' grade at most."""
    lines = zip(frame.computation.instructions, other.computation.instructions, strict=True)
    for line, same in lines:
        before, after = frame.node(line), other.node(same)
        if is_free(before) and is_free(after):
            search.link(before, after, grade, "the same line of what is called alike")


def uncalled(search: Search) -> None:
    """Pair computations with equal contents that have no callers, in order."""
    waiting: dict[int, deque[Frame]] = {}
    for frame, token in _uncalled(search, 0):
        waiting.setdefault(token, deque()).append(frame)
    for other, token in _uncalled(search, 1):
        if waiting.get(token):
            frame = waiting[token].popleft()
            search.computations.pair(frame.computation.name, other.computation.name)
            _link_by_number(search, frame, other)


def _uncalled(search: Search, here: int) -> Iterator[tuple[Frame, int]]:
    """Yield frame and value number of each unpaired computation without callers."""
    side = (search.before, search.after)[here]
    paired = (search.computations.pairs, search.computations.partners)[here]
    for frame in side.graph.frames:
        name = frame.computation.name
        if name not in paired and not side.graph.call_sites(name):
            token = search.contents[here].of(name)
            if token != UNKNOWN:
                yield frame, token


def entry_arguments(search: Search) -> None:
    """Pair the parameters of the entry computations if their counts and types are compatible.

    Passes keep parameter numbers; operands are weaker evidence where shapes are partitioned.
    """
    before, after = search.before.graph.module.entry, search.after.graph.module.entry
    if before is None or after is None:
        return
    old, new = before.parameters, after.parameters
    if len(old) == len(new) and all(map(can_continue, old, new)):
        frame, other = search.before.homes.get(before.name), search.after.homes.get(after.name)
        if frame is not None and other is not None:
            _link_by_number(search, frame, other)


def arguments(search: Search) -> None:
    """Pair the parameters of closed computations that continue each other, if counts are equal."""
    for old, new in search.computations.pairs.items():
        frame, other = search.before.homes.get(old), search.after.homes.get(new)
        if frame is None or other is None or frame.caller or other.caller:
            continue
        if len(frame.computation.parameters) == len(other.computation.parameters):
            _link_retyped(search, frame, other)
            _link_by_number(search, frame, other)


def _link_retyped(search: Search, frame: Frame, other: Frame) -> None:
    """Pair the lines in other element types of two computations that do the same apart from these.

    What has the same type as before has the same value then, which other rules find.
    """
    home = frame.computation
    for name, same in retyped_lines(home, other.computation, search.forms).items():
        line = home.by_name[name]
        if line.shape.plain != same.shape.plain:
            reason = "the same line of a computation in other element types"
            _link(search, frame.node(line), other.node(same), reason)


def passed(search: Search) -> None:
    """Pair the parameters of a fusion that has more or fewer by the operands that they stand for.

    A pass that moves a constant into a fusion numbers its other parameters anew.
    """
    for old, new in search.computations.pairs.items():
        frame, other = search.before.homes.get(old), search.after.homes.get(new)
        if frame is None or other is None:
            continue
        if len(frame.computation.parameters) != len(other.computation.parameters):
            ours, theirs = _by_operand(search.before, frame), _by_operand(search.after, other)
            for node, same in sole_pairs(ours, theirs):
                _link_passed(search, node, same)


def _link_passed(search: Search, before: Node, after: Node) -> None:
    """Pair two parameters, whose numbers say nothing of their values from now on."""
    _link(search, before, after, "a parameter of the same operand")
    if before.partner is after and before.instruction.argument != after.instruction.argument:
        before.base = after.base = before.token


def _by_operand(side: Side, frame: Frame) -> list[tuple[Hashable, Node]]:
    """Return the parameters of a fusion with the values of its operands; empty of anything else."""
    sites = side.graph.call_sites(frame.computation.name)
    if len(sites) != 1 or sites[0][1].instruction.opcode != "fusion":
        return []
    computation, call = sites[0]
    home = side.graph.home(computation)
    operands = [side.graph.resolve(home, name) for name in call.instruction.operands]
    parameters = frame.computation.parameters
    if len(operands) != len(parameters):
        return []
    pairs = zip(operands, parameters, strict=True)
    return [(side.value_of(operand), frame.node(line)) for operand, line in pairs if operand]


def _link_by_number(search: Search, frame: Frame, other: Frame) -> None:
    lines = zip(frame.computation.parameters, other.computation.parameters, strict=False)
    for line, same in lines:
        _link(search, frame.node(line), other.node(same), f"a parameter of {_KNOWN}")


def results(search: Search) -> None:
    """Pair the roots of paired computations if they have the same shape or are both tuples.

    A tuple root that gained or lost elements is still the same root. What only took an element or
    called was no work that a fusion does instead: what gave its value went into the fusion.
    """
    for old, new in search.computations.pairs.items():
        frame, other = search.before.homes.get(old), search.after.homes.get(new)
        root, other_root = _root(frame), _root(other)
        if root is None or other_root is None or _is_fused(root, other_root):
            continue
        root, other_root = _work_of(root, other_root), _work_of(other_root, root)
        if same_shape(search, root, other_root) or are_tuples(root, other_root):
            _link(search, root, other_root, f"the result of {_KNOWN}")


def _is_fused(root: Node, other: Node) -> bool:
    """Return whether a fusion gives what an instruction passed on."""
    return opcode_of(other) == "fusion" and opcode_of(root) in {"call", "get-tuple-element"}


def _work_of(root: Node, other: Node) -> Node:
    """Return what a fusion computes if the other result is no fusion but that by itself."""
    inner = opened_root(root) if opcode_of(root) == "fusion" else None
    return inner if inner is not None and opcode_of(inner) == opcode_of(other) else root


def opened_again(search: Search) -> None:
    """Pair a result with the tuple of its name, of which a new result takes every element.

    Or with that of which it takes all elements but those that it passes on. By value, the new
    result would continue it, and by its users a tuple that the computation begins with.
    """
    for old, new in search.computations.pairs.items():
        root, result = _root(search.before.homes.get(old)), _root(search.after.homes.get(new))
        if root is None or result is None or not are_tuples(root, result):
            continue
        name = root.instruction.name
        line = result.frame.computation.by_name.get(name)
        if name == result.instruction.name:
            continue
        if line is not None and line.opcode == _TUPLE and _takes_all(result, line):
            reason = "the same name; the result takes its elements"
            _link(search, root, result.frame.node(line), reason)
        elif (whole := sole_opened(root, result)) is not None:
            _link(search, root, whole, "the result takes its elements, and passes on the others")


def _takes_all(result: Node, whole: Instruction) -> bool:
    """Return whether the operands of a tuple are the elements of another, or made of one each."""
    by_name = result.frame.computation.by_name
    taken = [by_name.get(name) for name in result.instruction.operand_names]
    behind = [
        by_name.get(next(iter(line.operand_names), ""))
        if line and line.opcode != _ELEMENT
        else line
        for line in taken
    ]
    elements = [
        line.taken_element
        for line in behind
        if line is not None and line.opcode == _ELEMENT and [*line.operand_names] == [whole.name]
    ]
    return elements == [*range(len(whole.operands))]


def elements(search: Search) -> None:
    """Pair elements of a continued tuple with those that a user of theirs reads in their place.

    A loop that carries two equal values loses one of them.
    """
    for node in search.before.open():
        for other in elements_read_now(node):
            source = _taken_from(node)
            if same_shape(search, node, other) and source.partner is _taken_from(other):
                reason = "read in its place by a known counterpart"
                _link(search, node, other, reason, source)


def _taken_from(element: Node) -> Node:
    """Return the tuple that an element is taken from; the element itself if it is unknown."""
    home = element.frame
    source = home.computation.operand(element.instruction)
    return element if source is None else home.node(source)


def elements_read_now(element: Node) -> Iterator[Node]:
    """Yield the elements of a continued tuple that paired users of an element read now."""
    line = element.instruction
    if line.opcode != _ELEMENT or not line.operands:
        return
    for _, now, place in paired_users(element):
        read = now.frame.computation.by_name.get([*now.instruction.operand_names][place])
        if read is not None and read.opcode == _ELEMENT:
            yield now.frame.node(read)


_ELEMENT, _TUPLE = "get-tuple-element", "tuple"


def opened_results(search: Search) -> None:
    """Pair the tuples that linked calls return, as surely as the calls."""
    for link in list(search.links):
        root = opened_root(link.before)
        other = opened_root(link.after)
        if root is None or other is None or not are_tuples(root, other):
            continue
        if is_free(root) and is_free(other):
            grade = Grade.GUESSED if link.grade is Grade.GUESSED else Grade.MATCHED
            search.link(root, other, grade, f"the result of {_KNOWN}")


def _root(frame: Frame | None) -> Node | None:
    root = None if frame is None else frame.computation.root
    return None if frame is None or root is None else frame.node(root)


def _link(
    search: Search, before: Node, after: Node, reason: str, neighbor: Node | None = None
) -> None:
    """Pair two free nodes; they are no surer than the pair of a neighbor, or of what calls them."""
    if is_free(before) and is_free(after) and search.link(before, after, Grade.MATCHED, reason):
        caller = search.callers.get(before.frame.computation.name)
        search.links[-1].led_from = neighbor or caller


def called_parameters(search: Search) -> None:
    """Pair the parameters of calls whose results are linked, before what is left is guessed."""
    _by_result(search, lambda caller: caller.instruction.opcode == "call")


def parameters(search: Search) -> None:
    """Pair the parameters of fused and called computations whose results are linked."""
    _by_result(search, lambda _: True)


def _by_result(search: Search, is_meant: Callable[[Node], bool]) -> None:
    for frame in search.before.graph.frames:
        other = _continued(frame) if frame.caller is not None and is_meant(frame.caller) else None
        if other is None:
            continue
        by_number = {line.argument: line for line in other.computation.parameters}
        for line in frame.computation.parameters:
            same = by_number.get(line.argument)
            if same is not None:
                _link_parameters(search, frame.node(line), other.node(same), _result(frame))


def holders(search: Search) -> None:
    """Pair nested fusions, and others that are left, of which all lines continue each other.

    A loop that is made anew has copies of the fusions in it, and of those in these.
    """
    for frame in reversed(search.before.graph.frames):  # nested ones before what holds them
        other = _continued(frame)
        if other is None or frame.caller is None or other.caller is None:
            continue
        if frame.caller.instruction.opcode == other.caller.instruction.opcode == "fusion" and (
            _hold_the_same(frame, other)
        ):
            reason = "it holds the same lines as the other"
            _link(search, frame.caller, other.caller, reason, _result(frame))


def _hold_the_same(frame: Frame, other: Frame) -> bool:
    """Whether the lines of a computation that compute continue as those of another."""
    ours = [line for line in frame.computation.instructions if line.operands]
    theirs = {line.name for line in other.computation.instructions if line.operands}
    partners = [node.partner for line in ours if (node := frame.nodes.get(line.name)) is not None]
    names = {node.instruction.name for node in partners if node is not None and node.frame is other}
    return len(ours) == len(theirs) and names == theirs


def _link_parameters(search: Search, before: Node, after: Node, result: Node | None) -> None:
    """Pair two free parameters of one number and shape, or the share of it that a device has.

    They are no surer than the pair of the results.
    """
    if not (is_free(before) and is_free(after)):
        return
    shapes = before.instruction.shape, after.instruction.shape
    number = before.instruction.argument
    if same_form(search, before, after):
        linked = search.link(before, after, Grade.EXACT, f"parameter {number} of {_KNOWN}")
    elif search.divided and same_type(before, after) and is_part(*shapes):
        reason = f"a share of parameter {number} of {_KNOWN}"
        linked = search.link(before, after, Grade.MATCHED, reason)
    else:
        return
    if linked:
        search.links[-1].led_from = result


def _result(frame: Frame) -> Node | None:
    """Return the node of the result of a computation."""
    root = frame.computation.root
    return None if root is None else frame.nodes.get(root.name)


def _continued(frame: Frame) -> Frame | None:
    """Return the frame whose root is also that of another, if both have as many parameters."""
    node = _result(frame)
    if frame.caller is None or node is None or node.partner is None:
        return None
    other = node.partner.frame
    same_count = len(other.computation.parameters) == len(frame.computation.parameters)
    is_root = node.partner.instruction is other.computation.root
    return other if same_count and is_root and other.caller is not None else None
