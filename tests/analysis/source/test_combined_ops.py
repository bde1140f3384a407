"""The op of each member of a combined collective, by the ways of each backend."""

from tests.modules import parse_module

from xlareport.analysis.source.combined_ops import member_op_names
from xlareport.analysis.source.instruction_origins import find_origins
from xlareport.analysis.source.served_ops import serve_ops

GPU = """HloModule m, is_scheduled=true

ENTRY %main (a: bf16[4], b: bf16[8]) -> (bf16[16], bf16[32]) {
  %a = bf16[4]{0} parameter(0)
  %b = bf16[8]{0} parameter(1)
  %cast = bf16[8]{0} copy(%b), metadata={op_name="jit(f)/jvp(up0)/concatenate"}
  %start = ((bf16[4]{0}, bf16[8]{0}), (bf16[16]{0}, bf16[32]{0})) all-gather-start(%a, %cast), \
dimensions={0}, metadata={op_name="jit(f)/(transpose(jvp(down1))/dot:transpose(jvp(up0))/conv)"}
  %done = (bf16[16]{0}, bf16[32]{0}) all-gather-done(%start)
  %first = bf16[16]{0} get-tuple-element(%done), index=0
  %second = bf16[32]{0} get-tuple-element(%done), index=1
  ROOT %out = (bf16[16]{0}, bf16[32]{0}) tuple(%first, %second)
}
"""
DOWN, UP = "jit(f)/transpose(jvp(down1))/dot", "jit(f)/transpose(jvp(up0))/conv"


def test_a_list_of_all_members_is_in_the_order_of_operands() -> None:
    module = parse_module(GPU)
    home = module.by_name["main"]
    assert member_op_names(module, home, home.by_name["start"]) == (DOWN, UP)


def test_elements_behind_a_done_serve_the_op_of_their_member() -> None:
    served = serve_ops(parse_module(GPU))
    assert served["main", "first"] == ((DOWN, 1.0),)
    assert served["main", "second"] == ((UP, 1.0),)
    assert dict(served["main", "start"])[UP] == 2 / 3


def test_a_buffer_of_a_start_has_the_op_of_its_member() -> None:
    origins = find_origins(parse_module(GPU))
    assert origins.find_value("start", (1, 1)).op_name == UP
    assert origins.find_value("start", (1, 0)).op_name == DOWN
    assert origins.find_value("cast", ()).op_name == "jit(f)/jvp(up0)/concatenate"


def test_without_a_list_a_member_is_of_the_op_of_its_operand() -> None:
    text = GPU.replace("(transpose(jvp(down1))/dot:transpose(jvp(up0))/conv)", "jvp(down1)/dot")
    module = parse_module(text)
    home = module.by_name["main"]
    assert member_op_names(module, home, home.by_name["start"]) == (
        "jit(f)/jvp(down1)/dot",
        "jit(f)/jvp(up0)/concatenate",
    )
