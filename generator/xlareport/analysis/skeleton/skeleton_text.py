"""A skeleton as text: one line each, times at the left, for a terminal and for a page."""

from collections import Counter
from collections.abc import Iterator, Sequence

from xlareport.analysis.skeleton.items import ItemKind, Skeleton, SkeletonItem, every_item
from xlareport.analysis.skeleton.skeleton_folds import SkeletonLine
from xlareport.runtime import units
from xlareport.runtime.english import listing

_KINDS: dict[ItemKind, tuple[str, str]] = {
    "kernel": ("kernel", "kernels"),
    "copy": ("copy", "copies"),
    "host": ("host transfer", "host transfers"),
    "collective": ("collective", "collectives"),
    "async": ("async call", "async calls"),
    "done": ("wait", "waits"),
    "loop": ("loop", "loops"),
    "conditional": ("conditional", "conditionals"),
    "branch": ("branch", "branches"),
    "call": ("call", "calls"),
    "command buffer": ("command buffer", "command buffers"),
}


def skeleton_head(skeleton: Skeleton) -> Iterator[str]:
    """Yield the introduction of the text: module, order, times."""
    yield f"{skeleton.module}, {skeleton.snapshot}"
    if skeleton.is_scheduled:
        yield "Order: XLA's schedule (is_scheduled=true)."
    else:
        yield (
            "Order: topological. The module is not scheduled; the order of independent "
            "instructions is not that of execution."
        )
    grade = "" if skeleton.device_grade == "exact" else f", device {skeleton.device_grade}"
    yield (
        f"Times are estimates ({skeleton.time_name} on {skeleton.device}{grade}), not measured: "
        f"{units.seconds(skeleton.seconds)} in sequence, with waits for asynchronous operations."
        f"{_sum_words(skeleton)}"
    )
    if skeleton.unknown:
        yield f"The time of {units.plural(skeleton.unknown, 'item')} is not known."
    for note in sorted(_buffer_notes(skeleton)):
        yield f"Command buffers: {note}."
    yield from skeleton.problems


def _sum_words(skeleton: Skeleton) -> str:
    """Return the sum of all instructions where some are asynchronous, as the Cost tab has it."""
    if skeleton.whole_seconds is None or not any(
        item.is_async for _, item in every_item(skeleton.items)
    ):
        return ""
    whole = units.seconds(skeleton.whole_seconds)
    return (
        f" The {skeleton.time_name} of all instructions is {whole}: there asynchronous operations "
        "count in full, here only the waits for their ends."
    )


def _buffer_notes(skeleton: Skeleton) -> set[str]:
    """Return the notes on how command buffer members are known, without repetitions."""
    every = (item for _, item in every_item(skeleton.items))
    return {item.note for item in every if item.kind == "command buffer" and item.note}


def time_words(line: SkeletonLine) -> str:
    """Return the estimated time of a line; `?` if unknown.

    Items that overlap with others do not count beside others that do not.
    """
    timed = [item for item in line.items if item.kind != "done" or item.seconds]
    if line.items and not timed:
        return ""
    if timed and all(item.seconds is None for item in timed):
        return "?"
    overlap = bool(timed) and all(item.is_async for item in timed)
    seconds = sum(item.seconds or 0.0 for item in timed) if overlap else line.seconds
    return units.seconds(seconds) if seconds else "0"


def line_parts(line: SkeletonLine) -> tuple[str, str, str]:
    """Return the text of a line without its time: text, instruction name, text."""
    if not line.items:
        layers = f" ({_layers(line.layers)})" if line.layers else ""
        return f"repeated {line.times} times{layers}, in total:", "", ""
    if len(line.items) == 1:
        return _one_item(line.items[0])
    return _several(line)


def text_lines(lines: Sequence[SkeletonLine], width: int) -> Iterator[str]:
    """Yield the lines as a terminal shows them, cut at a width."""
    for line in lines:
        words = "".join(line_parts(line))
        text = f"{time_words(line):>9}  {'  ' * line.depth}{words}"
        yield text if len(text) <= width else f"{text[: width - 1]}…"


def _layers(numbers: Sequence[str]) -> str:
    if len(numbers) > 3:
        return f"{numbers[0]}, {numbers[1]}, …, {numbers[-1]}"
    return ", ".join(numbers)


def _one_item(item: SkeletonItem) -> tuple[str, str, str]:
    scope = f"  {item.scope}" if item.scope else ""
    match item.kind:
        case "loop":
            trips = f"{item.trip_count:,}" if item.trip_count is not None else "?"
            return (
                f"while \N{MULTIPLICATION SIGN} {trips} ",
                item.name,
                f"{_note_words(item)}{scope}",
            )
        case "conditional":
            branches = units.plural(len(item.children), "branch", "branches")
            return "conditional ", item.name, f": one of {branches}{scope}"
        case "command buffer":
            members = units.plural(len(item.children), "member")
            return f"command buffer {item.name}: {members}", "", ""
        case "done":
            return "wait: ", item.name, f" (of {item.done})" if item.done else ""
        case "branch":
            return f"branch {item.name}", "", ""
        case _:
            after = f": {item.opcode} {item.shape}{_until(item)}{_note_words(item)}{scope}"
            return "", item.name, after


def _until(item: SkeletonItem) -> str:
    """Return what an asynchronous item overlaps with."""
    if not item.is_async:
        return ""
    time = f", {units.seconds(item.beside_seconds)}" if item.beside_seconds else ""
    where = f" on {item.thread}" if item.thread else ""
    return f"{where} until {item.done}, overlaps {_beside(item)}{time}"


def _beside(item: SkeletonItem) -> str:
    if not item.beside:
        return "waits for others" if item.beside_seconds else "nothing"
    return listing([units.plural(count, *_KINDS[kind]) for kind, count in item.beside.items()])


def _note_words(item: SkeletonItem) -> str:
    has_note = item.note and item.note != "time not known"
    return f" ({item.note})" if has_note else ""


def _several(line: SkeletonLine) -> tuple[str, str, str]:
    counts = Counter(item.kind for item in line.items)
    many, opcode = f"{len(line.items):,} \N{MULTIPLICATION SIGN}", line.items[0].opcode
    if counts.keys() <= {"collective"}:
        beside = [item.beside.get("kernel", 0) for item in line.items]
        parts = f"{many} {opcode}"
        parts += f", overlapping up to {units.plural(max(beside), 'kernel')}" if any(beside) else ""
    elif counts.keys() <= {"done"}:
        parts = f"{many} wait: {opcode}"
    else:
        parts = ", ".join(
            units.plural(count, *_KINDS[kind]) for kind, count in counts.most_common()
        )
    layers = f" ({len(line.layers)} different)" if len(line.layers) > 1 else ""
    scope = f"{line.scope}{layers}: " if line.scope and _is_of_scope(line.items) else ""
    trips = {item.trip_count for item in line.items if item.kind == "loop"}
    trip = trips.pop() if len(trips) == 1 else None
    repeated = f" \N{MULTIPLICATION SIGN} {trip:,} each" if trip is not None else ""
    longest = _longest(line.items)
    return f"{scope}{parts}{repeated}{', longest ' if longest else ''}", longest, ""


def _is_of_scope(items: Sequence[SkeletonItem]) -> bool:
    """Return whether most of the time is of items with a scope; others joined their line."""
    whole = sum(item.seconds or 0.0 for item in items)
    return 2 * sum(item.seconds or 0.0 for item in items if item.scope) >= whole


def _longest(items: Sequence[SkeletonItem]) -> str:
    """Return the longest instruction, among those that do not overlap with others."""
    alone = [item for item in items if not item.is_async] or items
    longest = max(alone, key=lambda item: item.seconds or 0.0)
    return longest.name if longest.seconds else ""
