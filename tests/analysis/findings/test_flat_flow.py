"""The values of a computation with its fusions opened."""

from tests.modules import parse_module

from xlareport.analysis.findings.flat_flow import FlatFlow, flatten

TEXT = """HloModule m

inner {
  p = f32[8] parameter(0)
  ROOT n = f32[8] negate(p)
}

outer {
  p = f32[8] parameter(0)
  q = f32[8] parameter(1)
  i = f32[8] fusion(p), kind=kLoop, calls=inner
  s = f32[8] add(i, q)
  ROOT t = (f32[8], f32[8]) tuple(s, q)
}

ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  f = (f32[8], f32[8]) fusion(a, b), kind=kLoop, calls=outer
  g = f32[8] get-tuple-element(f), index=0
  h = f32[8] get-tuple-element(f), index=1
  ROOT r = f32[8] multiply(g, h)
}
"""


def flow_of(text: str) -> FlatFlow:
    module = parse_module(text)
    assert module.entry is not None
    return flatten(module, module.entry)


def test_a_fusion_is_opened_and_its_parameters_are_its_operands() -> None:
    flow = flow_of(TEXT)
    assert [line.name for line in flow.lines] == ["a", "b", "n", "s", "r"]
    assert flow.sources == [(), (), (0,), (2, 1), (3, 1)]
    assert flow.kernels == ["a", "b", "f", "f", "r"]
    assert flow.results["f"] == (3, 1)
    assert flow.users == [[2], [3, 4], [3], [4], []]


def test_a_compact_tuple_element_is_a_value_as_well() -> None:
    flow = flow_of(TEXT.replace("multiply(g, h)", "multiply(f#0, f#1)"))
    assert flow.sources[-1] == (3, 1)
    assert flow_of(TEXT.replace("multiply(g, h)", "multiply(f#7, f)")).sources[-1] == ()


def test_tuples_in_tuples_do_not_grow() -> None:
    """Each has the one before twice: flattened, the last would have more than any memory holds."""
    lines = "".join(
        f"  t{number} = () tuple(t{number - 1}, t{number - 1})\n" for number in range(1, 200)
    )
    text = TEXT.replace("  ROOT r = f32[8] multiply(g, h)", f"  t0 = () tuple(g, h)\n{lines}")
    flow = flow_of(text.replace("t199 = ()", "ROOT t199 = ()"))
    assert flow.results["t0"] == (3, 1)
    assert flow.results["t199"] == ()
