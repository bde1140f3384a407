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

from xlareport.hlo.model import HloModule
from xlareport.hlo.protos.header import module_attributes, stack_frames
from xlareport.hlo.protos.printer import Printer
from xlareport.hlo.protos.schema import Message, message_class
from xlareport.hlo.protos.text_pieces import text
from xlareport.hlo.snapshot_reading import PrintedReader, SnapshotReading, first_problems
from xlareport.runtime.errors import Problem
from xlareport.runtime.packed import decompress_bytes


class ProtoReader(PrintedReader):
    """Reads protos that belong together: equal files, computations and instructions are shared."""

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
            self._computation(
                printer.header(computation),
                printer.lines(computation),
                problems,
                text(computation.execution_thread) or "main",
            )
            for computation in module.computations
        )
        frames = stack_frames(module.stack_frame_index)
        result = HloModule(text(module.name), module_attributes(module), computations, frames)
        return SnapshotReading(result, first_problems(problems))


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
