from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

BEFORE = """HloModule jit_f, num_partitions=2

ENTRY %main (a: f32[8,4], b: f32[4]) -> f32[8,4] {
  %a = f32[8,4]{1,0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %row = f32[1,4]{1,0} reshape(%b)
  %rows = f32[8,4]{1,0} broadcast(%row), dimensions={0,1}, metadata={op_name="jit(f)/add"}
  ROOT %sum = f32[8,4]{1,0} add(%a, %rows), metadata={op_name="jit(f)/add"}
}
"""
AFTER = """HloModule jit_f, is_scheduled=true, num_partitions=2

%fused (p: f32[4,4], q: f32[4]) -> f32[4,4] {
  %p = f32[4,4]{1,0} parameter(0)
  %q = f32[4]{0} parameter(1)
  %wide = bf16[4]{0} convert(%q)
  %narrow = f32[4]{0} convert(%wide)
  %new.1 = f32[4,4]{1,0} broadcast(%narrow), dimensions={1}
  ROOT %new.2 = f32[4,4]{1,0} add(%p, %new.1), metadata={op_name="jit(f)/add"}
}

ENTRY %main_spmd (a.1: f32[4,4], b.1: f32[4]) -> f32[4,4] {
  %a.1 = f32[4,4]{1,0} parameter(0)
  %b.1 = f32[4]{0} parameter(1)
  %copy = f32[4]{0:S(1)} copy(%b.1)
  ROOT %fusion = f32[4,4]{1,0} fusion(%a.1, %copy), kind=kLoop, calls=%fused
}
"""


def read(text: str) -> HloModule:
    module = TextReader().read(text.encode(), "m.txt")
    assert module is not None
    return module


def test_a_broadcast_between_the_same_work_and_value_goes_on() -> None:
    matching = match(read(BEFORE), read(AFTER))
    assert matching.partner_before(Place("fused", "new.1")) == Place("main", "rows")


def test_converts_that_the_compiler_makes_have_no_origin() -> None:
    before = BEFORE.replace("reshape(%b)", "reshape(%c)").replace(
        "  %row =", "  %c = f32[4]{0} convert(%b)\n  %row ="
    )
    matching = match(read(before), read(AFTER))
    for name in ("wide", "narrow"):
        assert matching.partner_before(Place("fused", name)) is None
