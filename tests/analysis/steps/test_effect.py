"""The figures by which steps are told apart."""

from msgspec.structs import replace

from xlareport.analysis.steps.effect import StepEffect, effect_of
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.numbers_changed import numbers_changed
from xlareport.analysis.steps.step import StepChange, step
from xlareport.hlo.text import TextReader

BEFORE = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[8,4]) -> f32[8,4] {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[8,4]{1,0} negate(%a), metadata={op_name="x"}
  %c = f32[8,4]{1,0} tanh(%a)
  %d = f32[8,4]{1,0} all-reduce(%b), replica_groups={}, to_apply=%sum
  ROOT %r = f32[8,4]{1,0} add(%c, %d)
}
"""


def changed_to(after: str) -> StepChange:
    reader = TextReader()
    modules = [reader.read(text.encode(), "m.txt") for text in (BEFORE, after)]
    assert None not in modules
    return step(*modules, "`p`")  # type: ignore[arg-type]


def effect(old: str, new: str) -> StepEffect:
    assert old in BEFORE
    change = changed_to(BEFORE.replace(old, new))
    return effect_of(change, numbers_changed(change))


def test_another_layout_is_counted() -> None:
    assert effect("%c = f32[8,4]{1,0}", "%c = f32[8,4]{0,1}") == StepEffect(layout=1)


def test_another_element_type_is_one_of_precision() -> None:
    assert effect("%c = f32[8,4]{1,0}", "%c = bf16[8,4]{1,0}").precision == 1


def test_a_collective_of_other_devices_is_one_collective() -> None:
    assert effect("replica_groups={}", "replica_groups={{0,1}}") == StepEffect(collectives=1)


def test_metadata_has_no_effect_and_no_weight() -> None:
    change = changed_to(BEFORE.replace('op_name="x"', 'op_name="y"'))
    assert not change.identical
    assert effect_of(change, ()) == StepEffect()
    assert change.weight == 0


def test_another_order_of_a_schedule_is_counted() -> None:
    lines = BEFORE.splitlines(keepends=True)
    lines[4], lines[5] = lines[5], lines[4]
    assert effect_of(changed_to("".join(lines)), ()) == StepEffect(order=1)


def test_the_partitioner_is_told_by_the_entry_that_it_made() -> None:
    assert effect("ENTRY %main", "ENTRY %main.5_spmd").partitioned
    assert not effect("tanh", "sine").partitioned


def test_a_collective_that_is_part_of_what_another_opcode_became_counts() -> None:
    step = changed_to(BEFORE.replace("negate", "tanh"))
    of_slice = replace(step.changes[0], kind=Kind.PART, opcodes=("slice", "collective-permute"))
    of_reduce = replace(of_slice, opcodes=("all-reduce", "all-reduce"))
    parts = replace(step, added=(), removed=(), modified=(of_slice, of_reduce))
    assert effect_of(parts, ()).collectives == 1


def test_a_collective_that_an_async_start_runs_is_one() -> None:
    head, entry = BEFORE.split("ENTRY")
    inner = """%async (x: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  ROOT %exchange = f32[8,4]{1,0} all-to-all(%x), replica_groups={}, dimensions={0}
}

ENTRY"""
    start = "((f32[8,4]{1,0}), f32[8,4]{1,0}, u32[])"
    entry = entry.replace(
        "%d = f32[8,4]{1,0} all-reduce(%b), replica_groups={}, to_apply=%sum",
        f"%s = {start} async-start(%b), calls=%async, "
        'backend_config={"is_sync":false}\n  %d = f32[8,4]{1,0} async-done(%s)',
    )
    texts = head + inner + entry, head + inner + entry.replace("false", "true")
    modules = [TextReader().read(text.encode(), "m.txt") for text in texts]
    assert None not in modules
    assert effect_of(step(*modules, "`p`"), ()).collectives == 1  # type: ignore[arg-type]


def test_a_mark_on_a_collective_changes_nothing_that_it_does() -> None:
    change = changed_to(
        BEFORE.replace("to_apply=%sum", 'to_apply=%sum, frontend_attributes={p=""}')
    )
    assert "changed attributes of 1 all-reduce" in change.headline
    assert effect_of(change, ()).collectives == 0
    assert change.weight < 1
