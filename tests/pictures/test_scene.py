"""A value is followed to the box that makes it, through tuples and opened computations."""

from collections.abc import Callable

import pytest

from xlareport.hlo.model import HloModule, Instruction
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.scene import Instance, open_caller, opens_into, resolve

MODULE = """
fused {
  p0 = f32[8] parameter(0)
  p1 = f32[] parameter(1)
  spread = f32[8] broadcast(p1), dimensions={}
  sum = f32[8] add(p0, spread)
  ROOT both = (f32[8], f32[8]) tuple(sum, p0)
}

body {
  state = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  v = f32[8] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  twice = f32[8] add(v, v)
  ROOT new = (s32[], f32[8]) tuple(next, twice)
}

condition {
  state.1 = (s32[], f32[8]) parameter(0)
  ROOT yes = pred[] constant(true)
}

ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] negate(x)
  z = f32[8] abs(y)
  c = f32[] constant(2)
  fusion = (f32[8], f32[8]) fusion(y, c), kind=kLoop, calls=fused
  left = f32[8] get-tuple-element(fusion), index=0
  zero = s32[] constant(0)
  init = (s32[], f32[8]) tuple(zero, left)
  loop = (s32[], f32[8]) while(init), condition=condition, body=body
  ROOT result = f32[8] get-tuple-element(loop), index=1
}
"""


@pytest.fixture
def module(module_of: Callable[[str], HloModule]) -> HloModule:
    return module_of(MODULE)


def scene(module: HloModule) -> Instance:
    """Return the entry with every instruction in a box of its own name."""
    assert module.entry is not None
    return placed(Instance(Folding(module.entry)))


def placed(instance: Instance) -> Instance:
    instance.places.update({drawing.name: drawing.name for drawing in instance.drawn()})
    return instance


def opened(outer: Instance, module: HloModule, name: str) -> Instance:
    caller = outer.computation.by_name[name]
    computation = opens_into(module, caller)
    assert computation is not None
    return placed(open_caller(outer, caller, computation))


def test_a_box_is_found_through_an_element(module: HloModule) -> None:
    found = resolve(scene(module), "left")
    assert (found.box, found.element) == ("fusion", "0")
    assert resolve(scene(module), "fusion#1").element == "1"


def test_a_folded_value_gives_words(module: HloModule) -> None:
    found = resolve(scene(module), "c")
    assert (found.box, found.words) == (None, "constant 2")


def test_an_opened_caller_gives_its_root(module: HloModule) -> None:
    entry = scene(module)
    opened(entry, module, "fusion")
    assert resolve(entry, "left").box == "both"


def test_an_inner_parameter_leads_out(module: HloModule) -> None:
    entry = scene(module)
    inner = opened(entry, module, "fusion")
    assert resolve(inner, "p0").box == "y"
    assert resolve(inner, "p1").words == "constant 2"


def test_the_state_of_a_loop_leads_to_where_it_begins(module: HloModule) -> None:
    entry = scene(module)
    body = opened(entry, module, "loop")
    found = resolve(body, "v")
    assert (found.box, found.element) == ("init", "1")


def test_what_has_no_box_is_made_outside(module: HloModule) -> None:
    assert module.entry is not None
    found = resolve(Instance(Folding(module.entry)), "y")
    assert (found.box, found.words) == (None, "")
    assert isinstance(found.producer, Instruction)


def test_what_is_not_there_is_nothing(module: HloModule) -> None:
    found = resolve(scene(module), "nobody#3")
    assert (found.box, found.producer) == (None, None)


def test_a_circle_ends(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(
        "ENTRY e {\n"
        "  a = f32[] get-tuple-element(b), index=0\n"
        "  b = f32[] get-tuple-element(a), index=0\n"
        "  ROOT c = f32[] negate(a)\n}"
    )
    assert resolve(scene(module), "a").words == "a value that only names itself"


@pytest.mark.parametrize(
    ("name", "computation"), [("fusion", "fused"), ("loop", "body"), ("y", None), ("init", None)]
)
def test_what_opens(name: str, computation: str | None, module: HloModule) -> None:
    assert module.entry is not None
    found = opens_into(module, module.entry.by_name[name])
    assert (found.name if found else None) == computation
