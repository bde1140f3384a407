"""An operation counts as one in each form it is written in."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.operation_families import (
    count_operations,
    family_in,
    forms_in,
    instructions_of,
)
from xlareport.runtime.errors import UnknownNameError

TEXT = """HloModule m

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%all-reduce-scatter.1 (p: f32[8]) -> f32[4] {
  %p = f32[8] parameter(0)
  %all-reduce.1 = f32[8] all-reduce(%p), replica_groups={{0,1}}, to_apply=%add
  %zero = s32[] constant(0)
  ROOT %slice = f32[4] dynamic-slice(%all-reduce.1, %zero), dynamic_slice_sizes={4}
}

%async_computation (q: f32[8]) -> f32[4] {
  %q = f32[8] parameter(0)
  ROOT %rs = f32[4] reduce-scatter(%q), replica_groups={}, dimensions={0}, to_apply=%add
}

ENTRY %main (x: f32[8]) -> (f32[8], f32[4], f32[4]) {
  %x = f32[8] parameter(0)
  %all-reduce-start.1 = f32[8] all-reduce-start(%x), replica_groups={{0,1}}, to_apply=%add
  %all-reduce-done.1 = f32[8] all-reduce-done(%all-reduce-start.1)
  %all-reduce.2 = f32[8] all-reduce(%all-reduce-done.1), replica_groups={{0,1}}, to_apply=%add
  %fusion.1 = f32[4] fusion(%all-reduce.2), kind=kCustom, calls=%all-reduce-scatter.1
  %start = ((f32[8]), f32[4]) async-start(%all-reduce.2), calls=%async_computation
  %done = f32[4] async-done(%start)
  ROOT %all = (f32[8], f32[4], f32[4]) tuple(%all-reduce.2, %fusion.1, %done)
}
"""


def test_asynchronous_and_wrapped_forms_count_once() -> None:
    module = parse_module(TEXT)
    counts = count_operations(module)

    assert counts["all-reduce"] == 2  # not that of the scatter
    assert counts["reduce-scatter"] == 2  # of a fusion and of a start
    assert counts["async-start"] == 1
    assert not any(name.endswith("-done") for name in counts)


def test_a_start_and_an_end_belong_to_one_operation() -> None:
    module = parse_module(TEXT)
    forms = forms_in(module.computations)

    assert {name: sorted(of) for name, of in forms.items()} == {
        "all-reduce": ["all-reduce-done", "all-reduce-start"],
        "reduce-scatter": ["all-reduce"],
    }
    entry = module.computations[-1]
    assert [family_in(entry, instruction) for instruction in entry.instructions][1:4] == [
        "all-reduce"
    ] * 3
    assert family_in(entry, entry.instructions[-2]) == "async-done"


def test_operations_are_in_the_order_of_the_module() -> None:
    """A set would give another order, and other bytes of a report, in each process."""
    kinds = ["copy", "send", "recv", "all-reduce", "all-gather", "collective-permute"]
    starts = "\n".join(f"  %s.{kind} = f32[8] {kind}-start(%x)" for kind in kinds)
    module = parse_module(
        "HloModule m\n\nENTRY %main (x: f32[8]) -> f32[8] {\n"
        f"  %x = f32[8] parameter(0)\n{starts}\n  ROOT %r = f32[8] negate(%x)\n}}\n"
    )
    known = [kind for kind in kinds if kind in forms_in(module.computations)]
    assert [*forms_in(module.computations)] == known
    assert len(known) > 2


def test_a_pattern_finds_every_form() -> None:
    module = parse_module(TEXT)

    def names(opcode: str) -> list[str]:
        return [instruction.name for instruction in instructions_of(module, opcode)]

    assert names("all-reduce") == ["all-reduce-start.1", "all-reduce.2"]
    assert names("reduce-scatter") == ["all-reduce.1", "rs"]
    assert names("all-reduce-*") == ["all-reduce-start.1", "all-reduce-done.1"]
    assert names("*-done") == ["all-reduce-done.1", "done"]
    assert names("all-to-all") == []


@pytest.mark.parametrize("opcode", ["alltoall", "all-gathers*", "dott"])
def test_an_opcode_that_does_not_exist_is_refused(opcode: str) -> None:
    module = parse_module(TEXT)
    with pytest.raises(UnknownNameError):
        list(instructions_of(module, opcode))
