"""A fusion that was merged into several is told to be where most of it is."""

from tests.modules import parse_module

from xlareport.analysis.matching.account.repeated_holders import add_repeated_holders
from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.knowledge.grades import Grade

BEFORE = """HloModule m

producer {
  p = f32[8]{0} parameter(0)
  sine = f32[8]{0} sine(p)
  ROOT abs = f32[8]{0} abs(sine)
}

ENTRY main {
  a = f32[8]{0} parameter(0)
  ROOT former = f32[8]{0} fusion(a), kind=kLoop, calls=producer
}"""
AFTER = """HloModule m

first {
  p.1 = f32[8]{0} parameter(0)
  sine.1 = f32[8]{0} sine(p.1)
  abs.1 = f32[8]{0} abs(sine.1)
  ROOT exp.1 = f32[8]{0} exponential(abs.1)
}

second {
  p.2 = f32[8]{0} parameter(0)
  sine.2 = f32[8]{0} sine(p.2)
  abs.2 = f32[8]{0} abs(sine.2)
  ROOT tanh.2 = f32[8]{0} tanh(abs.2)
}

ENTRY main {
  a = f32[8]{0} parameter(0)
  one = f32[8]{0} fusion(a), kind=kLoop, calls=first
  two = f32[8]{0} fusion(a), kind=kLoop, calls=second
  ROOT both = (f32[8]{0}, f32[8]{0}) tuple(one, two)
}"""


def test_copies_count_whichever_of_them_an_instruction_continues_as() -> None:
    sine = Place("first", "sine.1"), Place("second", "sine.2")
    absolute = Place("second", "abs.2"), Place("first", "abs.1")
    cloned = [
        Pairing((Place("producer", name),), places, Grade.EXACT, "", Relation.CLONED)
        for name, places in (("sine", sine), ("abs", absolute))
    ]
    here = Place("main", "former"), Place("main", "one")
    words = "holds 1 of its 2 instructions"
    merged = Pairing(here[:1], here[1:], Grade.EXACT, words, Relation.ABSORBED)
    add_repeated_holders(parse_module(BEFORE), parse_module(AFTER), [*cloned, merged])
    assert merged.after == (Place("main", "one"), Place("main", "two"))
    assert merged.reason == "holds 2 of its 2 instructions"
