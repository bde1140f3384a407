"""Which elements a loop lost, and which other element has the value of each.

`simplify-while-loops` drops elements that nothing reads, and those that are passed twice.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.details import AttributesChange, ElementsChange
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.loop_elements import is_passed_on
from xlareport.hlo.model import HloModule, Instruction
from xlareport.runtime import english

_MOST_NAMED = 4
_ELEMENT = "get-tuple-element"


class Lost(Struct, frozen=True):
    """The elements that a loop lost."""

    numbers: tuple[int, ...]
    twins: Mapping[int, int]
    """The element with the same value, of those that the loop was given twice and passes on."""
    places: Mapping[int, int]
    """The number now of each element that stayed."""

    @property
    def words(self) -> str:
        """In words: `, without element 5 (same as 4)`; of many how many have a twin."""
        if len(self.numbers) > _MOST_NAMED:
            return self._counted
        noun = "element" if len(self.numbers) == 1 else "elements"
        return f", without {noun} {english.listing([*map(self._named, self.numbers)])}"

    @property
    def _counted(self) -> str:
        """In words, how many of the lost elements have the value of one that stayed."""
        if len(self.twins) == len(self.numbers):
            return ", without those that have the value of another one"
        return (
            f", {len(self.twins)} of those dropped with the value of another one"
            if self.twins
            else ""
        )

    def _named(self, number: int) -> str:
        twin = self.twins.get(number)
        return str(number) if twin is None else f"{number} (same as {twin})"


def with_dropped_elements(matching: Matching, changes: Iterable[Change]) -> list[Change]:
    """Return the changes; a loop with fewer elements says which, and so does who read a twin."""
    rows = list(changes)
    lost: dict[str, Lost] = {}
    for number, change in enumerate(rows):
        of_loop = _lost(matching, change) if change.opcodes == ("while", "while") else None
        if of_loop is not None:
            rows[number] = _with_words(change, of_loop.words)
            lost |= dict.fromkeys(_callees(matching, change), of_loop)
    return [_with_twin(matching, change, lost) for change in rows] if lost else rows


def _with_words(change: Change, words: str) -> Change:
    details = [
        replace(detail, words=words) if isinstance(detail, ElementsChange) else detail
        for detail in change.details
    ]
    return replace(change, details=tuple(details))


def _lost(matching: Matching, change: Change) -> Lost | None:
    """Return what a loop lost; None if it lost nothing, or that is not known."""
    if change.before is None or change.after is None or Kind.CARRIED not in change.kinds:
        return None
    old, new = matching.before.find(*change.before), matching.after.find(*change.after)
    if old is None or new is None or len(old.shape.elements) <= len(new.shape.elements):
        return None
    were = _elements(matching.before, change.before.computation, old)
    elements = _elements(matching.after, change.after.computation, new)
    known = [_now(matching, change.before.computation, _body(old), element) for element in were]
    for keys, others in ((known, elements), (_starts(known), _starts(elements))):
        places = _aligned(keys, others) or {}
        lost = [number for number in range(len(were)) if number not in places]
        twins = dict(_merged(keys, places)) | dict(_twins(matching, old, were, places))
        if places and _start_differently(keys, [number for number in lost if number not in twins]):
            return Lost(tuple(lost), twins, places)
    return None


class _Element(NamedTuple):
    """What an element of a loop is: its shape, what it starts from, and what an iteration gives."""

    shape: str
    start: str
    result: str = ""


def _elements(module: HloModule, home: str, loop: Instruction) -> list[_Element]:
    """Return the elements of a loop; none where it starts from no tuple."""
    start = module.by_name[home].operand(loop)
    body = module.by_name.get(_body(loop))
    root = None if body is None else body.root
    shapes = [element.text for element in loop.shape.elements]
    names = [_members(line, len(shapes)) for line in (start, root)]
    return [*map(_Element, shapes, *names)] if names[0] else []


def _members(line: Instruction | None, count: int) -> list[str]:
    """Return the names in a tuple; of a result that is no tuple as many unknown ones."""
    names = [*line.operand_names] if line is not None and line.opcode == "tuple" else []
    return names if len(names) == count else []


def _body(loop: Instruction) -> str:
    return dict(loop.called).get("body", "")


def _now(matching: Matching, home: str, body: str, element: _Element) -> _Element:
    """Return an element before with the names that its instructions have after."""
    places = Place(home, element.start), Place(body, element.result)
    partners = map(matching.partner_after, places)
    names = [
        place.instruction if partner is None else partner.instruction
        for place, partner in zip(places, partners, strict=True)
    ]
    return _Element(element.shape, *names)


def _starts(elements: Iterable[_Element]) -> list[_Element]:
    """Return elements without what an iteration gives, which a step may have changed."""
    return [_Element(element.shape, element.start) for element in elements]


def _aligned(old: Sequence[_Element], new: Sequence[_Element]) -> dict[int, int] | None:
    """Return the number now of each element that stayed, in order; None if some new one is left."""
    places: dict[int, int] = {}
    for number, element in enumerate(old):
        if len(places) < len(new) and new[len(places)] == element:
            places[number] = len(places)
    return places if new and len(places) == len(new) else None


def _start_differently(elements: Sequence[_Element], lost: Sequence[int]) -> bool:
    """Return whether no lost element starts as another one does, and so may have stayed."""
    counts = Counter(elements)
    return all(counts[elements[number]] == 1 for number in lost)


def _twins(
    matching: Matching, loop: Instruction, elements: Sequence[_Element], places: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield the lost elements of which an equal one stayed: the body passes both on."""
    body = matching.before.by_name.get(_body(loop))
    if body is None:
        return
    first = {elements[number].start: number for number in reversed([*places])}
    for number, element in enumerate(elements):
        twin = first.get(element.start, number)
        is_lost = number not in places and twin != number
        if is_lost and is_passed_on(body, number) and is_passed_on(body, twin):
            yield number, twin


def _merged(elements: Sequence[_Element], places: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the lost elements of which an equal one stayed: both become the same one value."""
    first = {elements[number]: number for number in reversed([*places])}
    for number, element in enumerate(elements):
        twin = first.get(element)
        if element.result and number not in places and twin is not None:
            yield number, twin


def _callees(matching: Matching, change: Change) -> list[str]:
    """Return the names of the computations of a loop, before."""
    loop = None if change.before is None else matching.before.find(*change.before)
    return [] if loop is None else [name for _, name in loop.called]


def _with_twin(matching: Matching, change: Change, lost: Mapping[str, Lost]) -> Change:
    """Return a change; what took a lost element takes its twin, which may have another layout."""
    of_loop = None if change.before is None else lost.get(change.before.computation)
    taken = _taken(matching, change) if of_loop is not None else None
    twin = None if of_loop is None or taken is None else of_loop.twins.get(taken[0])
    if of_loop is None or taken is None or twin is None or of_loop.places[twin] != taken[1]:
        return change
    text = f"index: {taken[0]} → {taken[1]}, the same value in another layout"
    replaced = {Kind.ATTRIBUTES, Kind.LAYOUT}
    pairs = zip(change.kinds, change.details, strict=True)
    rest = [(kind, detail) for kind, detail in pairs if kind not in replaced]
    return replace(
        change,
        kind=Kind.ATTRIBUTES,
        kinds=(Kind.ATTRIBUTES, *(kind for kind, _ in rest)),
        details=(AttributesChange(("index",), text), *(detail for _, detail in rest)),
    )


def _taken(matching: Matching, change: Change) -> tuple[int, int] | None:
    """Return which element an instruction took and takes; None if its layout is the same."""
    elements = change.kind is Kind.LAYOUT and change.opcodes == (_ELEMENT, _ELEMENT)
    if not elements or change.before is None or change.after is None:
        return None
    lines = matching.before.find(*change.before), matching.after.find(*change.after)
    before, after = (None if line is None else line.taken_element for line in lines)
    return None if before is None or after is None else (before, after)
