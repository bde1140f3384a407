from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.provenance import labels_of, scope_of_op
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]


@pytest.mark.parametrize(
    ("op_name", "scope"),
    [
        ("jit(f)/jvp(layer_1)/mlp/dot_general", ((False, False), "layer_1", "mlp")),
        ("jit(f)/transpose(jvp(layer_1))/mlp/dot_general", ((True, False), "layer_1", "mlp")),
        (
            "jit(f)/transpose(jvp(layer_1))/checkpoint/rematted_computation/mlp/tanh",
            ((True, True), "layer_1", "mlp"),
        ),
        ("jit(f)/add", ((False, False),)),
        ("reduce_sum", ()),
    ],
)
def test_a_scope_has_its_phase(op_name: str, scope: tuple[object, ...]) -> None:
    assert scope_of_op(op_name) == scope


def test_labels_that_two_arguments_have_tell_neither(read: Read) -> None:
    module = read(
        """
ENTRY %main {
  %a = f32[8]{0} parameter(0), metadata={op_name="w"}
  %b = f32[8]{0} parameter(1), metadata={op_name="b"}
  %c = f32[8]{0} parameter(2), metadata={op_name="w"}
  ROOT %out = f32[8]{0} add(%a, %b)
}
"""
    )
    assert labels_of(module) == {"b": 1}


RENAMED = """
ENTRY %main {
  %a = f32[8]{0} parameter(0), metadata={op_name="a"}
  %b = f32[8]{0} parameter(1), metadata={op_name="b"}
  %add.1 = f32[8]{0} add(%a, %b), metadata={op_name="jit(f)/OLD/add"}
  ROOT %out = f32[8]{0} multiply(%add.1, %b), metadata={op_name="jit(f)/head/mul"}
}
"""


def test_a_scope_that_both_programs_have_is_no_other_scope(read: Read) -> None:
    """The sum of the scope `head` is not that of `block`, however alike their lines are."""
    before = read(RENAMED.replace("OLD", "block"))
    text = RENAMED.replace("OLD", "head").replace("add(%a, %b)", "add(%b, %b)")
    after = read(text.replace("jit(f)/head/mul", "jit(f)/block/mul"))
    matching = match(before, after, same_program=False)
    partner = matching.partner_after(Place("main", "add.1"))
    assert partner is None or partner.instruction != "add.1"


def test_a_renamed_scope_goes_on(read: Read) -> None:
    before, after = (read(RENAMED.replace("OLD", name)) for name in ("block", "layer"))
    matching = match(before, after, same_program=False)
    assert not matching.removed
    assert not matching.added
