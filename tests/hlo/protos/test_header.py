"""What a module says about itself and its computations, as XLA prints it."""

from typing import Any

from xlareport.hlo.protos.header import computation_header, module_attributes, stack_frames
from xlareport.hlo.protos.schema import message_class

F32: dict[str, Any] = {"element_type": 11, "dimensions": [2], "layout": {"minor_to_major": [0]}}


def test_a_module_without_anything_has_no_attributes() -> None:
    assert module_attributes(message_class("HloModuleProto")()) == ""


def test_the_attributes_of_a_module() -> None:
    alias = {"output_shape_index": [0], "parameter_number": 1, "kind": 2}
    module = message_class("HloModuleProto")(
        schedule={"sequences": [{"key": 1}]},
        input_output_alias={"entries": [alias]},
        buffer_donor={"entries": [{"parameter_number": 2, "parameter_shape_index": [1]}]},
        host_program_shape={"parameters": [F32], "result": F32},
    )
    assert module_attributes(module) == (
        "is_scheduled=true, input_output_alias={ {0}: (1, {}, must-alias) }, "
        "buffer_donor={ (2, {1}) }, entry_computation_layout={(f32[2]{0})->f32[2]{0}}"
    )


def test_the_assignment_of_devices_has_the_counts_of_replicas_and_partitions() -> None:
    def header(**counts: int) -> str:
        return module_attributes(message_class("HloModuleProto")(device_assignment=counts))

    assert header(replica_count=2, computation_count=8) == "replica_count=2, num_partitions=8"
    assert header(replica_count=1, computation_count=1) == ""


def test_parameters_without_a_name_are_numbered() -> None:
    computation = message_class("HloComputationProto")(
        name=b"main",
        program_shape={"parameters": [F32, F32], "result": F32, "parameter_names": [b"a"]},
    )
    shown = "%main (a: f32[2], parameter.1: f32[2]) -> f32[2]"
    assert computation_header(computation, is_entry=True) == f"ENTRY {shown}"
    assert computation_header(computation, is_entry=False) == shown


def test_frames_are_numbered_from_one_and_need_a_place() -> None:
    index = message_class("StackFrameIndexProto")(
        file_names=[b"a.py"],
        function_names=[b"f"],
        file_locations=[{"file_name_id": 1, "function_name_id": 9, "line": 3}],
        stack_frames=[{"file_location_id": 7}, {"file_location_id": 1, "parent_frame_id": 1}],
    )
    frames = stack_frames(index)
    assert list(frames) == [2]
    frame = frames[2]
    assert (frame.file, frame.function, frame.line) == ("a.py", "", 3)
    assert (frame.column, frame.parent) == (None, 1)
