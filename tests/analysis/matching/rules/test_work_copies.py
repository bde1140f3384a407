from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.grades import Grade

BEFORE = """HloModule jit_f, num_partitions=2

ENTRY %main (a: f32[8,6]) -> (f32[8,6], f32[8,2,3]) {
  %a = f32[8,6]{1,0} parameter(0)
  %low = f32[8,3]{1,0} slice(%a), slice={[0:8], [0:3]}, metadata={op_name="jit(f)/split"}
  %high = f32[8,3]{1,0} slice(%a), slice={[0:8], [3:6]}, metadata={op_name="jit(f)/split"}
  %sum = f32[8,3]{1,0} add(%low, %high), metadata={op_name="jit(f)/add"}
  %exp = f32[8,3]{1,0} exponential(%sum), metadata={op_name="jit(f)/exp"}
  %sine = f32[8,3]{1,0} sine(%exp), metadata={op_name="jit(f)/sin"}
  %wide = f32[8,3,1]{2,1,0} reshape(%exp)
  %cosine = f32[8,3,1]{2,1,0} cosine(%wide), metadata={op_name="jit(f)/cos"}
  ROOT %out = (f32[8,3]{1,0}, f32[8,3,1]{2,1,0}) tuple(%sine, %cosine)
}
"""
AFTER = """HloModule jit_f, is_scheduled=true, num_partitions=2

%fused (p: f32[4,6]) -> f32[4,3] {
  %p = f32[4,6]{1,0} parameter(0)
  %cut.1 = f32[4,3]{1,0} slice(%p), slice={[0:4], [0:3]}, metadata={op_name="jit(f)/split"}
  %cut.2 = f32[4,3]{1,0} slice(%p), slice={[0:4], [3:6]}, metadata={op_name="jit(f)/split"}
  %add.1 = f32[4,3]{1,0} add(%cut.1, %cut.2), metadata={op_name="jit(f)/add"}
  %exp.1 = f32[4,3]{1,0} exponential(%add.1), metadata={op_name="jit(f)/exp"}
  ROOT %sine.1 = f32[4,3]{1,0} sine(%exp.1), metadata={op_name="jit(f)/sin"}
}

%fused.1 (q: f32[4,6,1]) -> f32[4,3,1] {
  %q = f32[4,6,1]{2,1,0} parameter(0)
  %cut.3 = f32[4,3,1]{2,1,0} slice(%q), slice={[0:4], [0:3], [0:1]}
  %cut.4 = f32[4,3,1]{2,1,0} slice(%q), slice={[0:4], [3:6], [0:1]}
  %add.2 = f32[4,3,1]{2,1,0} add(%cut.3, %cut.4), metadata={op_name="jit(f)/add"}
  %exp.2 = f32[4,3,1]{2,1,0} exponential(%add.2), metadata={op_name="jit(f)/exp"}
  ROOT %cosine.1 = f32[4,3,1]{2,1,0} cosine(%exp.2), metadata={op_name="jit(f)/cos"}
}

ENTRY %main_spmd (a.1: f32[4,6]) -> (f32[4,3], f32[4,3,1]) {
  %a.1 = f32[4,6]{1,0} parameter(0)
  %fusion = f32[4,3]{1,0} fusion(%a.1), kind=kLoop, calls=%fused
  %bitcast = f32[4,6,1]{2,1,0} bitcast(%a.1)
  %fusion.1 = f32[4,3,1]{2,1,0} fusion(%bitcast), kind=kLoop, calls=%fused.1
  ROOT %out.1 = (f32[4,3]{1,0}, f32[4,3,1]{2,1,0}) tuple(%fusion, %fusion.1)
}
"""


def read(text: str) -> HloModule:
    module = TextReader().read(text.encode(), "m.txt")
    assert module is not None
    return module


def test_work_in_two_fusions_has_one_origin_whatever_its_shapes() -> None:
    matching = match(read(BEFORE), read(AFTER))
    pairs = {"low": ("cut.1", "cut.3"), "high": ("cut.2", "cut.4")}
    pairs |= {"sum": ("add.1", "add.2"), "exp": ("exp.1", "exp.2")}
    for old, copies in pairs.items():
        for computation, copy in zip(("fused", "fused.1"), copies, strict=True):
            pairing = matching.pairing_after(Place(computation, copy))
            assert pairing is not None
            assert pairing.before == (Place("main", old),), copy
            assert pairing.grade is not Grade.GUESSED


def test_slices_of_other_columns_are_no_copies() -> None:
    other = AFTER.replace("slice={[0:4], [3:6], [0:1]}", "slice={[0:4], [2:5], [0:1]}")
    pairing = match(read(BEFORE), read(other)).pairing_after(Place("fused.1", "add.2"))
    assert pairing is None or pairing.relation is not Relation.CLONED


def test_a_division_by_a_constant_is_the_product_with_its_reciprocal() -> None:
    before = BEFORE.replace(
        '%sine = f32[8,3]{1,0} sine(%exp), metadata={op_name="jit(f)/sin"}',
        "%four = f32[] constant(4)\n"
        "  %fours = f32[8,3]{1,0} broadcast(%four), dimensions={}\n"
        "  %sine = f32[8,3]{1,0} divide(%exp, %fours)",
    )
    after = AFTER.replace(
        'ROOT %sine.1 = f32[4,3]{1,0} sine(%exp.1), metadata={op_name="jit(f)/sin"}',
        "%quarter = f32[] constant(0.25)\n"
        "  %quarters = f32[4,3]{1,0} broadcast(%quarter), dimensions={}\n"
        "  ROOT %sine.1 = f32[4,3]{1,0} multiply(%exp.1, %quarters)",
    )
    matching = match(read(before), read(after))
    assert matching.partner_before(Place("fused", "sine.1")) == Place("main", "sine")
