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
