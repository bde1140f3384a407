"""Reads `.hlo.pb`: each instruction is printed as HLO text, then read like one.

So equal instructions of protos are one object, as in texts, and every instruction has the text that
pages and differences show. Unlike a text of a current release,

- get-tuple-element is an instruction of its own, as it is in the proto
- the module lacks the attributes that XLA keeps in a configuration: numbers of replicas and
  partitions, what sharding may spread to
- `backend_config` is as the proto holds it; XLA writes JSON in another order
- statistics, the origin of values, the accuracy of results and sparsity are not printed
- computations come in the order of the proto, which may be another one
"""

import zlib

from google.protobuf.message import DecodeError

from xlareport.hlo.header import ComputationPool
from xlareport.hlo.line import InstructionPool, LineError
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.protos.header import module_attributes, stack_frames
from xlareport.hlo.protos.printer import Printer
from xlareport.hlo.protos.schema import Message, message_class
from xlareport.hlo.protos.words import text
from xlareport.hlo.reading import SnapshotReader, SnapshotReading, first_problems, unreadable_line
from xlareport.runtime.errors import Problem
from xlareport.runtime.packed import decompress_bytes


class ProtoReader(SnapshotReader):
    """Reads protos that belong together: equal files, computations and instructions are shared."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = InstructionPool()
        self._computations = ComputationPool()

    def _read(self, data: bytes) -> SnapshotReading:
        try:
            module = _module(decompress_bytes(data))
        except (DecodeError, zlib.error) as error:
            return SnapshotReading(
                None, (Problem("", None, f"cut off, or no HLO module: {error}"),)
            )
        if module is None:
            return SnapshotReading(None, (Problem("", None, "no HLO module in the proto"),))
        printer = Printer(module)
        problems: list[Problem] = []
        computations = tuple(
            self._computation(printer, computation, problems) for computation in module.computations
        )
        frames = stack_frames(module.stack_frame_index)
        result = HloModule(text(module.name), module_attributes(module), computations, frames)
        return SnapshotReading(result, first_problems(problems))

    def _computation(
        self, printer: Printer, computation: Message, problems: list[Problem]
    ) -> Computation:
        instructions: list[Instruction] = []
        for line in printer.lines(computation):
            try:
                instructions.append(self._lines[line])
            except LineError as error:
                problems.append(unreadable_line(line, error))
        thread = text(computation.execution_thread) or "main"
        return self._computations.get(printer.header(computation), tuple(instructions), thread)


def _module(data: bytes) -> Message | None:
    """Return the module in a HloProto, a HloSnapshot, or bare: the bytes do not say which it is.

    Raises DecodeError if they are none of them.
    """
    for name, path in (
        ("HloProto", ("hlo_module",)),
        ("HloSnapshot", ("hlo", "hlo_module")),
        ("HloModuleProto", ()),
    ):
        message = message_class(name)()
        try:
            message.ParseFromString(data)
        except DecodeError:
            if name == "HloModuleProto":
                raise
            continue
        for field in path:
            message = getattr(message, field)
        if message.computations:
            return message
    return None
