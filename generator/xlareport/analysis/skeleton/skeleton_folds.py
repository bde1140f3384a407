"""Folds a skeleton until it fits a screen: items of one scope as one line, repeated layers once.

Nothing is reordered: a line represents consecutive items. Small copies, and kernels without a known
scope, count as part of the previous line.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct, field

from xlareport.analysis.skeleton.items import PHASES, SkeletonItem, total_seconds
from xlareport.analysis.source.scopes import find_numbers, mask_numbers

_MOST_LEVELS = 8
"""Limit on scope levels that are distinguished."""
_LONGEST_PATTERN = 60
"""Lines of a layer that repeats."""
_MANY = 12
"""Copies in a row from which on they have a line of their own."""
_OPEN = "*"
"""Placeholder for a number, as in `mask_numbers`."""
_KEPT = "\0"
_LEAF = frozenset({"kernel", "copy", "host"})
_HOLDING = frozenset({"loop", "conditional", "branch", "call", "command buffer", "async"})

_Key = tuple[object, ...]


_COPIES: _Key = ("copies",)
"""The key of items that belong to no scope."""


class SkeletonLine(Struct, frozen=True):
    """A line: an item, consecutive items, or a repeated sequence."""

    depth: int
    items: tuple[SkeletonItem, ...]
    """All that the line represents, those of every repetition; empty above what repeats."""
    times: int = 1
    """How often the stretch below repeats; the line then represents nothing itself."""
    layers: tuple[str, ...] = ()
    """The numbers by which repetitions or scopes differ: of `layer_0` and `layer_1`, `0`, `1`."""
    scope: str = ""
    """The common scope of all items, with placeholders for varying numbers."""
    seconds: float = 0.0
    """The estimated time of all that is at and below the line, in all repetitions."""


class _Group(Struct):
    key: _Key
    scope: str
    items: list[SkeletonItem] = field(default_factory=list)


class _Stretch(Struct):
    """Groups that repeat; the pattern holds, for each of its places, the groups of all times."""

    times: int
    pattern: list[list[_Group]]


def every_line(items: Sequence[SkeletonItem]) -> tuple[SkeletonLine, ...]:
    """Return a line for each item, nothing folded."""
    return tuple(_unfolded(items, 0))


def fold(items: Sequence[SkeletonItem], most: int) -> tuple[SkeletonLine, ...]:
    """Return the lines of the finest folding that has at most so many, else the first of these."""
    for scopes in range(_MOST_LEVELS, 0, -1):
        for levels in (4, 2, 1):
            lines = tuple(_folded(items, scopes, levels, 0))
            if len(lines) <= most:
                return lines
    return _cut(items, most)


def _unfolded(items: Sequence[SkeletonItem], depth: int) -> Iterator[SkeletonLine]:
    for item in items:
        yield _scope_line(depth, [item], item.scope)
        yield from _unfolded(item.children, depth + 1)


def _folded(
    items: Sequence[SkeletonItem], scopes: int, levels: int, depth: int
) -> Iterator[SkeletonLine]:
    """Yield lines; what is in loops and calls is shown `levels` deep."""
    for stretch in _repeats(_groups(items, scopes)):
        if stretch.times == 1:
            for (group,) in stretch.pattern:
                yield from _of_group([group], scopes, levels, depth)
            continue
        every = [group for place in stretch.pattern for group in place]
        yield SkeletonLine(
            depth=depth,
            items=(),
            times=stretch.times,
            layers=_layers(stretch),
            seconds=sum(total_seconds(tuple(group.items)) for group in every),
        )
        for place in stretch.pattern:
            yield from _of_group(place, scopes, levels, depth + 1)


def _of_group(
    groups: Sequence[_Group], scopes: int, levels: int, depth: int
) -> Iterator[SkeletonLine]:
    items = [item for group in groups for item in group.items]
    yield _scope_line(depth, items, groups[0].scope)
    first = items[0]
    is_opened = first.kind in _HOLDING and (first.kind != "call" or len(items) == 1)
    if levels and is_opened:
        yield from _folded(first.children, scopes, levels - 1, depth + 1)


def _scope_line(depth: int, items: Sequence[SkeletonItem], scope: str) -> SkeletonLine:
    whole = tuple(items)
    shown, layers = _varying(scope, [item.scope for item in items if item.scope])
    return SkeletonLine(depth, whole, scope=shown, layers=layers, seconds=total_seconds(whole))


def _varying(scope: str, scopes: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return a scope with the numbers that all have, and the values of the first that varies."""
    places = scope.count(_OPEN)
    numbers = [find_numbers(scope)[:places] for scope in scopes]
    if not places or not numbers or any(len(number) < places for number in numbers):
        return scope, ()
    columns = [tuple(dict.fromkeys(values)) for values in zip(*numbers, strict=True)]
    for values in columns:
        scope = scope.replace(_OPEN, values[0] if len(values) == 1 else _KEPT, 1)
    return scope.replace(_KEPT, _OPEN), next((column for column in columns if len(column) > 1), ())


def _groups(items: Sequence[SkeletonItem], scopes: int) -> list[_Group]:
    """Group consecutive items of one kind and one scope.

    Collectives are grouped by opcode; exposed ones are not grouped with overlapped ones.

    Quiet items go with the kernels before them, else with those after; many copies that nothing
    overlaps with are a group of their own.
    """
    groups: list[_Group] = []
    waiting: list[SkeletonItem] = []
    for is_quiet, stretch in groupby(items, key=_is_quiet):
        members = list(stretch)
        if not is_quiet:
            _add(groups, members, scopes, waiting)
            waiting = []
        elif sum(item.kind == "copy" and not item.is_async for item in members) >= _MANY:
            groups.append(_Group(_COPIES, "", members))
        elif groups and groups[-1].items[-1].kind in _LEAF:
            groups[-1].items += members
        else:
            waiting = members
    if waiting:
        groups.append(_Group(_COPIES, "", waiting))
    return groups


def _add(
    groups: list[_Group],
    members: Sequence[SkeletonItem],
    scopes: int,
    waiting: Sequence[SkeletonItem],
) -> None:
    """Add items to the last group if they fit, else as new groups.

    `waiting` are items before them: they join the first if that is a kernel, else a group of their
    own.
    """
    if waiting and members[0].kind not in _LEAF:
        groups.append(_Group(_COPIES, "", list(waiting)))
        waiting = ()
    for item in members:
        key = _fold_key(item, scopes)
        if waiting or not groups or groups[-1].key != key:
            groups.append(_Group(key, _common(item.scope, scopes), list(waiting)))
            waiting = ()
        groups[-1].items.append(item)


def _is_quiet(item: SkeletonItem) -> bool:
    """Return whether an item may join the line of others: copies, their ends, unnamed kernels."""
    if item.kind == "done":
        return item.lane != "collectives"
    return item.kind == "copy" or (item.kind == "kernel" and not item.scope)


def _fold_key(item: SkeletonItem, scopes: int) -> _Key:
    common = _common(item.scope, scopes)
    if item.kind in _LEAF:
        return item.kind, common
    if item.kind == "collective":
        return item.kind, item.opcode, item.is_async
    if item.kind == "done":
        return item.kind, item.opcode
    if item.kind == "command buffer":
        return item.kind, item.name
    return item.kind, common, item.trip_count, len(item.children)


def _common(scope: str, scopes: int) -> str:
    """Return the first few scopes, numbers left open; the phase does not count as one."""
    phase, space, path = scope.partition(" ")
    if not space or phase not in PHASES:
        phase, path = "", scope
        if scope in PHASES:
            return scope
    short = "/".join(mask_numbers(path).split("/")[:scopes])
    return f"{phase} {short}".strip()


def _repeats(groups: list[_Group]) -> Iterator[_Stretch]:
    """Yield stretches that repeat at once, and what is between them, in order."""
    keys = [_repeat_key(group) for group in groups]
    place = 0
    while place < len(groups):
        length, times = _best_repeat(keys, place)
        if times > 1:
            stretch = groups[place : place + length * times]
            yield _Stretch(times, [stretch[at::length] for at in range(length)])
            place += length * times
        else:
            yield _Stretch(1, [[groups[place]]])
            place += 1


def _repeat_key(group: _Group) -> _Key:
    """Return what repetitions have in common: numbered scopes, else names and shapes of all items.

    The opcode does not distinguish kernels: most are fusions.
    """
    if group.key == _COPIES or group.items[0].kind == "done":
        return group.key
    if _OPEN in group.scope:
        return *group.key, group.scope
    work = Counter(
        (item.opcode, mask_numbers(item.name), item.shape)
        for item in group.items
        if not _is_quiet(item)
    )
    return *group.key, group.scope, frozenset(work.items())


def _best_repeat(keys: Sequence[_Key], place: int) -> tuple[int, int]:
    """Return length and number of the repetitions that save most lines; (1, 1) for none."""
    best = (1, 1)
    for length in range(2, min(_LONGEST_PATTERN, (len(keys) - place) // 2) + 1):
        if keys[place] != keys[place + length]:
            continue
        pattern, times = keys[place : place + length], 1
        while keys[place + times * length : place + (times + 1) * length] == pattern:
            times += 1
        if (times - 1) * length > (best[1] - 1) * best[0]:
            best = length, times
    return best


def _layers(stretch: _Stretch) -> tuple[str, ...]:
    """Return the first number in the scopes of each repetition, if they are all different."""
    for place in stretch.pattern:
        numbers = [find_numbers(group.items[0].scope)[:1] for group in place]
        if all(numbers) and len(set(numbers)) == len(numbers):
            return tuple(number for (number,) in numbers)
    return ()


def _cut(items: Sequence[SkeletonItem], most: int) -> tuple[SkeletonLine, ...]:
    """Return at most so many lines: of neighbors, the quickest are put together."""
    lines = [_scope_line(0, group.items, group.scope) for group in _groups(items, 1)]
    while len(lines) > most:
        at = min(range(len(lines) - 1), key=lambda i: lines[i].seconds + lines[i + 1].seconds)
        both = [*lines[at].items, *lines[at + 1].items]
        shared = lines[at].scope if lines[at].scope == lines[at + 1].scope else ""
        lines[at : at + 2] = [_scope_line(0, both, shared)]
    return tuple(lines)
