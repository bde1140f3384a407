"""Differences between two lines of the same instruction."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain

from xlareport.analysis.steps.configs import config_change
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES
from xlareport.hlo.shape import Shape, without_layout


class Kind(StrEnum):
    """The kind of change of an instruction in a step."""

    FUSED = "fused"
    """A fusion that took in what stood outside."""
    ABSORBED = "absorbed"
    """A fusion whose instructions another fusion holds now."""
    INLINED = "inlined"
    """A call replaced by what it called."""
    OUTLINED = "outlined"
    """A call that took in what stood outside."""
    REWRITTEN = "rewritten"
    """The same work as another operation: a dot as a library call."""
    COMBINED = "combined"
    """Several became one that does the work of all."""
    SPLIT = "split"
    """One became several that do its work together."""
    EXPANDED = "expanded"
    """Several smaller ones do its work."""
    ASYNC = "asynchronous"
    """One became a start and a done; other instructions can run in between."""
    PART = "part"
    """A further member of a combined instruction, or part of a split one."""
    SWAPPED = "swapped"
    """The data movement is done before an instruction that it followed, or the reverse."""
    REPLACED = "replaced"
    """Another operation does its work."""
    FOLDED = "folded"
    """Its value is a constant now."""
    REBUILT = "rebuilt"
    """The same operation was made anew, of other operands or with other attributes."""
    MERGED = "merged"
    """Several with equal values became one."""
    UNIFIED = "unified"
    """Merged with its whole computation, a duplicate of another."""
    CLONED = "cloned"
    """A further copy."""
    COPIED = "copied"
    """Cloned with its whole computation."""
    LEFT = "left"
    """As it was, but nothing uses it: another does its work."""
    REMOVED = "removed"
    """Removed."""
    DEAD = "dead"
    """Removed because nothing depended on it."""
    UNCALLED = "uncalled"
    """Removed with its computation, which had no live callers."""
    ARGUMENT = "argument"
    """A parameter of a fusion or call, removed with it or with the operand."""
    ADDED = "added"
    """New."""
    PARAMETER = "parameter"
    """A new parameter of a new fusion or call."""
    UNTRACED = "untraced"
    """Only before or only after; what it became, or what it comes from, is not known."""
    TURNED = "turned"
    """A matrix product of the same operands in the other order, its result transposed."""
    TYPE = "type"
    """Another element type: the numbers change."""
    SHAPE = "shape"
    """Other dimensions."""
    PRECISION = "precision"
    """Another precision or algorithm of a product: the numbers may change."""
    SPACE = "memory space"
    """The same shape and layout in another memory space."""
    LAYOUT = "layout"
    """The same shape in another layout."""
    OPERANDS = "operands"
    """Reads something else."""
    REDIRECTED = "redirected"
    """Reads an added instruction, or the operand of a removed one: part of that change."""
    REWIRED = "rewired"
    """Reads the same value from another instruction."""
    SHARED = "shared"
    """Reads another instruction that computes the same as what it read."""
    ATTRIBUTES = "attributes"
    """Other attributes."""
    HOISTED = "hoisted"
    """Was inside a loop and is outside now."""
    SUNK = "sunk"
    """Was outside a loop and is inside now."""
    MOVED = "moved"
    """Is in another computation now."""
    SHARDING = "sharding"
    """Spread over devices in another way."""
    CONFIG = "backend_config"
    """Other advice to the code generator."""
    METADATA = "metadata"
    """Has other metadata, such as its source line: no effect."""
    REORDERED = "reordered"
    """Is earlier or later in the schedule."""
    RENAMED = "renamed"
    """Only the name is another."""


_QUIET: Mapping[str, Kind] = {
    "sharding": Kind.SHARDING,
    "backend_config": Kind.CONFIG,
    "metadata": Kind.METADATA,
    "frontend_attributes": Kind.METADATA,
    "origin": Kind.METADATA,
    "original_value": Kind.METADATA,
}
_PRECISION = frozenset({"operand_precision", "algorithm"})
_WEIGHT = {kind: weight for weight, kind in enumerate(Kind)}
_WITH_NUMBERS = _WEIGHT | {Kind.ATTRIBUTES: _WEIGHT[Kind.OPERANDS]}
"""Other dimension numbers are no consequence of what is read."""
_WITH_ATTRIBUTES = _WEIGHT | {Kind.ATTRIBUTES: _WEIGHT[Kind.REDIRECTED] - 0.5}
"""Other attributes are told before who gives the operands now."""
_ELEMENT = "get-tuple-element"
"""Its only attribute, the index, follows from the tuple that it reads."""
_NUMBERED = frozenset(
    {
        "broadcast",
        "concatenate",
        "convolution",
        "dot",
        "gather",
        "reduce",
        "reverse",
        "scatter",
        "sort",
        "transpose",
    }
)
"""Opcodes whose attributes refer to dimensions by number."""
_SPACE = re.compile(r"S\(\d{1,9}\)")
_SHORT = 60
_LEAD = 12
"""Characters that both texts share and that are shown, before the first that differs."""


def by_weight(kinds: Iterable[Kind], opcode: str) -> tuple[Kind, ...]:
    """Return the kinds of difference of an instruction, the weightiest first."""
    weights = _WITH_NUMBERS if opcode in _NUMBERED else _WITH_ATTRIBUTES
    weights = _WEIGHT if opcode == _ELEMENT else weights
    if opcode in COMBINED_COLLECTIVES:  # in a loop they run once in each iteration
        weights = {**weights, Kind.HOISTED: weights[Kind.TYPE] - 0.5}
    return tuple(sorted(kinds, key=lambda kind: weights[kind]))


def compare(before: Instruction, after: Instruction, callees: Mapping[str, str]) -> dict[Kind, str]:
    """Return the kinds of difference between two lines, with old and new values.

    Operands are compared by the caller, who knows the pairings; `callees` maps old names of called
    computations to new ones.
    """
    result = _shapes(before, after)
    if before.attributes_text != after.attributes_text:
        result |= _attributes(before, after, callees)
    if not before.operands and before.argument != after.argument:
        result[Kind.ATTRIBUTES] = _arrow(before.argument, after.argument)
    if before.name != after.name:
        result[Kind.RENAMED] = f"%{before.name} → %{after.name}"
    return result


def _shapes(before: Instruction, after: Instruction) -> dict[Kind, str]:
    old, new = before.shape, after.shape
    if old.text == new.text:
        return {}
    if old.elements and len(old.elements) == len(new.elements):
        return _elements(old, new)
    return _shape_of(old, new)


def _shape_of(old: Shape, new: Shape) -> dict[Kind, str]:
    if without_layout(old.text) == without_layout(new.text):
        kind = Kind.SPACE if _without_space(old.text) == _without_space(new.text) else Kind.LAYOUT
        if kind is Kind.SPACE:
            return {kind: _arrow(_space_of(old), _space_of(new))}
        layouts = bool(old.layout or new.layout)
        return {kind: _arrow(*(_layouts(old, new) if layouts else _texts(old, new)))}
    if old.elements and new.elements and len(old.elements) != len(new.elements):
        text = f"{len(old.elements):,} elements → {len(new.elements):,} elements"
        return {Kind.SHAPE: text + (_TAKEN_APART if _is_taken_apart(old, new) else "")}
    kind = Kind.SHAPE if _other_dimensions(old, new) else Kind.TYPE
    return {kind: _arrow(*_texts(old, new))}


def _is_taken_apart(old: Shape, new: Shape) -> bool:
    """Return whether a tuple has the elements of the tuples within another, one by one."""
    return any(element.elements for element in old.elements) and [*_parts(old)] == [
        element.text for element in new.elements
    ]


def _parts(shape: Shape) -> Iterator[str]:
    for element in shape.elements:
        if element.elements:
            yield from _parts(element)
        else:
            yield element.text


def _without_space(shape: str) -> str:
    return _SPACE.sub("", shape).replace(":}", "}").replace("{}", "")


def _elements(old: Shape, new: Shape) -> dict[Kind, str]:
    """Return how two tuples of as many elements differ: how many do, and how the weightiest does.

    Where only the order of the elements is another, nothing else is.
    """
    count = len(new.elements)
    gained = Counter(element.text for element in new.elements)
    gained.subtract(element.text for element in old.elements)
    changed = sum(number for number in gained.values() if number > 0)
    if not changed:
        return {Kind.SHAPE: f"the same {count:,} elements in another order"}
    pairs = [*zip(old.elements, new.elements, strict=True)]
    moved = [(was, now) for was, now in pairs if was.text != now.text]
    if all(without_layout(was.text) == without_layout(now.text) for was, now in pairs):
        changed = len(moved)  # what each element is says that they stand where they stood
    order = _OTHER_ORDER if changed < len(moved) else ""
    if order:
        lost = next(was for was, _ in moved if gained[was.text] < 0)
        moved = [(lost, next(now for _, now in moved if gained[now.text] > 0))]
    differences = [*chain.from_iterable(_shape_of(was, now).items() for was, now in moved)]
    kind, text = min(differences, key=lambda difference: _WEIGHT[difference[0]])
    such_as = SUCH_AS if changed > 1 and len({text for _, text in differences}) > 1 else ""
    return {kind: f"{changed:,} of {count:,} elements, {such_as}{text}{order}"}


SUCH_AS = "such as "
"""Stands before the difference of one element where those of others are not the same."""
_TAKEN_APART = " without an inner tuple"
_OTHER_ORDER = ", and the others in another order"


def _space_of(shape: Shape) -> str:
    """Return the memory space as XLA writes it; a layout that names none has the default, S(0)."""
    match = _SPACE.search(shape.text)
    return match[0] if match else "S(0)"


def _layouts(old: Shape, new: Shape) -> tuple[str, str]:
    return old.layout and f"{{{old.layout}}}", new.layout and f"{{{new.layout}}}"


def _texts(old: Shape, new: Shape) -> tuple[str, str]:
    return old.text, new.text


def _other_dimensions(old: Shape, new: Shape) -> bool:
    """Whether two shapes differ in more than element types; of tuples, in their members."""
    if old.elements or new.elements:
        if len(old.elements) != len(new.elements):
            return True
        pairs = zip(old.elements, new.elements, strict=True)
        return all(shape.element_type == other.element_type for shape, other in pairs)
    return old.element_type == new.element_type


def _arrow(before: str, after: str) -> str:
    """Return "old → new"; a long common prefix is left out."""
    if max(len(before), len(after)) > _SHORT:
        same = _common(before, after)
        before, after = _since(before, same), _since(after, same)
    return f"{_short(before) or 'none'} → {_short(after) or 'none'}"


def _common(before: str, after: str) -> int:
    """Return the length of the common prefix."""
    pairs = enumerate(zip(before, after, strict=False))
    differs = (place for place, (text, other) in pairs if text != other)
    return next(differs, min(len(before), len(after)))


def _since(text: str, same: int) -> str:
    """Return a text from shortly before a position."""
    return f"…{text[same - _LEAD :]}" if same > 2 * _LEAD else text


def _attributes(
    before: Instruction, after: Instruction, callees: Mapping[str, str]
) -> dict[Kind, str]:
    old, new = before.attributes, after.attributes
    called = {attribute for attribute, _ in before.called}
    attributes: dict[Kind, str] = {}
    for name in {**old, **new}:
        if old.get(name) == new.get(name):
            continue
        if name in called and _same_callees(before, after, callees):
            continue
        kind = _QUIET.get(name, Kind.PRECISION if name in _PRECISION else Kind.ATTRIBUTES)
        message = attribute_change(name, before, after)
        if kind is Kind.CONFIG:
            message = config_change(before, after) or message
        attributes[kind] = f"{attributes[kind]}; {message}" if kind in attributes else message
    return attributes


def attribute_change(name: str, before: Instruction, after: Instruction) -> str:
    """Return old and new value of an attribute: `algorithm: none → dot_bf16_bf16_f32`."""
    return f"{name}: {_arrow(before.attributes.get(name, ''), after.attributes.get(name, ''))}"


def _same_callees(before: Instruction, after: Instruction, callees: Mapping[str, str]) -> bool:
    continued = [callees.get(name, name) for _, name in before.called]
    return continued == [name for _, name in after.called]


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"
