"""The live range of a value: its producer and its last use."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.cost.occupancy import BufferKey
from xlareport.readers.buffer_values import UsedValue
from xlareport.readers.live_range import LiveRange, LiveRanges


class End(StrEnum):
    """The kind of event that ends the live range of a value."""

    ARGUMENT = "argument"
    """It belongs to the caller and is live throughout."""
    RESULT = "result"
    """It is returned to the caller."""
    USE = "use"
    """No later instruction reads it."""


class Follower(Struct, frozen=True):
    """A value that shares the buffer of an earlier one, such as the result of a loop."""

    instruction: str
    index: tuple[int, ...]
    end: int
    """Position in the schedule, included."""
    ends: End
    last_use: str
    operand: int | None
    """As those of its `Lifetime`."""


class Lifetime(Struct, frozen=True):
    """From where to where in the schedule a value lives, and why no shorter."""

    start: int
    end: int
    """Both positions are included; the last may be one past the schedule, its very end."""
    positions: int
    """Of the whole schedule."""
    ends: End
    last_use: str
    """The instruction at the end of its life; empty at the very end."""
    operand: int | None
    """Which operand of `last_use` it is; None where it is none, or the dump lists no uses."""
    uses: int | None
    """How many operands read it; None where the dump does not list uses."""
    last_read: tuple[str, int] | None = None
    """The last instruction that reads it, and as which operand, where that is not `last_use`.

    Its memory is in use longer then, as that of a loop's state is.
    """
    follower: Follower | None = None
    """The last of the values that follow it in its buffer without a gap; None if none does."""


def estimate_lifetime(
    order: Sequence[str], first: int, last: int, *, is_argument: bool
) -> Lifetime:
    """Return the life of a value between two positions of a schedule; `last` may be its end."""
    used = order[last] if last < len(order) else ""
    ends = End.USE if used else End.RESULT
    ends = End.ARGUMENT if is_argument else ends
    return Lifetime(first, last, len(order), ends, used, None, None)


def explain_lifetimes(
    live: LiveRanges, values: Iterable[UsedValue], parameters: frozenset[str]
) -> Mapping[BufferKey, Lifetime]:
    """Return the life of every value that the live-range file gives one."""
    used = {(value.instruction, value.index): value for value in values}
    place = {name: position for position, name in enumerate(live.schedule)}
    lifetimes: dict[BufferKey, Lifetime] = {}
    for lives in live.ranges:
        key = (lives.instruction, lives.index)
        lifetimes[key] = _lifetime(
            lives, live, used.get(key), place, is_argument=lives.instruction in parameters
        )
    return lifetimes


def _lifetime(
    lives: LiveRange,
    live: LiveRanges,
    value: UsedValue | None,
    place: Mapping[str, int],
    *,
    is_argument: bool,
) -> Lifetime:
    positions = len(live.schedule)
    last = live.schedule[lives.end] if lives.end < positions else ""
    ends = End.ARGUMENT if is_argument else End.USE if last else End.RESULT
    operands = [use.operand for use in value.uses if use.instruction == last] if value else []
    return Lifetime(
        start=lives.start,
        end=lives.end,
        positions=positions,
        ends=ends,
        last_use=last,
        operand=operands[0] if operands else None,
        uses=len(value.uses) if value else None,
        last_read=_last_read(value, place) if value and not operands else None,
    )


def follow_aliases(
    lifetimes: Mapping[BufferKey, Lifetime], buffers: Iterable[Sequence[BufferKey]]
) -> Mapping[BufferKey, Lifetime]:
    """Return the lifetimes with their followers; each of `buffers` lists the values in one buffer.

    The follower is the last of the later values that use the buffer without a gap.
    """
    followed = dict(lifetimes)
    for keys in buffers:
        for *earlier, last in _unbroken([key for key in keys if key in lifetimes], lifetimes):
            life = lifetimes[last]
            follower = Follower(*last, life.end, life.ends, life.last_use, life.operand)
            followed.update({key: replace(lifetimes[key], follower=follower) for key in earlier})
    return followed


def _unbroken(
    keys: Iterable[BufferKey], lifetimes: Mapping[BufferKey, Lifetime]
) -> Iterator[list[BufferKey]]:
    """Yield the values of a buffer in parts that live without a gap, each by the ends of lives."""
    part: list[BufferKey] = []
    for key in sorted(keys, key=lambda key: (lifetimes[key].start, lifetimes[key].end)):
        if part and lifetimes[key].start > lifetimes[part[-1]].end:
            yield part
            part = []
        is_last = not part or lifetimes[key].end >= lifetimes[part[-1]].end
        part.insert(len(part) if is_last else len(part) - 1, key)
    if part:
        yield part


def _last_read(value: UsedValue, place: Mapping[str, int]) -> tuple[str, int] | None:
    """Return the last use in schedule order; uses outside the schedule come first."""
    uses = enumerate(value.uses)
    last = max(uses, key=lambda use: (place.get(use[1].instruction, -1), use[0]), default=None)
    return (last[1].instruction, last[1].operand) if last else None
