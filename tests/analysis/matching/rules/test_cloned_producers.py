"""Fusions that took in copies of what a fusion that they read holds."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_BEFORE = """
HloModule m

%producer (a: f32[4], b: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %sine.1 = f32[4]{0} sine(%b)
  ROOT %add.1 = f32[4]{0} add(%a, %sine.1)
}

%consumer (c: f32[4], d: f32[4]) -> f32[4] {
  %c = f32[4]{0} parameter(0)
  %d = f32[4]{0} parameter(1)
  ROOT %mul.1 = f32[4]{0} multiply(%c, %d)
}

ENTRY %main (x: f32[4], y: f32[4], z: f32[4]) -> (f32[4], f32[4]) {
  %x = f32[4]{0} parameter(0)
  %y = f32[4]{0} parameter(1)
  %z = f32[4]{0} parameter(2)
  %fusion.1 = f32[4]{0} fusion(%x, %y), kind=kLoop, calls=%producer
  %fusion.2 = f32[4]{0} fusion(%fusion.1, %z), kind=kLoop, calls=%consumer
  ROOT %out = (f32[4]{0}, f32[4]{0}) tuple(%fusion.1, %fusion.2)
}
"""
_HEAD = _BEFORE.index("%consumer")
_AFTER = (
    _BEFORE[:_HEAD]
    + """%consumer (d: f32[4], e: f32[4], f: f32[4]) -> f32[4] {
  %e = f32[4]{0} parameter(1)
  %f = f32[4]{0} parameter(2)
  %sine.2 = f32[4]{0} sine(%f)
  %add.2 = f32[4]{0} add(%e, %sine.2)
  %d = f32[4]{0} parameter(0)
  ROOT %mul.1 = f32[4]{0} multiply(%add.2, %d)
}

"""
    + _BEFORE[_BEFORE.index("ENTRY") :].replace("fusion(%fusion.1, %z)", "fusion(%z, %x, %y)")
)


def _consumer(name: str) -> Place:
    return Place("consumer", name)


def test_what_a_producer_computes_is_copied_into_the_fusion_that_read_it(read: Read) -> None:
    matching = match(read(_BEFORE), read(_AFTER))
    for name in ("add", "sine"):
        pairing = matching.pairing_after(_consumer(f"{name}.2"))
        assert pairing is not None
        assert pairing.relation is Relation.CLONED
        assert pairing.before == (Place("producer", f"{name}.1"),)


def test_the_same_operations_on_other_values_are_no_copies(read: Read) -> None:
    other = _AFTER.replace("fusion(%z, %x, %y)", "fusion(%z, %y, %x)")
    for name in ("add", "sine"):
        pairing = match(read(_BEFORE), read(other)).pairing_after(_consumer(f"{name}.2"))
        assert pairing is not None
        assert pairing.relation is not Relation.CLONED
