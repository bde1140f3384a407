"""The arguments that a reduction updates, by output aliases and data flow."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.updated_arguments import UpdatedArguments

TEXT = """HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}), {1}: (1, {}) }, \
num_partitions=2

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

update {
  old = f32[8,4] parameter(0)
  mean = f32[8,4] parameter(1)
  g = f32[8,4] parameter(2)
  n = f32[8,4] subtract(old, g)
  k = f32[8,4] add(mean, g)
  ROOT t = (f32[8,4], f32[8,4]) tuple(n, k)
}

ENTRY e {
  w = f32[8,4] parameter(0), metadata={op_name="params['w']"}
  v = f32[8,4] parameter(1), metadata={op_name="opt['w']"}
  a = bf16[16,4] parameter(2)
  r = bf16[8,4] reduce-scatter(a), dimensions={0}, replica_groups={{0,1}}, to_apply=add
  c = f32[8,4] convert(r)
  f = (f32[8,4], f32[8,4]) fusion(w, v, c), kind=kLoop, calls=update
  n = f32[8,4] get-tuple-element(f), index=0
  k = f32[8,4] get-tuple-element(f), index=1
  ROOT t = (f32[8,4], f32[8,4]) tuple(n, k)
}
"""

LOOP = """HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}) }, num_partitions=2

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

body {
  s = (s32[], f32[3,8,4], f32[16,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[3,8,4] get-tuple-element(s), index=1
  a = f32[16,4] get-tuple-element(s), index=2
  r = f32[8,4] reduce-scatter(a), dimensions={0}, replica_groups={{0,1}}, to_apply=add
  b = f32[1,8,4] bitcast(r)
  z = s32[] constant(0)
  d = f32[3,8,4] dynamic-update-slice(h, b, i, z, z)
  ROOT t = (s32[], f32[3,8,4], f32[16,4]) tuple(i, d, a)
}

condition {
  s = (s32[], f32[3,8,4], f32[16,4]) parameter(0)
  ROOT p = pred[] constant(true)
}

ENTRY e {
  w = f32[3,8,4] parameter(0), metadata={op_name="params['w']"}
  a = f32[16,4] parameter(1)
  z = s32[] constant(0)
  g = f32[3,8,4] broadcast(z), dimensions={}
  s = (s32[], f32[3,8,4], f32[16,4]) tuple(z, g, a)
  l = (s32[], f32[3,8,4], f32[16,4]) while(s), condition=condition, body=body
  h = f32[3,8,4] get-tuple-element(l), index=1
  n = f32[3,8,4] subtract(w, h)
  ROOT t = (f32[3,8,4]) tuple(n)
}
"""


_LATER = "  f = (f32[8,4], f32[8,4]) fusion(w, v, c)"
COPIED = TEXT.replace(
    _LATER,
    "  u = (f32[8,4], f32[8,4], u32[]) copy-start(w)\n  o = f32[8,4] copy-done(u)\n"
    + _LATER.replace("w,", "o,"),
)


def _sliced(value: str) -> str:
    """Return the text with a value that the kernel reads in slices, each copied by itself."""
    parts = [
        f"  s{number} = ((f32[8,4]), f32[4,4], s32[]) async-start({value}), calls=part\n"
        f"  d{number} = f32[4,4] async-done(s{number})\n"
        for number in (1, 2)
    ]
    joined = '  o = f32[8,4] custom-call(d1, d2), custom_call_target="ConcatBitcast"\n'
    computation = (
        "part {\n  whole = f32[8,4] parameter(0)\n"
        "  ROOT half = f32[4,4] slice(whole), slice={[0:4], [0:4]}\n}\n\nENTRY"
    )
    kernel = _LATER.replace("(w, v, c)", "(w, v, c)".replace(value, "o"))
    return TEXT.replace(_LATER, "".join(parts) + joined + kernel).replace("ENTRY", computation)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (COPIED, ("params['w']", "opt['w']")),
        (_sliced("w"), ("params['w']", "opt['w']")),
        (_sliced("c"), ("params['w']", "opt['w']")),
        (TEXT, ("params['w']", "opt['w']")),
        (TEXT.replace("subtract(old, g)", "negate(old)"), ("opt['w']",)),
        (TEXT.replace("{0}: (0, {}), ", ""), ("opt['w']",)),
        (TEXT.replace("subtract(old, g)", "subtract(mean, g)"), ("opt['w']",)),
        (TEXT.replace("reduce-scatter(a)", "all-gather(a)"), ()),
        (TEXT.replace("convert(r)", 'custom-call(r), custom_call_target="f"'), ()),
        (
            TEXT.replace("tuple(n, k)\n}\n\nENTRY", "tuple(n, missing)\n}\n\nENTRY"),
            ("params['w']",),
        ),
        (LOOP, ("params['w']",)),
        (LOOP.replace("tuple(i, d, a)", "tuple(i, h, a)"), ()),
    ],
    ids=[
        "argument copied",
        "argument in slices",
        "gradient in slices",
        "both",
        "not of the gradient",
        "no alias",
        "memory of another",
        "no reduction",
        "custom call",
        "no operand",
        "in a loop",
        "not kept by the loop",
    ],
)
def test_an_update_is_of_the_argument_and_of_the_reduced_value(
    text: str, names: tuple[str, ...]
) -> None:
    module = parse_module(text)
    (collective,) = find_collectives(module)
    assert UpdatedArguments(module).of(collective) == names


def test_what_a_combined_reduction_adds_for_others_is_not_of_a_value() -> None:
    """A sum for the variance is an operand of the reduction that has the gradient as another."""
    combined = TEXT.replace(
        "  c = f32[8,4] convert(r)",
        "  i = f32[8,4] convert(r)\n"
        "  b = (f32[8,4], f32[8,4]) all-reduce(i, w), replica_groups={{0,1}}, to_apply=add\n"
        "  c = f32[8,4] get-tuple-element(b), index=1",
    )
    assert combined != TEXT
    for index, names in ((0, ("params['w']", "opt['w']")), (1, ())):
        module = parse_module(combined.replace("index=1\n  f =", f"index={index}\n  f ="))
        (scattered,) = (
            found for found in find_collectives(module) if found.kind == "reduce-scatter"
        )
        assert UpdatedArguments(module).of(scattered) == names
