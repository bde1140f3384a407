"""The form of a module changes with what it does, and with nothing else."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.hlo.digests import HloDigests


def form(text: str) -> bytes:
    return HloDigests().of_module(parse_module(text))


@pytest.fixture(scope="module")
def text(unpacked: Callable[[str], Path]) -> str:
    folder = unpacked("jax-cpu-train")
    return next(folder.glob("*jit_train_step.cpu_after_optimizations.txt")).read_text()


def renumbered(text: str) -> str:
    """Return the text with other numbers in every name."""
    return re.sub(r"(%[A-Za-z_][\w-]*?)((?:\.\d+)*)(?=[\s,)({#])", r"\1.9\2", text)


def test_names_and_numbers_do_not_count(text: str) -> None:
    assert renumbered(text) != text
    assert form(renumbered(text)) == form(text)


def test_source_lines_do_not_count(text: str) -> None:
    assert form(re.sub(r"stack_frame_id=\d+", "stack_frame_id=1", text)) == form(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" multiply(", " add("),
        ("f32[6,16]{1,0}", "f32[6,16]{0,1}"),
        ("constant(0)", "constant(1)"),
        ("lhs_contracting_dims={1}", "lhs_contracting_dims={0}"),
        ("kind=kLoop", "kind=kOutput"),
        ("is_scheduled=true", "is_scheduled=false"),
    ],
)
def test_what_it_does_counts(text: str, old: str, new: str) -> None:
    assert old in text
    assert form(text.replace(old, new, 1)) != form(text)


def test_operands_in_another_order_count() -> None:
    text = """HloModule m

ENTRY %e (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] subtract(%a, %b)
}
"""
    assert form(text.replace("(%a, %b)", "(%b, %a)")) != form(text)


def test_what_is_told_to_be_ignored_does_not_count(text: str) -> None:
    other = text.replace('"kind":"__ynn_fusion"', '"kind":"another"', 1)
    ignoring = HloDigests(without=frozenset({"kind"}))

    assert form(other) != form(text)
    assert ignoring.of_module(parse_module(other)) == ignoring.of_module(parse_module(text))


def test_a_computation_that_calls_itself_has_a_form() -> None:
    text = """HloModule m

%f (a: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  ROOT %c = f32[] call(%a), to_apply=%f
}

ENTRY %e (b: f32[]) -> f32[] {
  %b = f32[] parameter(0)
  ROOT %d = f32[] call(%b), to_apply=%f
}
"""
    assert form(text) == form(text.replace("%a", "%z"))


ELEMENTS = """HloModule m

ENTRY e {
  a = f32[4] parameter(0)
  t = (f32[4], f32[4]) tuple(a, a)
"""
AT_USES = f"{ELEMENTS}  ROOT n = f32[4] add(t#0, t#1)\n}}\n"
AS_INSTRUCTIONS = f"""{ELEMENTS}  g = f32[4] get-tuple-element(t), index=0
  h = f32[4] get-tuple-element(t), index=1
  ROOT n = f32[4] add(g, h)
}}
"""


def test_elements_of_tuples_are_the_same_at_their_uses_and_as_instructions() -> None:
    assert form(AT_USES) == form(AS_INSTRUCTIONS)
    assert form(AT_USES) != form(AT_USES.replace("t#1", "t#0"))
    assert form(AS_INSTRUCTIONS) != form(AS_INSTRUCTIONS.replace("index=1", "index=0"))


def test_the_order_of_keys_in_a_configuration_does_not_count() -> None:
    call = f"{ELEMENTS}  ROOT n = f32[4] add(t#0, t#1), backend_config={{}}\n}}\n"
    configs = ('{"a":1,"b":2}', '{"b":2,"a":1}', '{"a":2,"b":1}')
    first, turned, other = (form(call.replace("{}", config)) for config in configs)
    assert first == turned != other
