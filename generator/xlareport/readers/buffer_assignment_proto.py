"""Reads the buffer assignment in a `.hlo.pb`, for dumps that have it in no text.

Only the protos of the optimised module have one. It lacks the shapes of the values and of the
output; all sizes and places are those of the text.
"""

import zlib
from collections.abc import Mapping
from typing import Any

from google.protobuf.message import DecodeError

from xlareport.readers.buffer_assignment import Allocation, BufferAssignment, BufferValue
from xlareport.readers.table_protos import message_class
from xlareport.runtime.errors import Problem
from xlareport.runtime.packed import decompress_bytes


def read_buffer_assignment_proto(
    data: bytes, path: str
) -> tuple[BufferAssignment | None, list[Problem]]:
    """Read the assignment from a HloProto, packed or not; None where it has none."""
    try:
        proto = message_class("buffer_assignment", "HloProto")()
        proto.ParseFromString(decompress_bytes(data))
    except (DecodeError, zlib.error) as error:
        return None, [Problem(path, None, f"cut off, or no HLO proto: {error}")]
    if not proto.HasField("buffer_assignment"):
        return None, []
    names = {
        instruction.id: instruction.name.decode("utf-8", "replace")
        for computation in proto.hlo_module.computations
        for instruction in computation.instructions
    }
    buffers = {
        logical_buffer.id: logical_buffer
        for logical_buffer in proto.buffer_assignment.logical_buffers
    }
    allocations = tuple(
        _allocation(buffer_allocation, buffers, names)
        for buffer_allocation in proto.buffer_assignment.buffer_allocations
    )
    return BufferAssignment(allocations, None), []


def _allocation(value: Any, buffers: Mapping[int, Any], names: Mapping[int, str]) -> Allocation:
    special = value.is_entry_computation_parameter or value.is_constant or value.is_thread_local
    known = [placed for placed in value.assigned if placed.logical_buffer_id in buffers]
    values = (_value(placed, buffers[placed.logical_buffer_id], names) for placed in known)
    return Allocation(
        index=value.index,
        size=value.size,
        color=value.color,
        parameter=value.parameter_number if value.is_entry_computation_parameter else None,
        parameter_index=tuple(value.parameter_shape_index),
        output_shape=None,
        is_constant=value.is_constant,
        is_thread_local=value.is_thread_local,
        maybe_live_out=value.maybe_live_out,
        is_preallocated_temp=not special and not value.maybe_live_out,
        values=tuple(values),
    )


def _value(placed: Any, buffer: Any, names: Mapping[int, str]) -> BufferValue:
    place = buffer.defined_at
    name = place.instruction_name.decode("utf-8", "replace")
    return BufferValue(
        id=buffer.id,
        instruction=name or names.get(place.instruction_id, ""),
        index=tuple(place.shape_index),
        is_phi=False,
        color=buffer.color,
        offset=placed.offset,
        size=placed.size,
        shape="",
    )
