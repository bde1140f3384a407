"""Makes the skeleton of a module: its instructions in order, those that run nothing left out."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from xlareport.analysis.collectives.collective_figures import CollectiveFigures, measure_collectives
from xlareport.analysis.collectives.schedule import Schedule
from xlareport.analysis.cost.breakdown import OpKey
from xlareport.analysis.cost.costed import CostedModule
from xlareport.analysis.cost.phases import FORWARD, key_by_phase
from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.cost.time_basis import TimeBasis
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.skeleton.command_buffers import in_command_buffers, recorded_names
from xlareport.analysis.skeleton.items import (
    PHASES,
    ItemKind,
    Lane,
    Skeleton,
    SkeletonItem,
    every_item,
    total_seconds,
)
from xlareport.analysis.skeleton.waits import find_starts, with_ends
from xlareport.analysis.source.locations import op_name_of
from xlareport.analysis.source.scopes import scope_of, without_control_flow
from xlareport.hlo.graph import callees_first
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import DEVICE_IDS, RUNNERS
from xlareport.hlo.shape import Shape
from xlareport.knowledge.opcodes import begins_collective, is_collective
from xlareport.program import CodeNotes
from xlareport.runtime.graphs import reachable

_FREE = frozenset(
    {
        *("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"),
        *("partition-id", "replica-id", "opt-barrier", "add-dependency", "domain"),
    }
)
"""Opcodes that run nothing by themselves, unless they are a member of a command buffer."""
_HOST = frozenset({"infeed", "outfeed", "send", "recv"})
_MOVES = frozenset({"copy", "slice", "dynamic-slice", "dynamic-update-slice"})
_TO_HOST = "S(5)"
_AMONG_KERNELS = "async fusions"
"""The form of a collective that runs in pieces, each inside of a kernel that computes."""
_MOST_ITEMS = 200_000
_LONGEST_SHAPE = 60


class _Estimates(Struct, frozen=True):
    """The data from which times are estimated."""

    module: HloModule
    cost: ModuleCost
    basis: TimeBasis
    collectives: Mapping[InstructionKey, float | None]
    """The modeled time of what begins a collective; None where it is not known."""
    kinds: Mapping[InstructionKey, str]
    """The kind of collective that begins there."""
    synchronous: frozenset[InstructionKey]
    """Starts of collectives that end before any other instruction runs."""

    def seconds(self, computation: Computation, instruction: Instruction) -> float | None:
        """Return the estimated time of one execution; for a collective the modeled time, if any."""
        key = computation.name, instruction.name
        modeled = self.collectives.get(key)
        if modeled is not None:
            return modeled
        counted = self.cost.instructions.get(key)
        is_known = counted is not None and estimate_time(counted, self.basis.device) is not None
        return self.basis.seconds(counted) if counted is not None and is_known else None


def read_skeleton(costed: CostedModule) -> Skeleton:
    """Return the skeleton of a module's final snapshot."""
    hlo, cost, device = costed.hlo, costed.cost, costed.device
    collectives = measure_collectives(Schedule(hlo, cost, device))
    synchronous = (figures.collective for figures in collectives if figures.collective.is_sync)
    estimates = _Estimates(
        hlo,
        cost,
        costed.basis,
        _collective_times(collectives),
        {figures.collective.key: figures.collective.kind for figures in collectives},
        frozenset(collective.key for collective in synchronous),
    )
    code = costed.module.code
    recorded = recorded_names(code) or frozenset()
    outline = _Outline(estimates, code, recorded, key_by_phase(hlo))
    items = outline.of_entry()
    every = [item for _, item in every_item(items)]
    return Skeleton(
        module=costed.module.files.key,
        name=hlo.name,
        snapshot=costed.final.stage.label,
        is_scheduled=hlo.is_scheduled,
        backend=costed.backend or "",
        device=device.name,
        device_grade=costed.device_grade,
        items=items,
        left_out=outline.left_out,
        time_name=costed.basis.name,
        whole_seconds=costed.seconds,
        unknown=sum(item.seconds is None and item.kind != "done" for item in every),
        problems=tuple(outline.problems),
    )


def _collective_times(
    collectives: Sequence[CollectiveFigures],
) -> Mapping[InstructionKey, float | None]:
    """Return the modeled time of collectives that one instruction carries out, or begins."""
    return {
        figures.collective.key: figures.time.seconds
        for figures in collectives
        if figures.collective.form != _AMONG_KERNELS
    }


class _Outline(Struct):
    """Makes the items of each computation once, callees first."""

    estimates: _Estimates
    code: CodeNotes
    recorded: frozenset[str]
    """Names of the members of command buffers."""
    phase_key: OpKey | None
    """None in a module without gradients."""
    left_out: int = 0
    problems: list[str] = field(default_factory=list)
    _items_of: dict[str, tuple[SkeletonItem, ...]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    def of_entry(self) -> tuple[SkeletonItem, ...]:
        """Return the items of the entry computation."""
        module = self.estimates.module
        order = callees_first(module)
        if order is None or module.entry is None:
            self.problems.append("The computations call one another in a circle.")
            return ()
        needed = _run_computations(module)
        for computation in order:
            if computation.name in needed:
                self._make(computation)
        return in_command_buffers(self._items_of[module.entry.name], self.code)

    def _make(self, computation: Computation) -> None:
        items: list[SkeletonItem] = []
        size = 0
        for instruction in computation.instructions:
            if instruction.opcode in _FREE and instruction.name not in self.recorded:
                self.left_out += 1
                continue
            item = self._item(computation, instruction)
            size += 1 + sum(self._sizes.get(name, 0) for _, name in instruction.called)
            if size > _MOST_ITEMS:
                self.problems.append(
                    f"{computation.name} is cut after {len(items):,} items: it runs too many."
                )
                break
            items.append(item)
        ends = find_starts(items, computation)
        shown = [
            item for place, item in enumerate(items) if not self._ends_sync(items, ends, place)
        ]
        self.left_out += len(items) - len(shown)
        self._items_of[computation.name] = tuple(with_ends(shown, computation))
        self._sizes[computation.name] = size

    def _ends_sync(
        self, items: Sequence[SkeletonItem], ends: Mapping[int, int], place: int
    ) -> bool:
        """Return whether an item ends a synchronous collective: it waits for nothing."""
        start = ends.get(place)
        return start is not None and (
            (items[start].computation, items[start].name) in self.estimates.synchronous
        )

    def _item(self, computation: Computation, instruction: Instruction) -> SkeletonItem:
        module = self.estimates.module
        op_name = op_name_of(instruction, module)
        children, trip_count = self._children(computation, instruction)
        kind, lane = self._kind(instruction)
        opcode, key = _called_name(instruction), (computation.name, instruction.name)
        if key in self.estimates.collectives:
            kind, lane = "collective", "collectives"
            if opcode in ("fusion", "async-start"):
                opcode = self.estimates.kinds[key]
        seconds = self._seconds(computation, instruction, children)
        if kind == "loop":
            seconds = total_seconds(children) * (1 if trip_count is None else trip_count)
        return SkeletonItem(
            kind=kind,
            lane=lane,
            name=instruction.name,
            opcode=opcode,
            computation=computation.name,
            scope=self._scope(computation, instruction, op_name),
            shape=_shape_words(instruction.shape),
            seconds=None if kind == "done" else seconds,
            children=children,
            trip_count=trip_count,
            thread=_thread(instruction),
            note=_item_note(kind, trip_count, seconds),
        )

    def _scope(self, computation: Computation, instruction: Instruction, op_name: str) -> str:
        """Return phase and scopes: `backward layer_3/mlp`; another phase only without scopes."""
        # what is in a loop and in no scope of the program stays apart from its neighbors
        whole = scope_of(op_name)
        scope = "/".join(without_control_flow(whole.split("/"))) or whole
        if self.phase_key is None:
            phase = FORWARD if "jvp(" in op_name else ""
        else:
            phase = self.phase_key(computation, instruction, op_name)
        if phase == scope.partition("/")[0]:
            return scope
        return f"{phase} {scope}".strip() if phase in PHASES or not scope else scope

    def _children(
        self, computation: Computation, instruction: Instruction
    ) -> tuple[tuple[SkeletonItem, ...], int | None]:
        """Return the items that an instruction runs, and the trip count of a loop."""
        called = dict(reversed(instruction.called))
        match instruction.opcode:
            case "while":
                trip = self.estimates.cost.trip_counts.get((computation.name, instruction.name))
                parts = (called.get("condition", ""), called.get("body", ""))
                children = tuple(item for name in parts for item in self._items_of.get(name, ()))
                return children, trip.count if trip else None
            case "conditional":
                names = [name for _, name in instruction.called]
                return tuple(self._branch(name) for name in names), None
            case "call" | "async-start":
                names = [name for _, name in instruction.called]
                return tuple(item for name in names for item in self._items_of.get(name, ())), None
            case _:
                return (), None

    def _branch(self, name: str) -> SkeletonItem:
        items = self._items_of.get(name, ())
        return SkeletonItem(
            kind="branch",
            lane="compute",
            name=name,
            opcode="branch",
            computation=name,
            seconds=total_seconds(items),
            children=items,
        )

    def _kind(self, instruction: Instruction) -> tuple[ItemKind, Lane]:
        opcode = instruction.opcode
        if opcode.endswith(("-done", "-update")):
            return "done", "compute"
        if opcode in _HOST or _TO_HOST in instruction.shape.text:
            return "host", "copies"
        if begins_collective(opcode):
            return "collective", "collectives"
        if opcode == "async-start":
            return self._kind_of_async(instruction)
        if opcode in ("copy", "copy-start") or opcode in DEVICE_IDS:
            return "copy", "copies"  # the thunk of an id writes it to memory
        kinds: Mapping[str, ItemKind] = {
            "while": "loop",
            "conditional": "conditional",
            "call": "call",
        }
        return kinds.get(opcode, "kernel"), "compute"

    def _kind_of_async(self, instruction: Instruction) -> tuple[ItemKind, Lane]:
        module = self.estimates.module
        called = module.callees(instruction)
        inside = [instruction for computation in called for instruction in computation.instructions]
        working = [instruction for instruction in inside if instruction.opcode not in _FREE]
        if any(is_collective(instruction.opcode) for instruction in inside):
            return "collective", "collectives"
        if working and all(instruction.opcode in _MOVES for instruction in working):
            return "copy", "copies"
        return "async", "compute"

    def _seconds(
        self,
        computation: Computation,
        instruction: Instruction,
        children: Sequence[SkeletonItem],
    ) -> float | None:
        if instruction.opcode == "conditional":
            return max((child.seconds or 0.0 for child in children), default=0.0)
        if (computation.name, instruction.name) in self.estimates.collectives:
            return self.estimates.seconds(computation, instruction)
        if children:
            return total_seconds(tuple(children))
        return self.estimates.seconds(computation, instruction)


def _run_computations(module: HloModule) -> frozenset[str]:
    """Return the computations that are run by themselves, not as a part of a kernel."""

    def run_by(name: str) -> Iterator[str]:
        for instruction in module.by_name[name].instructions:
            if instruction.opcode in RUNNERS:
                yield from (computation.name for computation in module.callees(instruction))

    return frozenset(reachable([module.entry.name] if module.entry else [], run_by))


def _thread(instruction: Instruction) -> str:
    thread = instruction.attributes.get("async_execution_thread", "").strip('"')
    return "" if thread == "main" else thread[:_LONGEST_SHAPE]


def _called_name(instruction: Instruction) -> str:
    target = instruction.call_target
    return target or instruction.opcode


def _shape_words(shape: Shape) -> str:
    """Return types and dimensions of an array, of a tuple those of its largest element."""
    if shape.elements:
        largest = max(shape.elements, key=lambda element: element.byte_size or 0)
        others = len(shape.elements) - 1
        return f"({_shape_words(largest)}{f', {others} more' if others else ''})"[:_LONGEST_SHAPE]
    return shape.type_and_sizes[:_LONGEST_SHAPE]


def _item_note(kind: ItemKind, trip_count: int | None, seconds: float | None) -> str:
    if kind == "loop" and trip_count is None:
        return "trip count not known: counted once"
    if seconds is None and kind != "done":
        return "time not known"
    return ""
