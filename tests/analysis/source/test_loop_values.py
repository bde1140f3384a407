"""Values that loops carry: their readers in bodies, of the next iteration and after the loop."""

from tests.modules import parse_module

from xlareport.analysis.source.loop_values import LoopValues

MODULE = b"""HloModule jit_f, is_scheduled=true

%inner (p: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %p = (f32[8], f32[8]) parameter(0)
  %w = f32[8]{0} get-tuple-element(%p), index=0
  %v = f32[8]{0} get-tuple-element(%p), index=1
  %m = f32[8]{0} multiply(%v, %w)
  ROOT %q = (f32[8], f32[8]) tuple(%w, %m)
}

%stop (u: (f32[8], f32[8])) -> pred[] {
  %u = (f32[8], f32[8]) parameter(0)
  ROOT %no = pred[] constant(false)
}

%outer (s: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %s = (f32[8], f32[8]) parameter(0)
  ROOT %again = (f32[8], f32[8]) while(%s), condition=%stop, body=%inner
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %t = (f32[8], f32[8]) tuple(%a, %b)
  %loop = (f32[8], f32[8]) while(%t), condition=%stop, body=%outer
  %x = f32[8]{0} get-tuple-element(%loop), index=0
  %y = f32[8]{0} get-tuple-element(%loop), index=1
  ROOT %sum = f32[8]{0} add(%x, %y)
}
"""


def test_readers_of_a_value_are_in_inner_loops_and_behind_the_loop() -> None:
    module = parse_module(MODULE)
    assert module.entry is not None
    values = LoopValues(module)
    read = [
        (reading.computation.name, reading.instruction.name, reading.operand)
        for reading in values.readers(module.entry, "a")
    ]
    assert sorted(read) == [("inner", "m", "w"), ("main", "sum", "x")]


def test_an_element_of_a_result_is_made_in_the_body_or_before_the_loop() -> None:
    module = parse_module(MODULE.replace(b"body=%outer", b"body=%inner"))
    assert module.entry is not None
    values = LoopValues(module)
    made = [(place.name, name) for place, name in values.makers(module.entry, "y")]
    assert made == [("inner", "m"), ("main", "b")]
    assert values.makers(module.entry, "a") == ()


COMPACT = b"""HloModule jit_f, is_scheduled=true

%body (p: (f32[8], f32[8])) -> (f32[8], f32[8]) {
  %p = (f32[8], f32[8]) parameter(0)
  %m = f32[8]{0} multiply(%p#1, %p#0)
  ROOT %q = (f32[8], f32[8]) tuple(%p#0, %m)
}

%stop (u: (f32[8], f32[8])) -> pred[] {
  %u = (f32[8], f32[8]) parameter(0)
  ROOT %no = pred[] constant(false)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %t = (f32[8], f32[8]) tuple(%a, %b)
  %loop = (f32[8], f32[8]) while(%t), condition=%stop, body=%body
  %s = f32[8]{0} sine(%loop#0)
  ROOT %c = f32[8]{0} cosine(%loop#1)
}
"""


def test_elements_written_as_operands_are_not_confused() -> None:
    module = parse_module(COMPACT)
    assert module.entry is not None
    values = LoopValues(module)
    read = {
        name: sorted(
            (reading.instruction.name, reading.operand)
            for reading in values.readers(module.entry, name)
        )
        for name in ("a", "b")
    }
    assert read == {
        "a": [("m", "p#0"), ("s", "loop#0")],
        "b": [("m", "p#1")],
    }
