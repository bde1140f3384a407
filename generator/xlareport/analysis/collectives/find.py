"""The collectives of one snapshot, each once, in whichever form a backend writes it.

GPU backends write a start and a done, or an `async-start` that calls a computation with the
collective. TPU backends write a reduce-scatter as a fusion of an all-reduce and a slice, and divide
an asynchronous collective among fusions that compute at the same time, each of which repeats it.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.cost.wire import is_all_reduce_scatter
from xlareport.hlo.async_fusions import is_async_piece
from xlareport.hlo.backend_config import is_synchronous
from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.knowledge.opcodes import begins_collective
from xlareport.runtime.remembered import remembered

_HOLDERS = frozenset({"async-start", "call", "custom-call", "fusion"})
_MOST_CALLS = 8
"""Computations around a collective that are looked at, from the inside out."""
_MOST_UPDATES = 1_000
ASYNC_FUSIONS = "async fusions"
"""The form of a collective that fusions carry out while they compute."""


class Collective(Struct, frozen=True):
    """One collective of a snapshot, with its place in the schedule."""

    kind: str
    """The opcode without `-start`; `reduce-scatter` for an all-reduce inside of one."""
    computation: str
    """Where it is scheduled."""
    instruction: str
    """The first scheduled instruction: the collective, its start, or its fusion."""
    body: tuple[str, str]
    """(computation, instruction) of the collective itself; equals its place outside of fusions."""
    done: str | None
    """The instruction that ends it; None if it is synchronous."""
    parts: tuple[str, ...]
    """Every instruction that carries it out, in the order of its computation."""
    form: str
    """`synchronous`, `start and done`, `async computation`, `fusion` or `async fusions`."""
    thread: str
    """The execution thread of an asynchronous computation, such as `sparsecore`; else empty."""
    inner: tuple[tuple[str, str], ...]
    """(computation, instruction) of the fusions inside loops that continue it meanwhile."""
    is_sync: bool | None
    """Whether the backend config of its start says `is_sync`; None if it says nothing."""

    @property
    def key(self) -> tuple[str, str]:
        """Return the place where it is scheduled."""
        return self.computation, self.instruction

    @property
    def chain(self) -> tuple[str, ...]:
        """Its start with all updates and the done; of other forms the first part alone.

        Nothing is sent before the last of them that takes data has it.
        """
        return self.parts[:1] if self.form == ASYNC_FUSIONS else self.parts

    def first_sending(self, home: Computation) -> str:
        """Return the last part of its chain that takes data: nothing is sent before it.

        Usually the start. TPU backends start some with no operand at all, so that a program is
        fetched meanwhile: an update takes the data.
        """
        taking = (name for name in reversed(self.chain) if self.data_operands(home, name))
        return next(taking, self.instruction)

    def data_operands(self, home: Computation, name: str) -> tuple[str, ...]:
        """Return the operands of a part that are not themselves parts."""
        line = home.by_name.get(name)
        operands = line.operand_names if line is not None else ()
        return tuple(operand for operand in operands if operand not in self.parts)


@remembered
def find_collectives(module: HloModule) -> tuple[Collective, ...]:
    """Return the collectives that the entry reaches, in the order of their computations."""
    bodies = [
        (computation, instruction)
        for computation in module.computations
        for instruction in _collectives_in(computation)
    ]
    if not bodies:
        return ()
    reached = _reached(module)
    bodies = [body for body in bodies if body[0].name in reached]
    callers = _callers(module)
    together: dict[tuple[str, ...], list[_Held]] = {}
    for number, (computation, instruction) in enumerate(bodies):
        held = _held(computation, instruction, callers)
        together.setdefault(_together(held, number), []).append(held)
    groups = list(together.values())
    inner = _continued(module, groups)
    return tuple(
        _collective(pieces, inner[number])
        for number, pieces in enumerate(groups)
        if number in inner
    )


def find_results(module: HloModule) -> Mapping[str, str]:
    """Return the kind of collective by each instruction whose value is the result of one alone.

    That is a collective or its done, and what calls a computation for its result, as TPU backends
    do in a custom-call for one that the SparseCore runs.
    """
    callers, results = _callers(module), dict[str, str]()
    for collective in find_collectives(module):
        if collective.form == ASYNC_FUSIONS:
            continue
        place, name = collective.body
        is_root_asked = collective.form == "fusion" and collective.kind != "reduce-scatter"
        names = [name] if is_root_asked else [name, collective.parts[-1]]
        while place in callers and len(names) < _MOST_CALLS:
            root = module.by_name[place].root
            if root is None or root.name != name:
                break
            home, caller = callers[place]
            place, name = home.name, caller.name
            names.append(name)
        results |= dict.fromkeys(names, collective.kind)
    return results


def _continued(module: HloModule, groups: list[list["_Held"]]) -> dict[int, list["_Held"]]:
    """Return the pieces inside loops by the group that begins their collective, for each group.

    Such pieces are no group of their own.
    """
    pieces_of: dict[int, list[_Held]] = {number: [] for number in range(len(groups))}
    beginning: dict[tuple[str, ...], list[int]] = {}
    for number, pieces in enumerate(groups):
        if pieces[0].is_piece and any(piece.begins for piece in pieces):
            beginning.setdefault(_chain_of(pieces[0]), []).append(number)
    for number, pieces in enumerate(groups):
        if not pieces[0].is_piece or any(piece.begins for piece in pieces):
            continue
        around = [
            other
            for other in beginning.get(_chain_of(pieces[0]), ())
            if pieces[0].place.name
            in called_computations(module, groups[other][0].place.instructions)
        ]
        if len(around) == 1:
            pieces_of[around[0]] += pieces
            del pieces_of[number]
    return pieces_of


def _chain_of(held: "_Held") -> tuple[str, ...]:
    """Return the identity that the pieces of one collective have in common in all computations."""
    attributes = held.instruction.attributes
    names = "channel_id", "frontend_attributes", "replica_groups"
    return held.instruction.opcode, *(attributes.get(name, "") for name in names)


def _reached(module: HloModule) -> set[str]:
    """Return the names of the computations that the entry runs, without unused ones."""
    if module.entry is None:
        return set()
    return {module.entry.name, *called_computations(module, module.entry.calling)}


def _collectives_in(computation: Computation) -> Iterator[Instruction]:
    for instruction in computation.instructions:
        if begins_collective(instruction.opcode):
            yield instruction


class _Held(Struct, frozen=True):
    """A collective instruction and the outermost instruction that contains it."""

    home: Computation
    instruction: Instruction
    place: Computation
    """Computation of the outermost container; the collective's own if there is none."""
    outer: Instruction
    """The outermost holder, or the collective itself."""
    is_piece: bool
    """Whether several fusions execute it one after the other."""

    @property
    def begins(self) -> bool:
        """Whether the collective begins here."""
        root = self.home.root
        return root is not None and "AsyncCollectiveStart" in root.attributes_text


def _held(
    home: Computation,
    instruction: Instruction,
    callers: Mapping[str, tuple[Computation, Instruction]],
) -> _Held:
    holders = [(home, instruction)]
    while len(holders) < _MOST_CALLS and holders[-1][0].name in callers:
        holders.append(callers[holders[-1][0].name])
    while holders[-1][1].opcode in ("call", "custom-call"):  # which hold nothing by themselves
        holders.pop()
    place, outer = holders[-1]
    return _Held(home, instruction, place, outer, is_async_piece(home, instruction))


def _callers(module: HloModule) -> Mapping[str, tuple[Computation, Instruction]]:
    """Return the caller of each computation with only one fusion, call or async-start as caller."""
    return module.sole_calls(lambda call: call.instruction.opcode in _HOLDERS)


def _together(held: _Held, number: int) -> tuple[str, ...]:
    """Return the key that the pieces of one collective share; a unique key for others."""
    if not held.is_piece or held.outer is held.instruction:
        return (str(number),)
    attributes = held.instruction.attributes
    return held.place.name, held.instruction.opcode, attributes.get("channel_id", str(number))


def _collective(pieces: list[_Held], inner: Sequence[_Held]) -> Collective:
    first = pieces[0]
    place, outer, instruction = first.place, first.outer, first.instruction
    parts = _chain(place, outer) if len(pieces) == 1 else _names_in_order(pieces)
    begins = place.by_name.get(parts[0], outer)
    kind = instruction.opcode.removesuffix("-start")
    return Collective(
        kind="reduce-scatter" if is_all_reduce_scatter(first.home) else kind,
        computation=place.name,
        instruction=begins.name,
        body=(first.home.name, instruction.name),
        done=parts[-1] if len(parts) > 1 else None,
        parts=tuple(parts),
        form=_form_words(first, len(pieces)),
        inner=tuple(dict.fromkeys((piece.place.name, piece.outer.name) for piece in inner)),
        thread=begins.attributes.get("async_execution_thread", "").strip('"'),
        is_sync=is_synchronous(begins),
    )


def _names_in_order(pieces: list[_Held]) -> list[str]:
    """Return the names of the instructions that contain the pieces, in line order."""
    names = {piece.outer.name for piece in pieces}
    lines = pieces[0].place.instructions
    return [instruction.name for instruction in lines if instruction.name in names]


def _form_words(held: _Held, pieces: int) -> str:
    if held.outer.opcode == "async-start":
        return "async computation"
    if held.outer.opcode == "fusion":
        return ASYNC_FUSIONS if pieces > 1 else "fusion"
    return "start and done" if held.outer.opcode.endswith("-start") else "synchronous"


def _chain(place: Computation, outer: Instruction) -> list[str]:
    """Return a start with its updates and its done, by the operands that lead on."""
    names = [outer.name]
    instruction = outer
    while instruction.opcode.endswith(("-start", "-update")) and len(names) < _MOST_UPDATES:
        following = [
            user
            for user in place.users.get(instruction.name, ())
            if user.opcode.endswith(("-update", "-done"))
        ]
        if not following or following[0].name in names:
            break
        instruction = following[0]
        names.append(instruction.name)
    return names
