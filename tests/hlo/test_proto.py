import gzip
from typing import TYPE_CHECKING, Any

import pytest

from xlareport.hlo.model import HloModule, StackFrame
from xlareport.hlo.proto import ProtoReader
from xlareport.hlo.protos.schema import message_class
from xlareport.hlo.text import TextReader

if TYPE_CHECKING:
    from pathlib import Path

F32, S32, PRED, TUPLE = 11, 4, 1, 13
SCALAR = {"element_type": F32}


def instruction(number: int, name: str, opcode: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": number,
        "name": name.encode(),
        "opcode": opcode.encode(),
        "shape": SCALAR,
        **fields,
    }


def module(*computations: dict[str, Any], **fields: Any) -> bytes:
    made = message_class("HloProto")(
        hlo_module={"name": b"m", "computations": computations, **fields}
    )
    data: bytes = made.SerializeToString()
    return data


ADD = {
    "id": 1,
    "name": b"add",
    "root_id": 3,
    "program_shape": {
        "parameters": [SCALAR, SCALAR],
        "result": SCALAR,
        "parameter_names": [b"x", b"y"],
    },
    "instructions": [
        instruction(1, "x", "parameter"),
        instruction(2, "y", "parameter", parameter_number=1),
        instruction(3, "sum", "add", operand_ids=[1, 2], control_predecessor_ids=[2]),
    ],
}
MAIN = {
    "id": 2,
    "name": b"main",
    "root_id": 6,
    "program_shape": {"parameters": [SCALAR], "result": SCALAR, "parameter_names": [b"a"]},
    "instructions": [
        instruction(4, "a", "parameter", metadata={"op_name": b"args[0]", "stack_frame_id": 1}),
        instruction(5, "zero", "constant", literal={"shape": SCALAR, "f32s": [0]}),
        instruction(6, "r", "reduce", operand_ids=[4, 5], called_computation_ids=[1]),
    ],
}
TEXT = """HloModule m, is_scheduled=true

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y), control-predecessors={%y}
}

ENTRY %main (a: f32[]) -> f32[] {
  %zero = f32[] constant(0)
  %a = f32[] parameter(0), metadata={op_name="args[0]" stack_frame_id=1}
  ROOT %r = f32[] reduce(%a, %zero), dimensions={}, to_apply=%add
}
"""
SCHEDULE = {"sequences": [{"key": 2, "value": {"instruction_ids": [5, 4, 6]}}]}


def read(data: bytes) -> tuple[HloModule | None, list[str]]:
    reader = ProtoReader()
    parsed = reader.read(data, "a.pb")
    return parsed, [str(problem) for problem in reader.problems]


def written(found: HloModule | None) -> str:
    assert found is not None
    computations = "".join(
        f"\n{computation.header} {{\n"
        + "".join(f"  {each.text}\n" for each in computation.instructions)
        + "}\n"
        for computation in found.computations
    )
    return f"HloModule {found.name}, {found.header}\n{computations}"


def test_a_module_is_printed_like_a_text() -> None:
    parsed, problems = read(module(ADD, MAIN, entry_computation_id=2, schedule=SCHEDULE))
    assert problems == []
    assert written(parsed) == TEXT


def test_the_text_reads_the_same() -> None:
    parsed, _ = read(module(ADD, MAIN, entry_computation_id=2, schedule=SCHEDULE))
    text = TextReader().read(TEXT.encode(), "a.txt")
    assert parsed is not None
    assert text is not None
    assert [one.text for one in parsed.by_name["main"].instructions] == [
        one.text for one in text.by_name["main"].instructions
    ]
    assert parsed.entry is parsed.by_name["main"]


@pytest.mark.parametrize(
    "fields", [{"entry_computation_id": 1}, {"entry_computation_name": b"add"}]
)
def test_the_entry_by_id_or_name(fields: dict[str, Any]) -> None:
    parsed, _ = read(module(ADD, MAIN, **fields))
    assert parsed is not None
    assert parsed.entry is parsed.by_name["add"]


def test_the_entry_is_the_last_where_nothing_says_so() -> None:
    parsed, _ = read(module(ADD, MAIN))
    assert parsed is not None
    assert [computation.is_entry for computation in parsed.computations] == [False, True]


def test_packed_with_gzip() -> None:
    data = module(ADD, MAIN)
    assert written(read(gzip.compress(data, mtime=0))[0]) == written(read(data)[0])


def test_other_wrappers() -> None:
    proto = message_class("HloProto")()
    proto.ParseFromString(module(ADD, MAIN))
    snapshot = message_class("HloSnapshot")(hlo=proto)
    for wrapped in (snapshot, proto.hlo_module):
        assert written(read(wrapped.SerializeToString())[0]) == written(read(module(ADD, MAIN))[0])


def test_equal_files_and_computations_are_one_object() -> None:
    reader = ProtoReader()
    first = reader.read(module(ADD, MAIN), "a.pb")
    other = reader.read(module(ADD, MAIN, name=b"n"), "b.pb")
    assert first is not None
    assert other is not None
    assert reader.read(module(ADD, MAIN), "c.pb") is first
    assert other is not first
    assert [*other.computations] == [*first.computations]


def test_stack_frames_are_as_in_the_proto() -> None:
    index = {
        "file_names": [b"a.py"],
        "function_names": [b"f"],
        "file_locations": [{"file_name_id": 1, "function_name_id": 1, "line": 3, "column": 4}],
        "stack_frames": [
            {"file_location_id": 1},
            {"file_location_id": 1, "parent_frame_id": 1},
            {"file_location_id": 7},
        ],
    }
    parsed, _ = read(module(MAIN, stack_frame_index=index))
    assert parsed is not None
    assert parsed.stack_frames == {
        1: StackFrame("a.py", "f", 3, 4, None),
        2: StackFrame("a.py", "f", 3, 4, 1),
    }


def test_module_attributes() -> None:
    parsed, _ = read(
        module(
            MAIN,
            input_output_alias={"entries": [{"output_shape_index": [0], "kind": 1}]},
            buffer_donor={"entries": [{"parameter_number": 1}]},
            host_program_shape={"parameters": [SCALAR], "result": SCALAR},
        )
    )
    assert parsed is not None
    assert parsed.attributes == {
        "input_output_alias": "{ {0}: (0, {}, may-alias) }",
        "buffer_donor": "{ (1, {}) }",
        "entry_computation_layout": "{(f32[])->f32[]}",
    }


def test_edges_by_name_of_2018() -> None:
    old = {
        "name": b"main",
        "instructions": [
            {"name": b"a", "opcode": b"parameter", "shape": SCALAR},
            {
                "name": b"b",
                "opcode": b"call",
                "shape": SCALAR,
                "operand_names": [b"a"],
                "control_predecessor_names": [b"a"],
                "called_computation_names": [b"f"],
            },
        ],
    }
    parsed, _ = read(module(old))
    assert parsed is not None
    assert parsed.computations[0].by_name["b"].text == (
        "ROOT %b = f32[] call(%a), to_apply=%f, control-predecessors={%a}"
    )


class TestBrokenProtos:
    """What cannot be read becomes a problem, or stays as the proto has it."""

    @pytest.mark.parametrize(
        "data",
        [
            b"\xff\xff\xff",
            b"HloModule m",
            b"\x1f\x8b" + b"\xff" * 20,
            gzip.compress(b"x", mtime=0)[:-4],
        ],
    )
    def test_no_proto(self, data: bytes) -> None:
        parsed, problems = read(data)
        assert parsed is None
        assert problems[0].startswith("a.pb: cut off, or no HLO module: ")

    def test_a_proto_without_a_module(self) -> None:
        parsed, problems = read(module())
        assert parsed is None
        assert problems == ["a.pb: no HLO module in the proto"]

    def test_ids_that_lead_nowhere(self) -> None:
        broken = {
            "id": 1,
            "name": b"main",
            "instructions": [
                instruction(7, "a", "add", operand_ids=[99], called_computation_ids=[98])
            ],
        }
        parsed, problems = read(module(broken, schedule=SCHEDULE))
        assert problems == []
        assert parsed is not None
        assert parsed.computations[0].instructions[0].text == "%a = f32[] add(%99), calls=%98"

    def test_names_that_no_text_can_hold(self) -> None:
        broken = {"name": b"ma in{", "instructions": [instruction(1, 'a = "(', "opcode")]}
        parsed, problems = read(module(broken))
        assert problems == []
        assert parsed is not None
        assert (parsed.computations[0].name, parsed.computations[0].instructions[0].name) == (
            "ma_in_",
            "a_____",
        )

    def test_an_opcode_that_is_none(self) -> None:
        broken = {"name": b"main", "instructions": [instruction(1, "a", "(")]}
        parsed, problems = read(module(broken, MAIN))
        assert parsed is not None
        assert len(parsed.computations) == 2
        assert problems[0].startswith("a.pb: expected an opcode and `(`")


def test_every_proto_of_a_dump_reads_like_its_text(unpacked: Any) -> None:
    folder: Path = unpacked("jax-cpu-train-allformats")
    protos, texts = ProtoReader(), TextReader()
    paths = sorted(folder.rglob("*.hlo.pb"))
    for path in paths:
        parsed = protos.read(path.read_bytes(), path.name)
        other = texts.read(path.with_name(path.name.replace(".hlo.pb", ".txt")).read_bytes(), "")
        assert parsed is not None
        assert other is not None
        assert parsed.stack_frames == other.stack_frames
        assert {computation.header for computation in parsed.computations} == {
            computation.header for computation in other.computations
        }
    assert len(paths) > 20
    assert protos.problems == []
