from collections.abc import Callable

from xlareport.analysis.matching.sides.forms import Forms, effective_attributes
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


def test_attributes_without_effect_are_left_out() -> None:
    text = (
        "dimensions={0}, to_apply=%add, channel_id=7, sharding={devices=[2]<=[2]}, "
        'metadata={op_name="jit(f)/sum, x=1"}, backend_config={"a":[1,2]}'
    )
    assert effective_attributes(text) == "dimensions={0}"


def test_equal_device_groups_are_the_same_however_written() -> None:
    spelled = ("[4,2]<=[8]", "{{0,1},{2,3},{4,5},{6,7}}", "mesh['a'=4,'b'=2] {'b'}")
    texts = {effective_attributes(f"channel_id=1, replica_groups={text}") for text in spelled}
    assert len(texts) == 1
    assert effective_attributes("replica_groups=[2,4]<=[4,2]T(1,0)") not in texts
    assert effective_attributes("replica_groups=unknown") == "replica_groups=unknown"


def test_constants_differ_by_their_value_only(read: Read) -> None:
    one, two, three = (
        read("""
ENTRY %main () -> f32[] {
  %one = f32[] constant(1), metadata={op_name="x"}
  %two = f32[] constant(2)
  ROOT %three = f32[] constant(1)
}
""")
        .computations[0]
        .instructions
    )
    forms = Forms()
    assert forms.of(one) == forms.of(three)
    assert forms.of(one) != forms.of(two)


def test_operations_that_are_divided_next_have_the_shapes_of_their_shares(read: Read) -> None:
    module = read("""
ENTRY %main (a: f32[8,6]) -> f32[8,6] {
  %a = f32[8,6]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %b = f32[8,6]{1,0} negate(%a), sharding={devices=[2,1]<=[2]}
  %c = f32[8,6]{1,0} negate(%b), sharding={devices=[1,4]<=[4]}
  %d = f32[8,6]{1,0} negate(%c), sharding={replicated}
  ROOT %e = f32[8,6]{1,0} negate(%d), sharding={manual}
}
""")
    forms = Forms()
    forms.divide(module)
    shapes = [forms.of(line).shape for line in module.computations[0].instructions]
    assert shapes == ["f32[8,6]", "f32[4,6]", "f32[8,2]", "f32[8,6]", "f32[8,6]"]
