"""Computations of a proto as lines of HLO text."""

from typing import Any

import pytest

from xlareport.hlo.protos.printer import Printer
from xlareport.hlo.protos.schema import Message, message_class

F32, S32, PRED = 11, 4, 1


def instruction(number: int, name: str, opcode: str, element: int = F32, **more: Any) -> Any:
    shape = {"element_type": element}
    return {"id": number, "name": name.encode(), "opcode": opcode.encode(), "shape": shape, **more}


def computation(number: int, name: str, *instructions: Any, root: int) -> dict[str, Any]:
    return {"id": number, "name": name.encode(), "root_id": root, "instructions": instructions}


def module(*computations: dict[str, Any], **more: Any) -> Message:
    return message_class("HloProto")(
        hlo_module={"name": b"m", "computations": computations, **more}
    ).hlo_module


def lines(made: Message, place: int = -1) -> list[str]:
    return [*Printer(made).lines(made.computations[place])]


ADD = computation(
    1,
    "add",
    instruction(1, "x", "parameter"),
    instruction(2, "y", "parameter", parameter_number=1),
    instruction(3, "sum", "add", operand_ids=[1, 2]),
    root=3,
)


def test_operands_are_named_by_their_ids() -> None:
    assert lines(module(ADD)) == [
        "%x = f32[] parameter(0)",
        "%y = f32[] parameter(1)",
        "ROOT %sum = f32[] add(%x, %y)",
    ]


def test_an_unknown_id_is_printed_as_itself() -> None:
    broken = computation(1, "c", instruction(3, "n", "negate", operand_ids=[77]), root=3)
    assert lines(module(broken)) == ["ROOT %n = f32[] negate(%77)"]
    call = computation(1, "c", instruction(3, "f", "call", called_computation_ids=[99]), root=3)
    assert "to_apply=%99" in lines(module(call))[0]


@pytest.mark.parametrize(
    ("order", "names"), [([2, 1, 3], ["y", "x", "sum"]), ([1, 2], ["x", "y", "sum"])]
)
def test_a_schedule_orders_the_lines_if_it_has_each_once(
    order: list[int], names: list[str]
) -> None:
    sequence = {"key": 1, "value": {"instruction_ids": order}}
    made = module(ADD, schedule={"sequences": [sequence]})
    written = [line.removeprefix("ROOT ").partition(" ")[0].lstrip("%") for line in lines(made)]
    assert written == names


def test_the_entry_is_that_of_the_id_else_of_the_name_else_the_last() -> None:
    other = computation(2, "main", instruction(9, "p", "parameter"), root=9)
    for entry, more in (
        ("add", {"entry_computation_id": 1}),
        ("add", {"entry_computation_name": b"add"}),
        ("main", {}),
    ):
        made = module(ADD, other, **more)
        heads = [Printer(made).header(each) for each in made.computations]
        (head,) = (text for text in heads if text.startswith("ENTRY"))
        assert f"%{entry} " in head


def test_a_constant_without_its_value_is_elided() -> None:
    constant = computation(1, "c", instruction(1, "k", "constant"), root=1)
    assert lines(module(constant)) == ["ROOT %k = f32[] constant({...})"]


def test_control_dependences_are_named() -> None:
    made = computation(
        1,
        "c",
        instruction(1, "a", "parameter"),
        instruction(2, "b", "negate", operand_ids=[1], control_predecessor_ids=[1]),
        root=2,
    )
    assert "control-predecessors={%a}" in lines(module(made))[1]


def test_branches_are_named_by_what_chooses_them() -> None:
    def branches(element: int) -> str:
        chosen = computation(
            5,
            "main",
            instruction(7, "which", "parameter", element),
            instruction(8, "c", "conditional", operand_ids=[7], called_computation_ids=[1, 1]),
            root=8,
        )
        return lines(module(ADD, chosen))[1]

    assert "true_computation=%add, false_computation=%add" in branches(PRED)
    assert "branch_computations={%add, %add}" in branches(S32)
