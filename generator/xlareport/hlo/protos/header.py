"""The header of a module and of its computations, in the form of HLO text."""

from collections.abc import Mapping

from xlareport.hlo.model import StackFrame
from xlareport.hlo.protos.common import frontend_text
from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.shapes import shape_text
from xlareport.hlo.protos.text_pieces import braces, name, named, numbered, set_flag, text, word


def module_attributes(module: Message) -> str:
    """Return the attributes of a module; XLA keeps others in a config outside of the proto.

    It has the counts of replicas and partitions only in the assignment of devices to them.
    """
    return named(
        {
            "is_scheduled": set_flag(module.schedule.sequences),
            "input_output_alias": _aliases(module.input_output_alias),
            "buffer_donor": _donors(module.buffer_donor),
            "entry_computation_layout": _layout(module),
            "replica_count": _several(module.device_assignment.replica_count),
            "num_partitions": _several(module.device_assignment.computation_count),
            "frontend_attributes": frontend_text(module.frontend_attributes),
        }
    )


def _aliases(aliases: Message) -> str:
    words = (
        f"{braces(entry.output_shape_index)}: ({entry.parameter_number}, "
        f"{braces(entry.parameter_shape_index)}, {word('alias', entry.kind)})"
        for entry in aliases.entries
    )
    return "{ " + ", ".join(words) + " }" if aliases.entries else ""


def _donors(donors: Message) -> str:
    words = (
        f"({entry.parameter_number}, {braces(entry.parameter_shape_index)})"
        for entry in donors.entries
    )
    return "{ " + ", ".join(words) + " }" if donors.entries else ""


def _several(count: int) -> str:
    return str(count) if count > 1 else ""


def _layout(module: Message) -> str:
    if not module.HasField("host_program_shape"):
        return ""
    shape = module.host_program_shape
    parameters = numbered([shape_text(parameter) for parameter in shape.parameters])
    return f"{{({parameters})->{shape_text(shape.result)}}}"


def computation_header(computation: Message, *, is_entry: bool) -> str:
    """Return `ENTRY %main (a: f32[2,3]) -> f32[2,3]`."""
    shape = computation.program_shape
    names = list(map(name, shape.parameter_names))
    names += [f"parameter.{n}" for n in range(len(names), len(shape.parameters))]
    words = [
        f"{parameter}: {shape_text(item, with_layout=False)}"
        for parameter, item in zip(names, shape.parameters, strict=False)
    ]
    result = shape_text(shape.result, with_layout=False)
    entry = "ENTRY " if is_entry else ""
    return f"{entry}%{name(computation.name)} ({', '.join(words)}) -> {result}"


def stack_frames(index: Message) -> Mapping[int, StackFrame]:
    """Return frames by id, from 1; those without a known place are left out."""
    frames = {
        number: _frame(index, frame) for number, frame in enumerate(index.stack_frames, start=1)
    }
    return {number: frame for number, frame in frames.items() if frame is not None}


def _frame(index: Message, frame: Message) -> StackFrame | None:
    if not 0 < frame.file_location_id <= len(index.file_locations):
        return None
    place = index.file_locations[frame.file_location_id - 1]
    return StackFrame(
        file=_nth(index.file_names, place.file_name_id),
        function=_nth(index.function_names, place.function_name_id),
        line=place.line,
        column=place.column or None,
        parent=frame.parent_frame_id or None,
    )


def _nth(names: list[bytes], number: int) -> str:
    return text(names[number - 1]) if 0 < number <= len(names) else ""
