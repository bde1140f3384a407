"""What shows that two snapshots are of different compilations, and what a compilation may do."""

import pytest
from tests.modules import parse_module

from xlareport.hlo.model import HloModule
from xlareport.hlo.same_compilation import contradiction


def module(shape: str, *, partitions: int = 1, line: int | None = None) -> HloModule:
    metadata = f', metadata={{source_file="a.py" source_line={line}}}' if line else ""
    text = f"""HloModule m, num_partitions={partitions}

ENTRY %main {{
  %p = {shape} parameter(0)
  ROOT %n = {shape} negate(%p){metadata}
}}
"""
    return parse_module(text)


@pytest.mark.parametrize(
    ("before", "after", "partitions"),
    [
        ("f32[8,16]{1,0}", "f32[8,16]{0,1:T(8,128)}", 1),
        ("f32[8,16]{1,0}", "f32[2,16]{1,0}", 4),
        ("f32[10]{0}", "f32[3]{0}", 4),
        ("u64[8]{0}", "(u32[8]{0}, u32[8]{0})", 1),
    ],
)
def test_passes_may_lay_out_divide_and_split(before: str, after: str, partitions: int) -> None:
    pair = module(before, partitions=partitions), module(after, partitions=partitions)
    assert contradiction(*pair) == ""


@pytest.mark.parametrize(
    ("before", "after", "partitions"),
    [
        ("f32[16,64]{1,0}", "f32[16,32]{1,0}", 1),
        ("f32[16,32]{1,0}", "f32[16,64]{1,0}", 4),
        ("f32[64]{0}", "f32[8]{0}", 4),
        ("f32[8]{0}", "bf16[8]{0}", 1),
    ],
)
def test_no_pass_changes_a_parameter_otherwise(before: str, after: str, partitions: int) -> None:
    pair = module(before, partitions=partitions), module(after, partitions=partitions)
    shapes = [shape.partition("{")[0] for shape in (before, after)]
    assert contradiction(*pair) == (
        f"parameter 0 is {shapes[0]} in it and {shapes[1]} in the later snapshot"
    )


def test_no_pass_makes_a_source_line() -> None:
    said = contradiction(module("f32[8]", line=3), module("f32[8]", line=4))
    assert said == "the later snapshot has instructions from a.py:4, which it does not name"
    assert contradiction(module("f32[8]"), module("f32[8]", line=4)) == ""
    assert contradiction(module("f32[8]", line=3), module("f32[8]")) == ""


def test_a_drawing_of_a_partitioned_module_does_not_state_in_how_many() -> None:
    whole, part = (
        parse_module(f"HloModule m\n\nENTRY %{name} {{\n  ROOT %p = {shape} parameter(0)\n}}\n")
        for name, shape in (("main.8", "f32[64]{0}"), ("main.8_spmd", "f32[8]{0}"))
    )
    assert contradiction(whole, part) == ""
    assert contradiction(part, whole), "a part does not become the whole"
