"""Collective matmuls: loops that the SPMD partitioner writes for a product with a sharded operand.

A windowed einsum sends the shards of an operand, or the sums of the result, around a ring, and
multiplies meanwhile (`windowed_dot_general_body_ag` and `_rs`, xla/service/spmd/dot_handler.cc).
"""

from collections.abc import Iterator

from msgspec import Struct

from xlareport.analysis.collectives.filled_values import find_filling
from xlareport.analysis.collectives.partitioning import MOVES
from xlareport.analysis.cost.loops import Loops
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shardings.device_groups import parse_pairs

_BODY = "windowed_dot_general_body"
_SCATTERS = f"{_BODY}_rs"
_PERMUTE = "collective-permute"
_FARTHEST = 100
_ON = (MOVES - {"get-tuple-element"}) | {f"{_PERMUTE}-done"}
_HOPS = frozenset({_PERMUTE, f"{_PERMUTE}-start", "conditional"})
"""A conditional has the permute in a branch: not after the last product."""
_FOLLOWED = _ON | _HOPS | {"add"}
_FEWEST = 2
"""Hops of a ring."""


class Ring(Struct, frozen=True):
    """One collective-permute of a collective matmul: which hop of which value."""

    home: Computation
    """Where the loop is, or was before it was unrolled."""
    loop: Instruction
    sent: Instruction
    """The permute."""
    is_scatter: bool
    """Whether the sums of the result go around; else the shards of an operand."""
    start: Instruction | None
    """The value before its first hop, in the computation of the loop; None if not known."""
    hops: tuple[int, ...]
    """Numbers of the hops that it makes, by iteration of the loop; empty if not known."""
    count: int | None
    """Hops of this value that are needed, in all; None if not known."""
    is_zero: bool
    """Whether the value before its first hop is zero."""
    is_after: bool
    """Whether it follows the loop: it brings the two partial sums of the ring together."""
    direction: int
    """1 to the next device of the ring, -1 to the previous one, 0 where that is not clear."""

    @property
    def sent_dimensions(self) -> tuple[int | None, ...]:
        """Return the sizes of the array that it sends."""
        return self.sent.shape.first.dimensions

    @property
    def sends_zero(self) -> bool:
        """Whether its first hop sends sums to which nothing is added yet."""
        return self.is_scatter and 1 in self.hops and self.is_zero


class _ValueRoute(Struct, frozen=True):
    """The way of a value back to where it comes from in a computation."""

    hops: int
    source: Instruction


def find_ring(module: HloModule, home: Computation, body: Instruction) -> Ring | None:
    """Return the collective matmul that a permute belongs to; None if it belongs to none."""
    if body.opcode.removesuffix("-start") != _PERMUTE:
        return None
    place = _loop_with(module, home)
    if place is not None:
        return _ring_of_permute(module, *place, home, body)
    return _before(module, home, body) or _after(module, home, body)


def _ring_of_permute(
    module: HloModule, outer: Computation, loop: Instruction, home: Computation, body: Instruction
) -> Ring:
    """Return the ring of a permute in the body of a loop, or in a branch of that."""
    way = _way_back(home, body)
    if _BODY not in home.name:
        inner = _branch_in(module, home)
        way = _way_back(*inner) if inner is not None and way.source in home.parameters else way
        home = inner[0] if inner is not None else home
    element = _element_of(way.source, home.parameters[0] if home.parameters else None)
    chain = _Chain(module, outer, loop, home, element)
    return chain.ring(body, chain.numbers(way.hops))


def _before(module: HloModule, home: Computation, body: Instruction) -> Ring | None:
    """Return the ring of a permute that sends a shard once before the loop."""
    for loop in _windowed_loops(home):
        state = home.operand(loop)
        if state is None or state.metadata.op_name != body.metadata.op_name:
            continue
        for number in range(len(state.operand_names)):
            value = home.operand(state, number)
            if _passes(home, value, body):
                chain = _Chain(module, home, loop, module.callee(loop, "body"), number)
                return chain.ring(body, (_way_back(home, body).hops,))
    return None


def _after(module: HloModule, home: Computation, body: Instruction) -> Ring | None:
    """Return the ring of a permute that sends the sums once after the loop."""
    way = _way_back(home, body)
    loop = home.operand(way.source) if way.source.opcode == "get-tuple-element" else None
    if loop is None or not _is_windowed(loop):
        return None
    if _SCATTERS not in _body_name(loop) or loop.metadata.op_name != body.metadata.op_name:
        return None
    chain = _Chain(module, home, loop, module.callee(loop, "body"), _element_of(way.source, loop))
    last = chain.in_loop
    return chain.ring(body, () if last is None else (last + way.hops,), is_after=True)


class _Chain:
    """The hops of one element of a loop's state."""

    def __init__(
        self,
        module: HloModule,
        home: Computation,
        loop: Instruction,
        body: Computation | None,
        element: int | None,
    ) -> None:
        self._module, self._home, self._loop, self._element = module, home, loop, element
        state = home.operand(loop)
        given = home.operand(state, element) if state and element is not None else None
        self.first = _way_back(home, given) if given else None
        """The way of the initial value."""
        self.trips = Loops(module).trip_count(home, loop).count
        self.hops_in_trip = _hops_of_trip(body, element)
        """Hops in one iteration."""

    @property
    def in_loop(self) -> int | None:
        """Return the hops up to the end of the loop."""
        if self.first is None or self.trips is None or self.hops_in_trip is None:
            return None
        return self.first.hops + self.trips * self.hops_in_trip

    def numbers(self, own: int) -> tuple[int, ...]:
        """Return the hop numbers of the `own`-th permute of each iteration, one per trip."""
        if self.first is None or self.trips is None or self.hops_in_trip is None:
            return ()
        begin = self.first.hops + own
        return tuple(begin + self.hops_in_trip * trip for trip in range(min(self.trips, _FARTHEST)))

    def ring(self, body: Instruction, hops: tuple[int, ...], *, is_after: bool = False) -> Ring:
        """Return the ring of a permute that makes these hops."""
        start = self.first.source if self.first else None
        filling = find_filling(self._module, self._home, start) if start is not None else None
        return Ring(
            home=self._home,
            loop=self._loop,
            sent=body,
            is_scatter=_SCATTERS in _body_name(self._loop),
            start=start,
            is_zero=filling is not None and filling.is_zero,
            hops=hops,
            count=self._count(),
            is_after=is_after,
            direction=_direction(body),
        )

    def _count(self) -> int | None:
        """Return the number of needed hops; the last is not if nothing reads its result."""
        whole = self.in_loop
        results = [
            user
            for user in self._home.users.get(self._loop.name, ())
            if _element_of(user, self._loop) == self._element
        ]
        readers = [user for line in results for user in self._home.users.get(line.name, ())]
        if whole is None:
            return None
        if not readers and not any(line.is_root for line in results):
            return whole - 1
        return whole + any(user.opcode.startswith(_PERMUTE) for user in readers)


def _hops_of_trip(body: Computation | None, element: int | None) -> int | None:
    """Return the hops of a value of a loop's state in one iteration; None if not known."""
    root = body.root if body is not None else None
    if body is None or root is None or element is None or not body.parameters:
        return None
    value = body.operand(root, element)
    way = _way_back(body, value) if value is not None else None
    is_same_element = way is not None and _element_of(way.source, body.parameters[0]) == element
    return way.hops if is_same_element and way is not None else None


def _way_back(home: Computation, value: Instruction) -> _ValueRoute:
    """Return the hops of a value, including itself, and what it was before them.

    Sums are followed to what they add to, the first operand.
    """
    hops = 0
    for _ in range(_FARTHEST):
        hops += value.opcode in _HOPS
        if value.opcode not in _FOLLOWED:
            break
        number = 1 if value.opcode == "conditional" else 0
        before = home.operand(value, number)
        if before is None:
            break
        value = before
    return _ValueRoute(hops, value)


def _passes(home: Computation, value: Instruction | None, body: Instruction) -> bool:
    """Return whether a value is what a permute sent, perhaps moved since."""
    for _ in range(_FARTHEST):
        if value is None or value is body:
            return value is body
        value = home.operand(value) if value.opcode in _ON else None
    return False


def _direction(body: Instruction) -> int:
    """Return 1 for a step to the next device of each ring, -1 for one to the previous, else 0."""
    pairs = dict(parse_pairs(body.attributes.get("source_target_pairs", "")) or ())
    steps = set()
    while pairs:
        ring = [next(iter(pairs))]
        while ring[-1] in pairs:
            ring.append(pairs.pop(ring[-1]))
        members = sorted(set(ring))
        step = (members.index(ring[1]) - members.index(ring[0])) % len(members)
        steps.add(0 if len(members) <= _FEWEST else {1: 1, len(members) - 1: -1}.get(step, 0))
    return steps.pop() if len(steps) == 1 else 0


def _loop_with(module: HloModule, home: Computation) -> tuple[Computation, Instruction] | None:
    """Return the windowed loop whose body, or a branch in it, a computation is."""
    branch = None if _BODY in home.name else _branch_in(module, home)
    name = branch[0].name if branch is not None else home.name
    return next(
        (
            (place, loop)
            for place in module.computations
            for loop in _windowed_loops(place)
            if _body_name(loop) == name
        ),
        None,
    )


def _branch_in(module: HloModule, home: Computation) -> tuple[Computation, Instruction] | None:
    """Return the conditional in the body of a windowed loop that has a computation as a branch."""
    for place in module.computations:
        for line in place.instructions if _BODY in place.name else ():
            if line.opcode == "conditional" and any(name == home.name for _, name in line.called):
                return place, line
    return None


def _windowed_loops(home: Computation) -> Iterator[Instruction]:
    return (line for line in home.instructions if _is_windowed(line))


def _is_windowed(line: Instruction) -> bool:
    return line.opcode == "while" and _BODY in _body_name(line)


def _body_name(loop: Instruction) -> str:
    return dict(loop.called).get("body", "")


def _element_of(line: Instruction, state: Instruction | None) -> int | None:
    """Return the number of the element of a tuple that an instruction takes; None for others."""
    is_taken = line.opcode == "get-tuple-element" and state is not None
    if not is_taken or state is None or state.name not in line.operand_names:
        return None
    return line.taken_element
