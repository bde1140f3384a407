"""Rewrites a snapshot to what stock jaxlib runs on CPU devices, without changing its values.

What is not rewritten and cannot run is refused by name, before anything is compiled.
"""

from collections.abc import Callable, Collection, Iterator

from msgspec.structs import replace

from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import DEVICE_IDS
from xlareport.hlo.shape import Shape, bits_of, parse_shape
from xlareport.replay.flatten import flatten
from xlareport.replay.library_calls import LIBRARY_CALLS, plain_lines
from xlareport.replay.placement import Placement
from xlareport.replay.replica_collectives import (
    COLLECTIVES,
    DONES,
    CollectiveRewriter,
    synchronous,
)
from xlareport.replay.runnable_program import (
    Line,
    NotRunnableError,
    RunnableProgram,
    plain_shape,
    take_program,
)

_DROPPED = frozenset(
    {
        "metadata",
        "backend_config",
        "sharding",
        "frontend_attributes",
        "control-predecessors",
        "origin",
        "statistics",
        "outer_dimension_partitions",
        "parameter_replication",
        "output_to_operand_aliasing",
        "async_execution_thread",
        "schedule",
    }
)
"""Attributes that say how to run an instruction, or where it comes from, not what it computes."""
_REFUSED = {
    "infeed": "it reads from the infeed",
    "outfeed": "it writes to the outfeed",
    "send": "it sends to another program",
    "recv": "it receives from another program",
    "send-done": "it sends to another program",
    "recv-done": "it receives from another program",
    "rng": "its random numbers come from a state of the device",
    "rng-get-and-update-state": "its random numbers come from a state of the device",
}
_SAME_VALUE_CALLS = frozenset(
    {
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "MoveToHost",
        "MoveToDevice",
        "annotate_device_placement",
        "LayoutConstraint",
    }
)
"""Custom calls that return their operand: on one device they only annotate it."""
_RUN_CALLS = frozenset({"TopK"})
"""Custom calls that XLA's CPU compiler itself implements."""
_COLLECTIVES = (
    *("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute"),
    *("collective-broadcast", "ragged-all-to-all"),
)


def runnable(
    module: HloModule,
    placement: Placement | None = None,
    kept_calls: Collection[str] = (),
) -> RunnableProgram:
    """Return a snapshot as a program for one CPU device, or for those of its placement.

    Custom calls with the targets `kept_calls` stay: they are compiled and not run. Raises
    NotRunnableError.
    """
    program = replace(take_program(module), placement=placement)
    devices = 1 if placement is None else placement.devices
    collectives = CollectiveRewriter(devices, is_partitioned=module.partition_count > 1)
    for body in program.bodies:
        shapes = {line.name: line.shape for line in body.lines}
        for shape in shapes.values():
            plain_shape(shape)
        body.lines = [
            new
            for line in body.lines
            for new in (
                [line]
                if line.call_target in kept_calls
                else _rewritten(program, line, shapes, collectives)
            )
        ]
    flatten(program)
    return program


def _rewritten(
    program: RunnableProgram,
    line: Line,
    shapes: dict[str, Shape],
    collectives: CollectiveRewriter,
) -> Iterator[Line]:
    if line.call_target in LIBRARY_CALLS:
        program.note(f"custom calls {line.call_target} became plain instructions")
        yield from plain_lines(line, shapes)
        return
    attributes = tuple((name, value) for name, value in line.attributes if name not in _DROPPED)
    line = replace(line, attributes=attributes)
    line = synchronous(program, line) or line
    if line.opcode in _REFUSED:
        raise NotRunnableError(f"{_REFUSED[line.opcode]} ({line.opcode} {line.name})")
    rewriting = _REWRITINGS.get(line.opcode)
    if line.opcode in DEVICE_IDS:
        yield collectives.device_id(program, line)
    elif line.opcode in COLLECTIVES and program.placement is not None:
        yield from collectives.rewritten(program, line, shapes)
    elif line.opcode.startswith(_COLLECTIVES) and line.opcode not in DONES:
        raise NotRunnableError(f"it has a collective ({line.opcode} {line.name})")
    elif rewriting is None:
        yield line
    else:
        yield from rewriting(program, line, shapes)


def _fusion(program: RunnableProgram, line: Line, _shapes: dict[str, Shape]) -> Iterator[Line]:
    program.note("fusions became calls")
    attributes = dict(line.attributes)
    yield replace(line, opcode="call", attributes=(("to_apply", attributes["calls"]),))


def _call(program: RunnableProgram, line: Line, _shapes: dict[str, Shape]) -> Iterator[Line]:
    del program
    yield replace(line, attributes=(("to_apply", dict(line.attributes)["to_apply"]),))


def _constant(_program: RunnableProgram, line: Line, _shapes: dict[str, Shape]) -> Iterator[Line]:
    if "..." in line.argument:
        raise NotRunnableError(f"the text leaves out the value of the constant {line.name}")
    yield line


def _custom_call(program: RunnableProgram, line: Line, shapes: dict[str, Shape]) -> Iterator[Line]:
    target = line.call_target
    if target in _RUN_CALLS:
        yield line
        return
    same_shape = len(line.operands) == 1 and plain_shape(shapes[line.operands[0]]) == plain_shape(
        line.shape
    )
    if target not in _SAME_VALUE_CALLS or not same_shape:
        raise NotRunnableError(f"it has the custom call {target[:80]!r} ({line.name})")
    program.note(f"custom calls {target} became copies")
    yield replace(line, opcode="copy", attributes=())


def _same_value(program: RunnableProgram, line: Line, _shapes: dict[str, Shape]) -> Iterator[Line]:
    program.note(f"{line.opcode} became copy")
    yield replace(line, opcode="copy", operands=line.operands[:1], attributes=())


def _copy_start(program: RunnableProgram, line: Line, shapes: dict[str, Shape]) -> Iterator[Line]:
    """Yield the tuple of a copy-start, whose first element is the destination."""
    program.note("copy-start and copy-done became copy")
    shape = shapes[line.operands[0]]
    yield replace(line, opcode="copy", shape=shape, attributes=())


def _done(program: RunnableProgram, line: Line, _shapes: dict[str, Shape]) -> Iterator[Line]:
    """Pass on what was started; a copy of a tuple is written element by element."""
    del program
    if line.shape.element_type != "tuple":
        yield replace(line, opcode="copy", attributes=())
        return
    names = []
    for place, shape in enumerate(line.shape.elements):
        names.append(f"{line.name}.done.{place}")
        index = (("index", str(place)),)
        yield Line(names[-1], "get-tuple-element", shape, line.operands, attributes=index)
    yield replace(line, opcode="tuple", operands=tuple(names), attributes=())


def _bitcast(program: RunnableProgram, line: Line, shapes: dict[str, Shape]) -> Iterator[Line]:
    """Yield instructions for a bitcast's effect on the logical array, by both layouts."""
    before, after = shapes[line.operands[0]], line.shape
    if (
        bits_of(before.element_type) != bits_of(after.element_type)
        or before.element_count != after.element_count
    ):
        raise NotRunnableError(f"a bitcast changes the size of the elements ({line.name})")
    program.note("bitcasts became transposes and reshapes")
    from_order, to_order = _major_to_minor(before), _major_to_minor(after)
    flat = _ordered(after, to_order)
    same_type = parse_shape(flat.text.replace(after.element_type, before.element_type, 1))
    steps = [
        ("transpose", _ordered(before, from_order), _dimensions(from_order)),
        ("reshape", same_type, ()),
        ("bitcast-convert", flat, ()),
    ]
    if before.element_type == after.element_type:
        steps.pop()
    operand = line.operands[0]
    for opcode, shape, attributes in steps:
        name = f"{line.name}.{opcode}"
        yield Line(name, opcode, shape, (operand,), "", attributes)
        operand = name
    inverse = _dimensions([to_order.index(place) for place in range(len(to_order))])
    yield Line(line.name, "transpose", after, (operand,), "", inverse, line.is_root)


def _major_to_minor(shape: Shape) -> list[int]:
    written = shape.layout.partition(":")[0]
    count = len(shape.dimensions)
    order = [int(place) for place in written.split(",") if place.strip().isdigit()]
    if sorted(order) != list(range(count)):
        if order:
            raise NotRunnableError(f"the layout {shape.layout[:60]} does not fit its shape")
        return list(range(count))
    return order[::-1]


def _ordered(shape: Shape, order: list[int]) -> Shape:
    sizes = ",".join(str(shape.dimensions[place]) for place in order)
    return parse_shape(f"{shape.element_type}[{sizes}]")


def _dimensions(order: list[int]) -> tuple[tuple[str, str], ...]:
    return (("dimensions", f"{{{','.join(map(str, order))}}}"),)


_Rewriting = Callable[[RunnableProgram, Line, dict[str, Shape]], Iterator[Line]]
_REWRITINGS: dict[str, _Rewriting] = {
    "fusion": _fusion,
    "call": _call,
    "constant": _constant,
    "custom-call": _custom_call,
    "domain": _same_value,
    "copy-start": _copy_start,
    "copy-done": _done,
    **dict.fromkeys(DONES, _done),
    "bitcast": _bitcast,
}
