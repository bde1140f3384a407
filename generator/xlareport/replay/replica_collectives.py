"""Rewrites collectives to those between replicas, and asynchronous instructions to plain ones.

Partitions are run as replicas: stock jaxlib refuses a module that the SPMD partitioner has already
partitioned. With one replica per partition the ids of both are the same.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from xlareport.hlo.shape import Shape, parse_shape
from xlareport.hlo.shardings.device_groups import parse_groups
from xlareport.replay.runnable_program import Line, NotRunnableError, RunnableProgram, plain_shape

_REDUCING = ("all-reduce", "reduce-scatter", "all-gather")
_MOVING = ("all-to-all", "collective-permute", "collective-broadcast")
COLLECTIVES = frozenset((*_REDUCING, *_MOVING))
_IDS = frozenset({"channel_id", "use_global_device_ids", "constrain_layout"})
_PLAIN_STARTS = frozenset({"all-reduce-start"})
"""Their result is that of the plain instruction; those of others are tuples that hold it."""
STARTS = frozenset(f"{name}-start" for name in ("all-reduce", "all-gather", "collective-permute"))
DONES = frozenset({f"{name[:-6]}-done" for name in STARTS} | {"async-done", "async-update"})


class CollectiveRewriter:
    """Rewrites the communication of a program for several devices."""

    def __init__(self, devices: int, *, is_partitioned: bool) -> None:
        """Store the devices, and whether they are partitions or replicas."""
        self._devices, self._is_partitioned = devices, is_partitioned

    def rewritten(
        self, program: RunnableProgram, line: Line, shapes: dict[str, Shape]
    ) -> Iterator[Line]:
        """Yield the lines for a collective; raises NotRunnableError."""
        groups = () if line.opcode == "collective-permute" else (self._groups_attribute(line),)
        self._check_permutation(line)
        attributes = tuple(
            (name, value)
            for name, value in line.attributes
            if name not in _IDS and name != "replica_groups"
        )
        if line.opcode == "all-reduce":
            attributes = tuple(pair for pair in attributes if pair[0] != "dimensions")
        plain = replace(line, attributes=(*groups, *attributes))
        if self._is_partitioned:
            program.note("collectives between partitions became collectives between replicas")
        if line.opcode == "all-to-all" and dict(attributes).get("dimensions") is None:
            yield from _exchanged(plain, shapes)
        elif line.shape.element_type == "tuple":
            yield from _separated(plain)
        else:
            yield plain

    def device_id(self, program: RunnableProgram, line: Line) -> Line:
        """Return the replacement of a replica or partition id: the replica id, or 0."""
        opcode = "partition-id" if self._is_partitioned else "replica-id"
        if line.opcode == opcode and program.placement is not None:
            return replace(line, opcode="replica-id", attributes=())
        if self._is_partitioned and line.opcode == opcode:
            raise NotRunnableError(f"it asks for its partition ({line.name})")
        program.note(f"{line.opcode} became 0")
        return replace(line, opcode="constant", argument="0", attributes=())

    def _groups_attribute(self, line: Line) -> tuple[str, str]:
        attributes = dict(line.attributes)
        everyone = self._devices
        written = parse_groups(attributes.get("replica_groups", ""), everyone)
        if written is None or written.groups is None:
            raise NotRunnableError(f"its groups of devices are not known ({line.name})")
        groups = written.groups
        if self._is_partitioned:
            groups = self._of_partitions(line, attributes, groups)
        if any(device >= everyone for group in groups for device in group):
            raise NotRunnableError(f"it names devices that it does not have ({line.name})")
        text = ",".join("{" + ",".join(map(str, group)) + "}" for group in groups)
        return "replica_groups", "{" + text + "}"

    def _of_partitions(
        self, line: Line, attributes: dict[str, str], groups: tuple[tuple[int, ...], ...]
    ) -> tuple[tuple[int, ...], ...]:
        """Return groups of partitions; see CollectiveOpGroupMode in XLA."""
        if "channel_id" not in attributes:  # groups of replicas, of which there is one
            return tuple((device,) for device in range(self._devices))
        if line.opcode in _REDUCING and attributes.get("use_global_device_ids") != "true":
            return (tuple(range(self._devices)),)
        return groups

    def _check_permutation(self, line: Line) -> None:
        names = dict(line.attributes)
        if line.opcode != "collective-permute":
            return
        if ("channel_id" in names) != self._is_partitioned:
            raise NotRunnableError(f"it sends between partitions and replicas ({line.name})")
        if line.shape.element_type == "tuple":
            raise NotRunnableError(f"it sends several values at once ({line.name})")


def _separated(line: Line) -> Iterator[Line]:
    """Yield one collective for each operand, and the tuple of their results."""
    names = []
    for place, (operand, shape) in enumerate(zip(line.operands, line.shape.elements, strict=True)):
        name = f"{line.name}.of.{place}"
        yield replace(line, name=name, shape=shape, operands=(operand,), is_root=False)
        names.append(name)
    yield replace(line, opcode="tuple", operands=tuple(names), attributes=())


def _exchanged(line: Line, shapes: dict[str, Shape]) -> Iterator[Line]:
    """Write an all-to-all of a tuple, an operand to each device, as one of an array."""
    part = shapes[line.operands[0]]
    count = len(line.operands)
    sizes = ",".join(str(size) for size in part.dimensions)
    alone = _shape(part, f"1,{sizes}" if sizes else "1")
    every = _shape(part, f"{count},{sizes}" if sizes else f"{count}")
    rows = []
    for place, operand in enumerate(line.operands):
        rows.append(f"{line.name}.row.{place}")
        yield Line(rows[-1], "reshape", alone, (operand,))
    along = (("dimensions", "{0}"),)
    joined, sent = f"{line.name}.joined", f"{line.name}.sent"
    yield Line(joined, "concatenate", every, tuple(rows), attributes=along)
    groups = tuple(pair for pair in line.attributes if pair[0] == "replica_groups")
    yield Line(sent, "all-to-all", every, (joined,), attributes=(*groups, *along))
    results = []
    for place in range(count):
        row = f"{line.name}.got.{place}"
        whole = ", ".join(f"[0:{size}]" for size in part.dimensions)
        cut = f"{{[{place}:{place + 1}]{', ' if whole else ''}{whole}}}"
        yield Line(row, "slice", alone, (sent,), attributes=(("slice", cut),))
        results.append(f"{line.name}.part.{place}")
        yield Line(results[-1], "reshape", part, (row,))
    yield replace(line, opcode="tuple", operands=tuple(results), attributes=())


def _shape(like: Shape, sizes: str) -> Shape:
    return parse_shape(f"{like.element_type}[{sizes}]")


def synchronous(program: RunnableProgram, line: Line) -> Line | None:
    """Return the plain instruction for one that starts an asynchronous one; None for others."""
    if line.opcode == "async-start":
        computation = dict(line.attributes).get("calls", "")
        program.note("asynchronous computations became calls")
        attributes = (("to_apply", computation),)
        return replace(line, opcode="call", shape=_result(line), attributes=attributes)
    if line.opcode in STARTS:
        program.note("asynchronous collectives became synchronous ones")
        shape = line.shape if line.opcode in _PLAIN_STARTS else _result(line)
        return replace(line, opcode=line.opcode.removesuffix("-start"), shape=shape)
    return None


def _result(line: Line) -> Shape:
    """Return the shape of what is started: the second element of what its start gives."""
    if line.shape.element_type != "tuple" or len(line.shape.elements) < 2:
        raise NotRunnableError(f"the shape of {line.name} is not known: {plain_shape(line.shape)}")
    return line.shape.elements[1]
