"""Pairs of which another one has the attributes, and elements of loops that went elsewhere."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

from fingerprints import contents
from msgspec import Struct

from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.forms import effective_attributes
from xlareport.hlo.model import HloModule, Instruction

_PAIRED = (Relation.SAME, Relation.REPLACED)
_ELEMENT = "get-tuple-element"
_CHANGED = frozenset({"convolution", "dot", "dynamic-slice"})
"""Opcodes of which a pass changes the attributes of many: swapped operands, the sizes of shares."""
_MOST_COPIES = 4
_COPIES = ("copy", "copy-start", "copy-done")

_Pair = tuple[Place, Instruction, Place, Instruction]


def alike_failures(matching: Matching) -> Iterator[str]:
    """Yield the pairs of other attributes, while one with the old ones is paired as wrongly or new.

    It has the opcode and the framework op, and is in the computation of the new one. Attributes are
    dimensions, bounds and windows, and the computation that a reduction applies; a transposed
    result has others.
    """
    read = _Attributes(matching.before), _Attributes(matching.after)
    pairs = [
        pair
        for pair in _pairs(matching)
        if _is_comparable(pair[1], pair[3]) and not _cuts_another(matching, pair)
    ]
    changed = [pair for pair in pairs if read[0].of(pair[1]) != read[1].of(pair[3])]
    others = {_key(place, line, read[1]) for place, line in _added(matching)}
    others |= {_key(place, new, read[1]) for _, _, place, new in changed}
    for _, old, place, new in changed:
        if _key(place, old, read[0]) in others:
            yield f"%{old.name} is %{new.name}, and another one has its attributes"


def _is_comparable(old: Instruction, new: Instruction) -> bool:
    """Return whether two instructions of one opcode number the same dimensions."""
    told = bool(old.metadata.op_name and old.operands) and old.opcode not in _CHANGED
    if not told or old.opcode in (_ELEMENT, "fusion") or old.opcode != new.opcode:
        return False
    before, after = list(old.shape.dimensions), list(new.shape.dimensions)
    transposed = before != after and Counter(before) == Counter(after)
    return len(before) == len(after) and not transposed


def _cuts_another(matching: Matching, pair: _Pair) -> bool:
    """Return whether two slices cut different values, of which the bounds differ rightly.

    A slice of a slice, of a concatenation or of a reversed value becomes one of what that was made
    of.
    """
    home, old, place, new = pair
    cut = Place(home.computation, next(iter(old.operand_names), ""))
    now = Place(place.computation, next(iter(new.operand_names), ""))
    return old.opcode == "slice" and matching.partner_after(cut) != now


def _key(place: Place, line: Instruction, attributes: "_Attributes") -> Hashable:
    return place.computation, line.opcode, line.metadata.op_name, attributes.of(line)


class _Attributes:
    """What instructions of a module compute with their operands."""

    def __init__(self, module: HloModule) -> None:
        self._contents = contents(module)

    def of(self, line: Instruction) -> Hashable:
        """Return the attributes of an instruction, and the contents of what it applies."""
        applied = line.attributes.get("to_apply", "") if line.opcode != "call" else ""
        text = effective_attributes(line.attributes_text)
        return text, self._contents.get(applied.removeprefix("%"))


def _pairs(matching: Matching) -> Iterator[_Pair]:
    """Yield what is paired, with both instructions."""
    for pairing in matching.pairings:
        if pairing.relation in _PAIRED and pairing.before and pairing.after:
            old, new = pairing.before[0], pairing.after[0]
            lines = matching.before.find(*old), matching.after.find(*new)
            if lines[0] is not None and lines[1] is not None:
                yield old, lines[0], new, lines[1]


def _added(matching: Matching) -> Iterator[tuple[Place, Instruction]]:
    for place in matching.added:
        line = matching.after.find(*place)
        if line is not None:
            yield place, line


class _Carried(Struct):
    """Where a loop, or what its computations are given, has each element now."""

    name: str
    """The name of the loop or the parameter after."""
    moved: Mapping[int, int]


def element_failures(matching: Matching) -> Iterator[str]:
    """Yield the elements of paired loops that are other ones by the values that these start with.

    What a loop starts with is known if it is paired, copies aside, and is not given twice.
    """
    carried = _carried(matching)
    for home, old, _, new in _pairs(matching):
        if old.opcode == new.opcode == _ELEMENT:
            source, index = _taken(old)
            loop = carried.get((home.computation, source))
            now = None if loop is None else loop.moved.get(index)
            if (
                loop is not None
                and now not in (None, _taken(new)[1])
                and _taken(new)[0] == loop.name
            ):
                yield f"%{old.name} is %{new.name}, and not element {now}"
    yield from _lost(matching, carried)


def _carried(matching: Matching) -> Mapping[tuple[str, str], _Carried]:
    places: dict[tuple[str, str], _Carried] = {}
    for home, old, place, new in _pairs(matching):
        if old.opcode == new.opcode == "while":
            moved = _moved(matching, home, old, place, new)
            places[home.computation, old.name] = _Carried(new.name, moved)
            for (_, name), (_, other) in zip(old.called, new.called, strict=False):
                given = matching.before.by_name[name].parameters[:1]  # drawings leave some out
                taken = matching.after.by_name[other].parameters[:1]
                for parameter, now in zip(given, taken, strict=False):
                    places[name, parameter.name] = _Carried(now.name, moved)
    return places


def _lost(matching: Matching, carried: Mapping[tuple[str, str], _Carried]) -> Iterator[str]:
    """Yield the removed elements that a new one takes."""
    added = {
        (place.computation, *_taken(line))
        for place, line in _added(matching)
        if line.opcode == _ELEMENT
    }
    for place in matching.removed:
        line = matching.before.find(*place)
        if line is not None and line.opcode == _ELEMENT:
            source, index = _taken(line)
            loop = carried.get((place.computation, source))
            now = None if loop is None else loop.moved.get(index)
            there = matching.computations.get(place.computation, place.computation)
            if loop is not None and now is not None and (there, loop.name, now) in added:
                yield f"%{line.name} is removed, and element {now} is new"


def _taken(line: Instruction) -> tuple[str, int]:
    """Return of what an instruction takes an element, and which."""
    return next(iter(line.operand_names), ""), int(line.attributes.get("index", -1))


def _moved(
    matching: Matching, home: Place, old: Instruction, place: Place, new: Instruction
) -> Mapping[int, int]:
    """Return the new index of each old element of a loop whose start value is known."""
    before = _starts(matching.before, home, old)
    after = _starts(matching.after, place, new)
    lines = matching.after.by_name[place.computation].by_name
    values = [_value(lines, name) for name in after]
    now = [matching.partner_after(Place(home.computation, name)) for name in before]
    names = ["" if partner is None else partner.instruction for partner in now]
    return {
        number: after.index(name)
        for number, name in enumerate(names)
        if name in after and names.count(name) == 1 == values.count(_value(lines, name))
    }


def _value(lines: Mapping[str, Instruction], name: str) -> str:
    """Return what an instruction without operands computes, else its name."""
    line = lines.get(name)
    if line is None or line.operands or line.opcode == "parameter":
        return name
    attributes = effective_attributes(line.attributes_text)
    return f"{line.opcode} {line.shape.text} {line.argument} {attributes}"


def _starts(module: HloModule, place: Place, loop: Instruction) -> Sequence[str]:
    """Return the names of what a loop starts with, copies aside."""
    lines = module.by_name[place.computation].by_name
    start = lines.get(next(iter(loop.operand_names), ""))
    if start is None or start.opcode != "tuple":
        return []
    return [_uncopied(lines, name) for name in start.operand_names]


def _uncopied(lines: Mapping[str, Instruction], name: str) -> str:
    for _ in range(_MOST_COPIES):
        line = lines.get(name)
        if line is None or line.opcode not in _COPIES:
            break
        name = next(iter(line.operand_names), "")
    return name
