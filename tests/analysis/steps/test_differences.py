"""Differences between two lines of an instruction."""

from collections.abc import Callable

import pytest

from xlareport.analysis.steps.details import AttributesChange, ShapeChange
from xlareport.analysis.steps.differences import by_weight, compare, with_source
from xlareport.analysis.steps.kinds import Kind
from xlareport.hlo.model import HloModule, Instruction

Read = Callable[[str], HloModule]


def line(read: Read, text: str) -> Instruction:
    entry = read(f"ENTRY %main {{\n  ROOT {text}\n}}").computations[0]
    return entry.instructions[0]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("%a = f32[8,2]{1,0} tanh(%x)", "%a = f32[8,2]{0,1} tanh(%x)", Kind.LAYOUT),
        ("%a = f32[8,2]{1,0} tanh(%x)", "%a = f32[2,8]{1,0} tanh(%x)", Kind.SHAPE),
        ("%a = f32[8]{0} tanh(%x)", "%a = bf16[8]{0} tanh(%x)", Kind.TYPE),
        ("%a = s8[8,4]{1,0} copy(%x)", "%a = u32[8]{0} copy(%x)", Kind.SHAPE),
        ("%a = s8[8]{0} copy(%x)", "%a = u32[8]{0} copy(%x)", Kind.TYPE),
        ("%a = (f32[8]{0}) tuple(%x)", "%a = (bf16[8]{0}) tuple(%x)", Kind.TYPE),
        ("%a = (f32[8]{0}) tuple(%x)", "%a = (f32[8]{0}, f32[]) tuple(%x, %y)", Kind.SHAPE),
        ("%a = f32[] constant(1)", "%a = f32[] constant(2)", Kind.ATTRIBUTES),
        ("%a = f32[] dot(%x, %y)", "%a = f32[] dot(%x, %y), operand_precision={high,high}",
         Kind.PRECISION),
        ("%a = f32[] dot(%x, %y)", "%a = f32[] dot(%x, %y), algorithm=dot_bf16_bf16_f32",
         Kind.PRECISION),
        ("%a = f32[] tanh(%x)", "%a = f32[] tanh(%x), sharding={replicated}", Kind.SHARDING),
        ("%a = f32[] tanh(%x)", '%a = f32[] tanh(%x), backend_config="a"', Kind.CONFIG),
        ("%a = f32[8]{0} tanh(%x)", "%a = f32[8]{0:S(1)} tanh(%x)", Kind.SPACE),
        ("%a = f32[] tanh(%x)", '%a = f32[] tanh(%x), metadata={op_name="t"}', Kind.METADATA),
        ("%a = f32[] tanh(%x)", "%b = f32[] tanh(%x)", Kind.RENAMED),
    ],
)  # fmt: skip
def test_one_difference(read: Read, before: str, after: str, kind: Kind) -> None:
    comparison = compare(line(read, before), line(read, after), {})
    assert list(comparison) == [kind]
    assert "→" in str(comparison[kind])


def test_replica_groups_in_another_form_are_the_same(read: Read) -> None:
    mesh = "%a = f32[8]{0} all-gather(%x), replica_groups=mesh['x'=2,'y'=2] {'x'}"
    listed = "%a = f32[8]{0} all-gather(%x), replica_groups={{0,2},{1,3}}"
    comparison = compare(line(read, mesh), line(read, listed), {})
    words = "mesh['x'=2,'y'=2] {'x'} → {{0,2},{1,3}} (the same groups)"
    assert str(comparison[Kind.ATTRIBUTES]) == f"replica_groups: {words}"
    others = compare(line(read, mesh), line(read, listed.replace("0,2},{1,3", "0,1},{2,3")), {})
    assert "same" not in str(others[Kind.ATTRIBUTES])


def test_a_called_computation_under_another_name_is_no_difference(read: Read) -> None:
    before = line(read, "%a = f32[] fusion(%x), kind=kLoop, calls=%old")
    after = line(read, "%a = f32[] fusion(%x), kind=kLoop, calls=%new")
    assert compare(before, after, {"old": "new"}) == {}
    assert list(compare(before, after, {})) == [Kind.ATTRIBUTES]


def test_long_values_are_cut(read: Read) -> None:
    after = line(read, f'%a = f32[] tanh(%x), backend_config={{"a":"{"x" * 500}"}}')
    [said] = compare(line(read, "%a = f32[] tanh(%x)"), after, {}).values()
    assert len(str(said)) < 120


def test_a_configuration_is_told_by_its_fields(read: Read) -> None:
    config = '{"operation_queue_id":"0","fusion_backend_config":{"kind":"__%s","block_sizes":[]}}'
    before, after = (
        line(read, f"%f = f32[8]{{0}} fusion(%x), kind=kLoop, backend_config={config % kind}")
        for kind in ("triton_gemm", "custom_fusion")
    )
    assert str(compare(before, after, {})[Kind.CONFIG]) == (
        'backend_config: changed kind from "__triton_gemm" to "__custom_fusion"'
    )


def test_the_memory_space_of_the_elements_of_a_tuple(read: Read) -> None:
    before = line(read, "%a = (f32[8]{0:T(128)}, s32[]{:T(128)}) tuple(%x, %y)")
    after = line(read, "%a = (f32[8]{0:T(128)S(1)}, s32[]{:T(128)}) tuple(%x, %y)")
    assert compare(before, after, {}) == {Kind.SPACE: "1 of 2 elements, S(0) → S(1)"}
    other = line(read, "%a = (f32[8]{0:T(256)S(1)}, s32[]{:T(128)}) tuple(%x, %y)")
    assert list(compare(before, other, {})) == [Kind.LAYOUT]


def test_other_attributes_weigh_more_than_who_gives_the_operands() -> None:
    kinds = [Kind.REDIRECTED, Kind.ATTRIBUTES]
    assert by_weight(kinds, "scatter") == (Kind.ATTRIBUTES, Kind.REDIRECTED)
    assert by_weight(kinds, "compare") == (Kind.ATTRIBUTES, Kind.REDIRECTED)
    assert by_weight(kinds, "get-tuple-element") == (Kind.REDIRECTED, Kind.ATTRIBUTES)


def test_the_elements_of_a_tuple_in_another_order(read: Read) -> None:
    before = line(read, "%a = (f32[8]{0}, s32[]) tuple(%x, %y)")
    after = line(read, "%a = (s32[], f32[8]{0}) tuple(%x, %y)")
    assert compare(before, after, {}) == {Kind.SHAPE: "the same 2 elements in another order"}


def test_the_elements_of_an_inner_tuple_among_the_others_now(read: Read) -> None:
    before = line(read, "%a = (f32[8]{0}, (s32[], pred[])) tuple(%x, %y)")
    after = line(read, "%a = (f32[8]{0}, s32[], pred[]) tuple(%x, %y, %z)")
    difference = "2 elements → 3 elements without an inner tuple"
    assert compare(before, after, {})[Kind.SHAPE] == difference
    other = line(read, "%a = (f32[8]{0}, s32[], f32[]) tuple(%x, %y, %z)")
    assert compare(before, other, {})[Kind.SHAPE] == "2 elements → 3 elements"


def test_the_operands_of_a_start_that_were_in_a_tuple(read: Read) -> None:
    before = line(read, "%a = (((s32[], pred[])), f32[8]{0}) async-start(%x), calls=%f")
    after = line(read, "%a = ((s32[], pred[]), f32[8]{0}) async-start(%x, %y), calls=%f")
    difference = "1 of 2 elements, a tuple in a tuple → its 2 elements"
    assert compare(before, after, {})[Kind.SHAPE] == difference
    one = line(read, "%a = (s32[]) tuple(%x)")
    two = line(read, "%a = (s32[], pred[]) tuple(%x, %y)")
    assert compare(one, two, {})[Kind.SHAPE] == "1 element → 2 elements"


def test_an_element_of_a_tuple_with_another_layout(read: Read) -> None:
    before = line(read, "%a = (f32[8,4]{1,0}, s32[]) tuple(%x, %y)")
    after = line(read, "%a = (f32[8,4]{0,1}, s32[]) tuple(%x, %y)")
    assert compare(before, after, {}) == {
        Kind.LAYOUT: ShapeChange("{1,0}", "{0,1}", lead="1 of 2 elements, ")
    }


def test_an_element_of_another_type_among_others_that_changed_places(read: Read) -> None:
    before = line(read, "%a = (f32[8]{0}, s32[], f32[4]{0}) tuple(%x, %y, %z)")
    after = line(read, "%a = (s32[], bf16[8]{0}, f32[4]{0}) tuple(%x, %y, %z)")
    order = ", and the others in another order"
    difference = ShapeChange("f32[8]{0}", "bf16[8]{0}", lead="1 of 3 elements, ", tail=order)
    assert compare(before, after, {}) == {Kind.TYPE: difference}


def test_elements_with_other_layouts_are_counted_where_they_stand(read: Read) -> None:
    before = line(read, "%a = (f32[8,4]{1,0}, f32[8,4]{0,1}, f32[2,2]{1,0}) tuple(%x, %y, %z)")
    after = line(read, "%a = (f32[8,4]{0,1}, f32[8,4]{1,0}, f32[2,2]{0,1}) tuple(%x, %y, %z)")
    difference = ShapeChange("{1,0}", "{0,1}", lead="3 of 3 elements, such as ")
    assert compare(before, after, {}) == {Kind.LAYOUT: difference}


def test_leaving_a_loop_weighs_more_than_another_channel() -> None:
    kinds = [Kind.ATTRIBUTES, Kind.HOISTED, Kind.SHAPE]
    assert by_weight(kinds, "all-reduce")[0] is Kind.HOISTED
    assert by_weight(kinds, "multiply")[0] is Kind.SHAPE


def test_the_elements_of_a_partitioned_tuple_stay_where_they_are(read: Read) -> None:
    before = line(read, "%a = (f32[8,4]{1,0}, f32[4,4]{1,0}, s32[]) tuple(%x, %y, %z)")
    after = line(read, "%a = (f32[4,4]{1,0}, f32[2,4]{1,0}, s32[]) tuple(%x, %y, %z)")
    lead = "2 of 3 elements, such as "
    shapes = ShapeChange("f32[8,4]{1,0}", "f32[4,4]{1,0}", lead=lead)
    assert compare(before, after, {}) == {Kind.SHAPE: shapes}


def test_an_async_start_that_lost_its_operands_has_another_shape(read: Read) -> None:
    before = line(read, "%a = ((f32[8]{0}, s32[]), f32[8]{0}) custom-call(%x)")
    after = line(read, "%a = ((), ()) custom-call(%x)")
    assert {*compare(before, after, {})} == {Kind.SHAPE}


def test_a_sharding_that_shardy_wrote_as_a_frontend_attribute_is_no_metadata(read: Read) -> None:
    plain = "%a = f32[8]{0} parameter(0)"
    for value, kind in (("xla.sdy.sharding={}", Kind.SHARDING), ("mark={}", Kind.ATTRIBUTES)):
        marked = f"{plain}, frontend_attributes={{{value}}}"
        assert {*compare(line(read, marked), line(read, plain), {})} == {kind}


Read = Callable[[str], HloModule]


def test_a_sharding_that_shardy_wrote_twice_stays_if_one_of_the_two_goes(read: Read) -> None:
    old = '%a = f32[] tanh(%x), sharding={replicated}, frontend_attributes={xla.sdy.sharding="s"}'
    known, given = "%a = f32[] tanh(%x), sharding={replicated}", "%a = f32[] tanh(%x)"
    assert list(compare(line(read, old), line(read, known), {})) == [Kind.ATTRIBUTES]
    assert Kind.SHARDING in compare(line(read, old), line(read, given), {})


@pytest.mark.parametrize(("opcode", "kinds"), [("slice", 1), ("transpose", 2)])
def test_other_positions_are_told_with_what_is_read_now(opcode: str, kinds: int) -> None:
    """A slice of a concatenate of fewer pieces takes the same values at other positions."""
    places = AttributesChange(("slice",), "slice: {[2:4]} → {[1:3]}")
    result = with_source(opcode, {Kind.ATTRIBUTES: places, Kind.REDIRECTED: "uses %b instead"})
    assert len(result) == kinds
    told = str(result[Kind.ATTRIBUTES])
    assert told.removeprefix(places.text) == ("; uses %b instead" if kinds == 1 else "")
