"""Asynchronous items of a computation: their ends, what runs meanwhile, how long an end waits.

A lane runs one item after the other. Lanes are the links, data movement, each execution thread, and
other asynchronous computations.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.skeleton.items import ItemKind, SkeletonItem
from xlareport.hlo.model import Computation


def with_ends(items: Sequence[SkeletonItem], computation: Computation) -> Iterator[SkeletonItem]:
    """Yield the items; each start and its end name one another, with what runs in between."""
    starts = find_starts(items, computation)
    linked = _link(items, starts)
    late = _find_late(items, computation, starts)
    clock = _Clock()
    begun = {place: linked[start] for start, place in late.items()}
    times = [
        clock.run(None if place in late else begun.get(place, item))
        for place, item in enumerate(linked)
    ]
    ends = {start: end for end, start in starts.items()}
    for place, item in enumerate(linked):
        if place in starts:
            yield replace(item, seconds=times[place].waited)
        elif place in ends:
            end, begin = ends[place], late.get(place, place)
            yield replace(
                item,
                beside=_count(linked[begin + 1 : end]),
                beside_seconds=times[end].begin - times[begin].begin,
            )
        else:
            yield item


def find_starts(items: Sequence[SkeletonItem], computation: Computation) -> Mapping[int, int]:
    """Return the position of the start for each position of an end."""
    places = {item.name: place for place, item in enumerate(items)}
    starts: dict[int, int] = {}
    began: dict[str, str] = {}
    for place, item in enumerate(items):
        if item.kind != "done":
            continue
        operands = computation.by_name[item.name].operand_names
        first = operands[0] if operands else ""
        origin = began.get(first, first)
        began[item.name] = origin
        if item.opcode.endswith("-done") and origin in places:
            starts[place] = places[origin]
    return starts


def _find_late(
    items: Sequence[SkeletonItem], computation: Computation, starts: Mapping[int, int]
) -> Mapping[int, int]:
    """Return by the position of a start that of the last update that takes data, if one does.

    Nothing is sent before. TPU backends start some with no operand, to fetch a program meanwhile.
    """
    parts = {items[start].name: start for start in starts.values()}
    late: dict[int, int] = {}
    for place, item in enumerate(items):
        operands = computation.by_name[item.name].operand_names if item.kind == "done" else ()
        if operands and operands[0] in parts and item.opcode.endswith("-update"):
            parts[item.name] = start = parts[operands[0]]
            if len(operands) > 1:
                late[start] = place
    return late


def _link(items: Sequence[SkeletonItem], starts: Mapping[int, int]) -> list[SkeletonItem]:
    linked = list(items)
    for end, start in starts.items():
        linked[end] = replace(items[end], done=items[start].name, lane=items[start].lane)
        linked[start] = replace(items[start], done=items[end].name)
    return linked


def _count(between: Sequence[SkeletonItem]) -> dict[ItemKind, int]:
    """Return the numbers of items by kind, with collectives that only end there.

    Other asynchronous items are left out: copies share the bandwidth with one another.
    """
    kinds: dict[str, ItemKind] = {}
    for item in between:
        if item.lane == "collectives":
            kinds[item.done if item.kind == "done" else item.name] = "collective"
        elif item.kind != "done" and not item.is_async:
            kinds[item.name] = item.kind
    return dict(Counter(kinds.values()))


class _Span(Struct, frozen=True):
    """Seconds since the beginning of a computation, and those until the next item."""

    begin: float
    waited: float


class _Clock(Struct):
    """Runs the items of a computation by their estimated times."""

    now: float = 0.0
    free: dict[str, float] = field(default_factory=dict)
    """When each lane becomes free."""
    ends: dict[str, float] = field(default_factory=dict)
    """When each asynchronous item ends."""

    def run(self, item: SkeletonItem | None) -> _Span:
        """Return when an item begins, and how long the next waits for it; None takes no time."""
        begin = self.now
        if item is None:
            return _Span(begin, 0.0)
        if item.kind == "done":
            self.now = max(self.now, self.ends.get(item.done, 0.0))
        elif item.is_async:
            lane = item.thread or item.lane
            end = max(self.now, self.free.get(lane, 0.0)) + (item.seconds or 0.0)
            self.free[lane] = self.ends[item.name] = end
        else:
            self.now += item.seconds or 0.0
        return _Span(begin, self.now - begin)
