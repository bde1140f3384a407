"""Differences between two shapes: element types, dimensions, layouts, memory spaces, tuples."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from msgspec.structs import replace

from xlareport.analysis.steps.details import ShapeChange
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.shape import Shape, without_layout
from xlareport.runtime import units

_SPACE = re.compile(r"S\(\d{1,9}\)")
_TILES = re.compile(r"T\([^()]*\)|(?<=\))\([^()]*\)")
"""Each tile of `T(8,128)(4,1)`."""
_IN_NAME = re.compile(r"%[\w.\-]*")
"""What is up to a place in a name."""
_NAMES = re.compile(r"\{%[\w.\-]+(?:, %[\w.\-]+)*\}")
"""A list of instructions, such as control predecessors."""
_SHORT = 60
_LEAD = 12
"""Characters that both texts share and that are shown, before the first that differs."""
_WEIGHT = {kind: weight for weight, kind in enumerate(Kind)}


def compare_shapes(old: Shape, new: Shape) -> dict[Kind, str | ShapeChange]:
    """Return the kind of difference between two shapes, with old and new; empty if equal."""
    if old.text == new.text:
        return {}
    held = _held(old, new)
    if held:
        return {Kind.SHAPE: held}
    if old.elements and len(old.elements) == len(new.elements):
        return _elements(old, new)
    return _shape_of(old, new)


def _held(old: Shape, new: Shape) -> str:
    """Return in words that a tuple is an element of another one now; '' where it is not.

    A fusion that takes in others gives its former result, also a tuple, beside theirs.
    """
    if not old.elements:
        return ""
    number = next((at for at, member in enumerate(new.elements) if member.text == old.text), None)
    if number is None:
        return ""
    counts = [units.plural(len(shape.elements), "element") for shape in (old, new)]
    return f"{' → '.join(counts)}, the former result is element {number}"


def _shape_of(old: Shape, new: Shape) -> dict[Kind, str | ShapeChange]:
    if without_layout(old.text) == without_layout(new.text):
        kind = Kind.SPACE if _without_space(old.text) == _without_space(new.text) else Kind.LAYOUT
        if kind is Kind.SPACE:
            return {kind: _spaces(old, new)}
        layouts = bool(old.layout or new.layout)
        change = shortened(*(_layouts(old, new) if layouts else _texts(old, new)))
        return {kind: replace(change, is_tiling=_is_tiled_anew(old, new))}
    if old.elements and new.elements and len(old.elements) != len(new.elements):
        return {Kind.SHAPE: _counts(old, new)}
    shaped = _other_dimensions(old, new) or _is_packed(old, new)
    kind = Kind.SHAPE if shaped else Kind.TYPE
    return {kind: shortened(*_texts(old, new))}


def _is_tiled_anew(old: Shape, new: Shape) -> bool:
    """Return whether an array has other tiles, and its dimensions in the same order."""
    (order, _, tiles), (now, _, others) = (shape.layout.partition(":") for shape in (old, new))
    return order == now and _TILES.findall(tiles) != _TILES.findall(others)


def _is_packed(old: Shape, new: Shape) -> bool:
    """Return whether integers are the same bytes in elements of another width.

    TPUs add up 8-bit integers of an all-reduce as four in one of 32 bits.
    """
    types = old.element_type, new.element_type
    integers = all(name[:1] in {"s", "u"} for name in types)
    return integers and types[0][1:] != types[1][1:] and old.byte_size == new.byte_size is not None


def _counts(old: Shape, new: Shape) -> str:
    """Return the numbers of elements of two tuples, the second maybe without a tuple in it."""
    now = units.plural(len(new.elements), "element")
    if not _is_taken_apart(old, new):
        return f"{units.plural(len(old.elements), 'element')} → {now}"
    if len(old.elements) == 1:
        return f"a tuple in a tuple → its {now}"
    return f"{units.plural(len(old.elements), 'element')} → {now} without an inner tuple"


def _is_taken_apart(old: Shape, new: Shape) -> bool:
    """Return whether a tuple has the elements of the tuples within another, one by one."""
    return any(element.elements for element in old.elements) and [
        leaf.text for leaf in _leaves(old)
    ] == [element.text for element in new.elements]


def _leaves(shape: Shape) -> Iterator[Shape]:
    """Yield the arrays within a tuple, also within tuples in it; of an array, itself."""
    if not shape.elements:
        yield shape
    for element in shape.elements:
        yield from _leaves(element)


def _without_space(shape: str) -> str:
    return _SPACE.sub("", shape).replace(":}", "}").replace("{}", "")


def _elements(old: Shape, new: Shape) -> dict[Kind, str | ShapeChange]:
    """Return how two tuples of as many elements differ: how many do, and how the weightiest does.

    Where only the order of the elements is another, nothing else is.
    """
    count = len(new.elements)
    gained = Counter(element.text for element in new.elements)
    gained.subtract(element.text for element in old.elements)
    changed = sum(number for number in gained.values() if number > 0)
    if not changed:
        return {Kind.SHAPE: f"the same {count:,} elements in another order"}
    stand = all(map(_stands, old.elements, new.elements))
    turned = () if stand else _in_old_order(old, new)
    pairs = zip(old.elements, turned or new.elements, strict=True)
    moved = [(was, now) for was, now in pairs if was.text != now.text]
    order = _IN_OTHER_ORDER if turned else ""
    if stand or turned:
        changed = len(moved)  # what each element is says which one it was
    elif changed < len(moved):
        order = _OTHER_ORDER
        lost = next(was for was, _ in moved if gained[was.text] < 0)
        moved = [(lost, next(now for _, now in moved if gained[now.text] > 0))]
    elif _reorder_types(old, new) and (alike := [*filter(_are_of_one_type, moved)]):
        moved, order = alike, _IN_OTHER_ORDER
    differences = [*chain.from_iterable(_shape_of(was, now).items() for was, now in moved)]
    kind, text = min(differences, key=lambda pair: (_WEIGHT[pair[0]], _is_tiling(pair[1])))
    such_as = "such as " if changed > 1 and len({text for _, text in differences}) > 1 else ""
    lead = f"{changed:,} of {count:,} elements, {such_as}"
    if isinstance(text, str):
        return {kind: f"{lead}{text}{order}"}
    return {kind: replace(text, lead=f"{lead}{text.lead}", tail=f"{text.tail}{order}")}


def _reorder_types(old: Shape, new: Shape) -> bool:
    """Return whether two tuples have the same element types in another order."""
    before, after = ([part.element_type for part in shape.elements] for shape in (old, new))
    return before != after and sorted(before) == sorted(after)


def _are_of_one_type(pair: tuple[Shape, Shape]) -> bool:
    return pair[0].element_type == pair[1].element_type


def _is_tiling(change: str | ShapeChange) -> bool:
    return isinstance(change, ShapeChange) and change.is_tiling


def _in_old_order(old: Shape, new: Shape) -> tuple[Shape, ...]:
    """Return the new elements in the order of the old ones; empty where an old one has none.

    One has the same shape, or is the only one that may be that array divided or put together.
    """
    waiting: dict[str, list[Shape]] = {}
    for element in new.elements:
        waiting.setdefault(without_layout(element.text), []).append(element)
    divided = _divided(old, new)
    result: list[Shape] = []
    for element in old.elements:
        plain = without_layout(element.text)
        alike = waiting.get(plain) or waiting.get(divided.get(plain, ""))
        if not alike:
            return ()
        same = next((number for number, other in enumerate(alike) if other.text == element.text), 0)
        result.append(alike.pop(same))
    return tuple(result)


def _divided(old: Shape, new: Shape) -> dict[str, str]:
    """Return for shapes that are gone the only new one of as many elements that may be each."""
    before, after = (
        Counter(without_layout(element.text) for element in shape.elements) for shape in (old, new)
    )
    shapes = {without_layout(e.text): e for e in (*old.elements, *new.elements)}
    gone, added = before - after, after - before
    fitting = {was: [now for now in added if _stands(shapes[was], shapes[now])] for was in gone}
    shared = Counter(chain.from_iterable(fitting.values()))
    return {
        was: names[0]
        for was, names in fitting.items()
        if len(names) == 1 and shared[names[0]] == 1 and gone[was] == added[names[0]]
    }


def _stands(old: Shape, new: Shape) -> bool:
    """Return whether two elements are one array: in another layout, divided or put together."""
    if without_layout(old.text) == without_layout(new.text):
        return True
    if old.elements or new.elements or old.element_type != new.element_type:
        return False
    sizes, others = old.dimensions, new.dimensions
    return len(sizes) == len(others) and (
        all(map(_divides, sizes, others)) or all(map(_divides, others, sizes))
    )


def _divides(size: int | None, part: int | None) -> bool:
    return size == part or bool(size and part and not size % part)


_OTHER_ORDER = ", and the others in another order"
_IN_OTHER_ORDER = ", and elements in another order"


def _space_of(shape: Shape) -> str:
    """Return the memory space as XLA writes it; a layout that names none has the default, S(0)."""
    match = _SPACE.search(shape.text)
    return match[0] if match else "S(0)"


def _spaces(old: Shape, new: Shape) -> str:
    """Return the memory spaces before and after; of a tuple in a tuple, of how many arrays."""
    leaves = [*zip(map(_space_of, _leaves(old)), map(_space_of, _leaves(new)), strict=False)]
    moved = [(was, now) for was, now in leaves if was != now] or [(_space_of(old), _space_of(new))]
    such_as = "such as " if len(set(moved)) > 1 else ""
    lead = f"{len(moved):,} of {len(leaves):,} arrays, {such_as}" if len(leaves) > 1 else ""
    return f"{lead}{shortened(*moved[0])}"


def _layouts(old: Shape, new: Shape) -> tuple[str, str]:
    return old.layout and f"{{{old.layout}}}", new.layout and f"{{{new.layout}}}"


def _texts(old: Shape, new: Shape) -> tuple[str, str]:
    return old.text, new.text


def _other_dimensions(old: Shape, new: Shape) -> bool:
    """Whether two shapes differ in more than element types; of tuples, in their members."""
    if old.elements or new.elements or "()" in {old.text, new.text}:
        if len(old.elements) != len(new.elements):
            return True
        pairs = zip(old.elements, new.elements, strict=True)
        return all(shape.element_type == other.element_type for shape, other in pairs)
    return old.element_type == new.element_type


def shortened(before: str, after: str) -> ShapeChange:
    """Return two texts as old and new; long ones are cut, and their common prefix is left out."""
    if max(len(before), len(after)) > _SHORT:
        same = _common(before, after)
        before, after = _since(before, same), _since(after, same)
    return ShapeChange(_shortened(before) or "none", _shortened(after) or "none")


def _common(before: str, after: str) -> int:
    """Return the length of the common prefix, halving what is left to compare."""
    same, most = 0, min(len(before), len(after))
    while same < most:
        middle = (same + most + 1) // 2
        if before[same:middle] == after[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def _since(text: str, same: int) -> str:
    """Return a text from shortly before a position."""
    return f"…{text[same - _LEAD :]}" if same > 2 * _LEAD else text


def _shortened(text: str) -> str:
    """Return a text without its end if it is long; no name of an instruction is cut."""
    if len(text) <= _SHORT:
        return text
    kept = text[: _SHORT - 1]
    name = kept.rfind("%")
    is_cut = name > 0 and _IN_NAME.fullmatch(text, name, _SHORT) is not None
    return _listed(text, kept, name, is_cut=is_cut) or f"{kept[:name] if is_cut else kept}…"


def _listed(text: str, kept: str, name: int, *, is_cut: bool) -> str:
    """Return a list of instructions, `{%a, %b and 3 more}`, cut at a name; '' of other texts."""
    if _NAMES.fullmatch(text) is None:
        return ""
    whole = kept[: name if is_cut else text.rfind("%", 0, len(kept) + 1)].rstrip(", ")
    left = text.count("%") - whole.count("%")
    if whole == "{":
        return f"{{{units.plural(left, 'instruction')}}}"
    return f"{whole} and {left:,} more}}"
