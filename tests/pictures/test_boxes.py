"""A box says what its instruction is, in few lines and XLA's colors."""

from collections import Counter
from collections.abc import Callable

import pytest

from xlareport.hlo.model import HloModule, Instruction
from xlareport.pictures import boxes

MODULE = """
HloModule m

FileNames
1 "train.py"

FunctionNames
1 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

fused {
  p = f32[8,8] parameter(0)
  c = f32[] constant(2)
  twos = f32[8,8] broadcast(c), dimensions={}
  q = f32[8,8] multiply(p, twos)
  r = f32[8,8] dot(q, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[8,8] bitcast(r)
}

body {
  i = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT j = s32[] add(i, one)
}

less {
  k = s32[] parameter(0)
  six = s32[] constant(6)
  ROOT l = pred[] compare(k, six), direction=LT
}

ENTRY main {
  x = f32[8,8]{1,0} parameter(0)
  big = f32[64,64]{1,0} parameter(1)
  broadcast_in_dim.3 = f32[8,8]{1,0} multiply(x, x), metadata={op_name="f/mul" stack_frame_id=1}
  fusion.1 = f32[8,8]{1,0} fusion(x), kind=kOutput, calls=fused
  zero = f32[] constant(0)
  reduce.2 = f32[8]{0} reduce(x, zero), dimensions={0}, to_apply=sum
  start = s32[] constant(2)
  while.5 = s32[] while(start), condition=less, body=body
  call = f32[] custom-call(x), custom_call_target="f", metadata={source_file="a.py" source_line=3}
  ROOT cast = f32[64] bitcast(fusion.1)
}
"""


@pytest.fixture
def module(module_of: Callable[[str], HloModule]) -> HloModule:
    return module_of(MODULE.partition("HloModule m\n")[2])


def named(module: HloModule, name: str) -> Instruction:
    assert module.entry is not None
    return module.entry.by_name[name]


def lines(module: HloModule, name: str, *folded: tuple[int, str]) -> list[str]:
    return boxes.lines(named(module, name), module, folded)


def test_the_opcode_stands_where_the_name_does_not_say_it(module: HloModule) -> None:
    assert lines(module, "broadcast_in_dim.3") == ["broadcast_in_dim.3", "multiply", "f32[8,8]"]
    assert lines(module, "big") == ["big", "parameter 1", "f32[64,64]"]


def test_a_fusion_has_its_kind_and_its_members(module: HloModule) -> None:
    assert lines(module, "fusion.1")[1:3] == ["fusion kOutput", "3: dot, broadcast, multiply"]


def test_a_trivial_computation_is_named_by_what_it_does(module: HloModule) -> None:
    assert lines(module, "reduce.2", (1, "constant 0")) == [
        "reduce.2",
        "to_apply add",
        "dimensions={0}",
        "operand 1 = constant 0",
        "f32[8]",
    ]


def test_a_loop_says_how_often_it_runs(module: HloModule) -> None:
    assert module.entry is not None
    loop = named(module, "while.5")
    times = boxes.loop_count(module, module.entry, loop)
    assert boxes.lines(loop, module, (), times) == [
        "while.5",
        "body add",
        "runs 4 times",
        "s32[]",
    ]
    assert boxes.frame_title(loop, times) == "while.5 while, runs 4 times"
    assert boxes.loop_count(module, module.entry, named(module, "reduce.2")) is None


def test_many_folded_operands_are_counted() -> None:
    many = tuple((number, f"constant {number}") for number in range(7))
    assert boxes.operand_words(many)[-1] == "4 more operands folded"
    assert len(boxes.operand_words(many[:4])) == 4


@pytest.mark.parametrize(
    ("name", "color"),
    [
        ("x", "orange"),
        ("big", "dark-orange"),
        ("broadcast_in_dim.3", "white"),
        ("fusion.1", "gray"),
        ("reduce.2", "purple"),
        ("while.5", "dark-green"),
        ("call", "dark-green"),
        ("cast", "white"),
    ],
)
def test_colors(name: str, color: str, module: HloModule) -> None:
    assert boxes.family(named(module, name), module) == color


def test_a_bitcast_moves_data_only_in_a_fusion(module: HloModule) -> None:
    assert boxes.family(named(module, "cast"), module, fused=True) == "green"


def test_an_asynchronous_instruction_has_the_color_of_what_it_wraps(
    module_of: Callable[[str], HloModule],
) -> None:
    module = module_of(
        "wrapped {\n  p = f32[8] parameter(0)\n  ROOT r = f32[8] all-gather(p), dimensions={0}\n}\n"
        "ENTRY e {\n  a = f32[8] parameter(0)\n"
        "  ROOT s = ((f32[8]), f32[8], s32[]) async-start(a), calls=wrapped\n}"
    )
    assert boxes.family(named(module, "s"), module) == "brown"


def test_an_opcode_that_nobody_knows_is_white(module_of: Callable[[str], HloModule]) -> None:
    module = module_of("ENTRY e {\n  ROOT r = f32[8] brand-new()\n}")
    assert boxes.family(named(module, "r"), module) == "white"


def test_the_tooltip_has_whole_names_and_the_source(module: HloModule) -> None:
    folded = ((0, "constant 1"), (1, f"parameter 7 {'x' * 40}"))
    found = boxes.tooltip(named(module, "broadcast_in_dim.3"), module, folded)
    assert found.splitlines() == [
        "broadcast_in_dim.3",
        "multiply f32[8,8]{1,0}",
        f"operand 1 = parameter 7 {'x' * 40}",
        "f/mul",
        "train.py:7 in loss",
    ]
    assert boxes.source_words(named(module, "call"), module) == "a.py:3"
    assert boxes.source_words(named(module, "x"), module) == ""


def test_the_tooltip_is_short_even_where_the_line_is_not(
    module_of: Callable[[str], HloModule],
) -> None:
    operands = ", ".join(f"{number}" for number in range(5000))
    module = module_of(
        f"ENTRY e {{\n  ROOT r = f32[8] custom-call(), dimensions={{{operands}}},"
        f' metadata={{op_name="{"x/" * 5000}"}}\n}}'
    )
    assert len(boxes.tooltip(named(module, "r"), module, [(1, "y" * 9000)] * 500)) < 4000


def test_counts_put_the_heavy_first() -> None:
    counts = Counter({"add": 9, "multiply": 4, "dot": 2, "constant": 50, "tanh": 1})
    assert boxes.count_words(counts) == "16: 2 dot, 9 add, 4 multiply, …"
    assert boxes.count_words(Counter({"parameter": 3})) == "no-op"


@pytest.mark.parametrize(("name", "worth"), [("sum", False), ("fused", True), ("body", False)])
def test_what_is_worth_opening(name: str, worth: bool, module: HloModule) -> None:  # noqa: FBT001 - a parametrized value
    assert boxes.is_worth_opening(module.by_name[name]) is worth


def test_a_computation_that_only_calls_is_worth_opening(
    module_of: Callable[[str], HloModule],
) -> None:
    module = module_of(
        "inner {\n  ROOT p = f32[] parameter(0)\n}\n"
        "outer {\n  q = f32[] parameter(0)\n  ROOT c = f32[] call(q), to_apply=inner\n}\n"
        "ENTRY e {\n  a = f32[] parameter(0)\n  ROOT d = f32[] call(a), to_apply=outer\n}"
    )
    assert boxes.is_worth_opening(module.by_name["outer"])


@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ("f32[2,3]{1,0}", "f32[2,3]"),
        ("f32[2,3]{0,1}", "f32[2,3]{0,1}"),
        ("bf16[8,128]{1,0:T(8,128)(2,1)S(1)}", "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}"),
        ("f32[2,3,4,5,6,7,8,9]{0,1,2,3,4,5,6,7}", "f32[2,3,4,5,6,7,8,9]"),
        ("(f32[2,3]{0,1}, s32[])", "(f32[2,3], s32[])"),
    ],
)
def test_a_layout_is_named_where_it_is_not_the_usual_one(
    shape: str, shown: str, module_of: Callable[[str], HloModule]
) -> None:
    module = module_of(f"ENTRY e {{\n  ROOT r = {shape} rng-get-and-update-state()\n}}")
    assert boxes.lines(named(module, "r"), module, ())[-1] == shown
