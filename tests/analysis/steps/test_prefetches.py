"""Asynchronous copies to another memory space that a step adds."""

import pytest
from tests.modules import parse_module

from xlareport.analysis.steps.step import step

BEFORE = """HloModule m, is_scheduled=true

ENTRY e {
  w = f32[8,1024]{1,0:T(8,128)} parameter(0)
  v = f32[8,128]{1,0:T(8,128)} parameter(1)
  n = f32[8,1024]{1,0:T(8,128)} negate(w)
  a = f32[8,128]{1,0:T(8,128)} abs(v)
  ROOT t = (f32[8,1024], f32[8,128]) tuple(n, a)
}"""
SLICED = """HloModule m, is_scheduled=true

first {
  p = f32[8,1024]{1,0:T(8,128)} parameter(0)
  ROOT s = f32[4,1024]{1,0:T(8,128)S(1)} slice(p), slice={[0:4], [0:1024]}
}

second {
  p = f32[8,1024]{1,0:T(8,128)} parameter(0)
  ROOT s = f32[4,1024]{1,0:T(8,128)S(1)} slice(p), slice={[4:8], [0:1024]}
}

ENTRY e {
  w = f32[8,1024]{1,0:T(8,128)} parameter(0)
  v = f32[8,128]{1,0:T(8,128)} parameter(1)
  c = (f32[8,128]{1,0:T(8,128)S(1)}, f32[8,128]{1,0:T(8,128)}, u32[]) copy-start(v)
  s.1 = ((f32[8,1024]{1,0:T(8,128)}), f32[4,1024]{1,0:T(8,128)S(1)}, s32[]) \
async-start(w), calls=first
  s.2 = ((f32[8,1024]{1,0:T(8,128)}), f32[4,1024]{1,0:T(8,128)S(1)}, s32[]) \
async-start(w), calls=second
  d.1 = f32[4,1024]{1,0:T(8,128)S(1)} async-done(s.1)
  d.2 = f32[4,1024]{1,0:T(8,128)S(1)} async-done(s.2)
  j = f32[8,1024]{1,0:T(8,128)S(1)} custom-call(d.1, d.2), custom_call_target="ConcatBitcast"
  n = f32[8,1024]{1,0:T(8,128)} negate(j)
  k = f32[8,128]{1,0:T(8,128)S(1)} copy-done(c)
  a = f32[8,128]{1,0:T(8,128)} abs(k)
  ROOT t = (f32[8,1024], f32[8,128]) tuple(n, a)
}"""
PREFETCHES = (
    "Prefetches of 2 values, 36.0 KiB, S(0) → S(1): "
    "`%w` in `e` by 2 asynchronous slices (one of 2)."
)


def _account(before: str, after: str) -> tuple[str, ...]:
    return step(parse_module(before), parse_module(after)).account


def test_slices_of_one_value_are_one_prefetch() -> None:
    assert PREFETCHES in _account(BEFORE, SLICED)


@pytest.mark.parametrize(
    ("source", "target", "word"),
    [
        ("", "S(1)", "Prefetches of 1 value, 4.0 KiB, S(0) → S(1): `%v` in `e`."),
        ("S(1)", "", "Evictions of 1 value, 4.0 KiB, S(1) → S(0): `%v` in `e`."),
        ("", "S(5)", "Asynchronous host copies of 1 value, 4.0 KiB, S(0) → S(5): `%v` in `e`."),
        ("S(3)", "S(1)", "Copies of 1 value, 4.0 KiB, S(3) → S(1): `%v` in `e`."),
        ("", "", ""),
    ],
)
def test_the_memory_spaces_decide_what_a_copy_is(source: str, target: str, word: str) -> None:
    vector = "v = f32[8,128]{1,0:T(8,128)"
    before = BEFORE.replace(vector, f"{vector}{source}")
    copy = (
        f"  c = (f32[8,128]{{1,0:T(8,128){target}}}, f32[8,128]{{1,0:T(8,128){source}}}, u32[]) "
        f"copy-start(v)\n  k = f32[8,128]{{1,0:T(8,128){target}}} copy-done(c)\n  a ="
    )
    after = before.replace("  a =", copy).replace("abs(v)", "abs(k)")
    said = [line for line in _account(before, after) if "of 1 value" in line and "→" in line]
    assert said == ([word] if word else [])


def test_other_asynchronous_work_is_no_copy() -> None:
    other = SLICED.replace(" slice(p), slice=", " negate(p), unknown=")
    account = _account(BEFORE, other)
    assert any(line.startswith("Prefetches of 1 value, 4.0 KiB") for line in account)
