import pytest
from tests.modules import parse_module

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import parse_shape


def instruction(name: str, opcode: str = "add", *operands: str, **more: str) -> Instruction:
    return Instruction(
        name=name,
        opcode=opcode,
        shape=parse_shape("f32[]"),
        operands=operands,
        argument=more.get("argument", ""),
        is_root=more.get("root", "") == "yes",
        attributes_text=more.get("attributes", ""),
        text=name,
    )


def computation(*instructions: Instruction, name: str = "c", entry: bool = False) -> Computation:
    return Computation(name, name, instructions, is_entry=entry)


def test_attributes_of_an_instruction_made_by_hand() -> None:
    one = instruction("a", attributes='to_apply=%f, metadata={op_name="x"}')
    assert one.attributes == {"to_apply": "%f", "metadata": '{op_name="x"}'}
    assert one.called == (("to_apply", "f"),)
    assert one.metadata.op_name == "x"
    assert one.attributes is one.attributes


def test_operand_names_leave_out_elements() -> None:
    assert instruction("a", "add", "b#0#1", "c").operand_names == ("b", "c")


def test_moves_are_looked_through_up_to_a_limit() -> None:
    lines = (
        instruction("a", "sine"),
        instruction("b", "copy", "a"),
        instruction("c", "bitcast", "b"),
        instruction("d", "copy", "gone"),
    )
    home, moves = computation(*lines), {"bitcast", "copy"}
    assert home.behind(lines[2], moves, 8) is lines[0]
    assert home.behind(lines[2], moves, 1) is lines[1]
    assert home.behind(lines[0], moves, 8) is lines[0]
    assert home.behind(lines[3], moves, 8) is None


def test_parameters_by_number() -> None:
    made = computation(
        instruction("x", "parameter", argument="10"),
        instruction("y", "parameter", argument="2"),
        instruction("z", "parameter", argument="?"),
        instruction("r"),
    )
    assert [parameter.name for parameter in made.parameters] == ["z", "y", "x"]


def test_instructions_that_call_are_found_once_and_in_order() -> None:
    calls = instruction("b", "fusion", attributes="calls=%f"), instruction("c", "call")
    loop = instruction("d", "while", attributes="condition=%g, body=%h")
    made = computation(instruction("a"), *calls, loop)
    assert [line.name for line in made.calling] == ["b", "d"]
    assert made.calling is made.calling


def test_the_root_is_marked_or_last() -> None:
    first, last = instruction("a"), instruction("b")
    assert computation(first, last).root is last
    assert computation(instruction("r", root="yes"), last).root is not last
    assert computation().root is None


def test_users_once_each_and_in_order() -> None:
    user, other = instruction("u", "add", "a", "a#1"), instruction("v", "add", "a")
    made = computation(instruction("a"), user, other)
    assert made.users == {"a": (user, other)}
    names = made.by_name
    made.drop_derived()
    assert vars(made) == {"by_name": names}
    assert made.users == {"a": (user, other)}


@pytest.mark.parametrize(("entries", "expected"), [((), "b"), (("a",), "a")])
def test_the_entry_is_marked_or_last(entries: tuple[str, ...], expected: str) -> None:
    made = [computation(name=name, entry=name in entries) for name in "ab"]
    entry = HloModule("m", "", tuple(made)).entry
    assert entry is not None
    assert entry.name == expected


def test_an_empty_module() -> None:
    module = HloModule("m", "", ())
    assert module.entry is None
    assert module.instruction_count == 0
    assert module.attributes == {}


def test_what_is_compared_is_identity() -> None:
    assert instruction("a") != instruction("a")
    assert computation() != computation()


def test_an_instruction_is_found_by_its_place() -> None:
    one, other = instruction("a"), instruction("a", "multiply")
    module = HloModule("m", "", (computation(one), computation(other, name="d", entry=True)))
    assert list(module.instructions) == [one, other]
    assert module.find("d", "a") is other
    assert module.find("d", "b") is None
    assert module.find("e", "a") is None


def partitioned(name: str, *shardings: str, header: str = "") -> HloModule:
    parameters = "".join(
        f"  %p{number} = f32[2] parameter({number}){sharding}\n"
        for number, sharding in enumerate(shardings)
    )
    return parse_module(f"HloModule m{header}\n\nENTRY %{name} {{\n{parameters}}}\n")


def test_partitions_are_those_of_the_header_else_of_the_shardings_after_partitioning() -> None:
    whole, rows = ", sharding={replicated}", ", sharding={devices=[2,1,4]<=[4,2]T(1,0) last_tile}"
    assert partitioned("main.7_spmd", whole, rows).partition_count == 8
    assert partitioned("main.7_spmd", rows, header=", num_partitions=4").partition_count == 4
    assert partitioned("main.7_spmd", whole).partition_count == 1, "not known"
    assert partitioned("main.7", rows).partition_count == 1
    assert (
        partitioned("main.7_spmd", ", sharding={devices=[999999999,999]<=[9]}").partition_count == 1
    )
