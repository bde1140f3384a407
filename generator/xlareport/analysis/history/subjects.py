"""The subjects of histories, instructions or framework ops: found by name, and listed."""

from collections.abc import Iterator
from difflib import get_close_matches

from msgspec import Struct

from xlareport.analysis.history.instruction import SnapshotSequence, places_of_op
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.facts import facts_of
from xlareport.analysis.source.inlined_op_names import whole_op_name, whole_op_names
from xlareport.analysis.source.scopes import ends_plain, plain_path
from xlareport.hlo.model import Computation, HloModule

_NEAR = 5


class Subject(Struct, frozen=True):
    """The instructions whose history is requested, and the snapshot they are in."""

    name: str
    """`computation/%instruction`, or an op_name."""
    number: int
    """The index of the snapshot in which the places are."""
    places: tuple[Place, ...]


def find_subjects(
    snapshots: SnapshotSequence, asked: str, number: int | None = None
) -> tuple[Subject, ...]:
    """Return all that a name can mean, the latest first; `number` limits the search.

    `asked` is `%name`, `name` or `computation/%name`, or an op_name or the end of one.
    """
    return _instructions(snapshots, asked, number) or _ops(snapshots, asked, number)


def near_names(snapshots: SnapshotSequence, asked: str) -> tuple[str, ...]:
    """Return similar names from the last and first snapshot, and similar op_names."""
    wanted = asked.lstrip("%")
    names: dict[str, None] = {}
    for module in (snapshots.modules[-1], snapshots.modules[0]):
        for computation in module.computations:
            names |= dict.fromkeys(
                f"%{instruction.name}" for instruction in computation.instructions
            )
    ops = dict.fromkeys(_op_names(snapshots.modules[0]))
    near = get_close_matches(f"%{wanted}", names, _NEAR, cutoff=0.7)
    inside = [name for name in (*ops, *names) if wanted.lower() in name.lower()]
    inside += [name for name in ops if wanted.lower() in plain_path(name).lower()]
    return tuple(dict.fromkeys((*near, *inside)))[:_NEAR]


def _instructions(
    snapshots: SnapshotSequence, asked: str, number: int | None
) -> tuple[Subject, ...]:
    """Return the instructions that have a name, each once however many snapshots it is in."""
    computation, slash, name = asked.rpartition("/%")
    name = name if slash else asked.removeprefix("%")
    seen: set[tuple[int, Place]] = set()
    subjects = []
    last = len(snapshots.modules) - 1
    for snapshot in range(last, -1, -1) if number is None else (number,):
        for place in _places_of_name(
            snapshots.modules[snapshot], computation.removeprefix("%"), name
        ):
            if (snapshot, place) not in seen:
                seen.update(_path(snapshots, snapshot, place))
                subjects.append(Subject(str(place), snapshot, (place,)))
    return tuple(subjects)


def _places_of_name(module: HloModule, computation: str, name: str) -> Iterator[Place]:
    for this_computation in module.computations:
        if name in this_computation.by_name and computation in ("", this_computation.name):
            yield Place(this_computation.name, name)


def _path(snapshots: SnapshotSequence, number: int, place: Place) -> Iterator[tuple[int, Place]]:
    """Yield the place of an instruction in each snapshot up to one."""
    current: Place | None = place
    for earlier in range(number, -1, -1):
        if current is None:
            return
        yield earlier, current
        matching = snapshots.into(earlier) if earlier else None
        current = current if matching is None else matching.partner_before(current)


def _ops(snapshots: SnapshotSequence, asked: str, number: int | None) -> tuple[Subject, ...]:
    """Return the framework ops of a name in the first snapshot that has some."""
    every = range(len(snapshots.modules)) if number is None else (number,)
    for snapshot in every:
        module = snapshots.modules[snapshot]
        op_names = set(_op_names(module))
        names = {text for text in op_names if asked in text.split(";")} | ({asked} & op_names)
        names = names or {text for text in op_names if _ends_with(text, asked)}
        names = names or {text for text in op_names if ends_plain(text, asked)}
        if names:
            return tuple(
                Subject(name, snapshot, places_of_op(module, name)) for name in sorted(names)
            )
    return ()


def _ends_with(op_name: str, asked: str) -> bool:
    """Return whether an op_name of this instruction ends so; XLA joins several with `;`."""
    return any(text.endswith(f"/{asked}") for text in op_name.split(";"))


def _op_names(module: HloModule) -> Iterator[str]:
    for computation, line in module.placed:
        yield from whole_op_names(module, computation, line)


def list_subjects(snapshots: SnapshotSequence) -> Iterator[Subject]:
    """Yield each instruction of the last snapshot outside of fusions, then the ops of the first.

    An op is all instructions with one op_name; an instruction without op_name is its own subject.
    """
    last = len(snapshots.modules) - 1
    for place in _outside_of_fusions(snapshots.modules[last]):
        yield Subject(str(place), last, (place,))
    for name, places in _op_subjects(snapshots.modules[0]).items():
        yield Subject(name, 0, tuple(places))


def _outside_of_fusions(module: HloModule) -> Iterator[Place]:
    inside = _fused(module)
    for computation in module.computations:
        if computation.name not in inside:
            yield from _instruction_places(computation)


def _fused(module: HloModule) -> set[str]:
    """Return the computations that a fusion calls, or that are applied to scalars."""
    callees: set[str] = set()
    for computation in module.computations:
        for call in facts_of(computation).calls:
            if call.instruction.opcode == "fusion" or call.attribute == "to_apply":
                callees.add(call.callee)
    return callees


def _op_subjects(module: HloModule) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = {}
    for computation in module.computations:
        for line, place in zip(
            computation.instructions, _instruction_places(computation), strict=True
        ):
            name = whole_op_name(module, computation, line)
            places.setdefault(name or str(place), []).append(place)
    return places


def _instruction_places(computation: Computation) -> Iterator[Place]:
    for line in computation.instructions:
        yield Place(computation.name, line.name)
