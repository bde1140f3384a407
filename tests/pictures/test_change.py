"""A step has two pictures: what changed, with one ring around it, in the same places."""

from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule
from xlareport.pictures.change import change_pictures, step_pictures
from xlareport.pictures.drawing import Drawing

Read = Callable[[str], HloModule]

BEFORE = """
ENTRY main {
  x = f32[8] parameter(0)
  far = f32[8] abs(x)
  a = f32[8] tanh(far)
  b = f32[8] reshape(a)
  c = f32[8] reshape(b)
  d = f32[8] negate(c)
  away = f32[8] sine(d)
  ROOT e = f32[8] cosine(away)
}
"""
AFTER = """
ENTRY main {
  x = f32[8] parameter(0)
  far = f32[8] abs(x)
  a = f32[8] tanh(far)
  n = f32[8] exponential(a)
  d = f32[8] negate(n)
  away = f32[8] sine(d)
  ROOT e = f32[8] cosine(away)
}
"""


def places(*names: str, computation: str = "main") -> list[Place]:
    return [Place(computation, name) for name in names]


def states(drawing: Drawing) -> dict[str, str]:
    return {node.id.partition("%")[2]: node.state for node in drawing.nodes}


def arrows(drawing: Drawing) -> dict[tuple[str, str], str]:
    return {
        (edge.source.partition("%")[2], edge.target.partition("%")[2]): edge.state
        for edge in drawing.edges
    }


@pytest.fixture
def pictures(module_of: Read) -> tuple[Drawing, Drawing]:
    """Return the pictures of a step that replaced two reshapes by an exponential."""
    changed = [(Place("main", "d"), Place("main", "d"))]
    return change_pictures(
        module_of(BEFORE), module_of(AFTER), places("b", "c"), places("n"), changed
    ).pair


def test_what_changed_has_a_state_and_one_ring_around_it(
    pictures: tuple[Drawing, Drawing],
) -> None:
    before, after = pictures
    ring = {"a": "context", "away": "context"}
    assert states(before) == {"b": "removed", "c": "removed", "d": "changed", **ring}
    assert states(after) == {"n": "added", "d": "changed", **ring}


def test_what_is_in_both_has_the_same_id(pictures: tuple[Drawing, Drawing]) -> None:
    before, after = ({node.id for node in picture.nodes} for picture in pictures)
    assert before & after == {"main/%a", "main/%d", "main/%away"}


def test_arrows_that_came_or_went_have_a_state(pictures: tuple[Drawing, Drawing]) -> None:
    before, after = pictures
    assert arrows(before) == {
        ("a", "b"): "removed",
        ("b", "c"): "removed",
        ("c", "d"): "removed",
        ("d", "away"): "same",
    }
    assert arrows(after) == {("a", "n"): "added", ("n", "d"): "added", ("d", "away"): "same"}


def test_nothing_says_where_the_rest_is(pictures: tuple[Drawing, Drawing]) -> None:
    assert all(
        node.family != "dashed" and not node.badge for picture in pictures for node in picture.nodes
    )


def test_an_operand_that_changed_has_its_arrow_marked(module_of: Read) -> None:
    text = """
    ENTRY main {{
      x = f32[8] parameter(0)
      a = f32[8] tanh(x)
      b = f32[8] negate(x)
      ROOT c = f32[8] add({}, a)
    }}
    """
    same = [(Place("main", "c"), Place("main", "c"))]
    before, after = change_pictures(
        module_of(text.format("a")), module_of(text.format("b")), [], [], same
    ).pair
    assert arrows(before)["a", "c"] == "same"
    assert arrows(after)["b", "c"] == "added"
    assert states(before) == states(after) == {"a": "context", "b": "context", "c": "changed"}


def test_a_name_that_was_another_thing_before_is_told_apart(module_of: Read) -> None:
    before, after = change_pictures(
        module_of(BEFORE),
        module_of(BEFORE.replace("b = f32[8] reshape(a)", "b = f32[8] sine(a)")),
        places("b"),
        places("b"),
        [],
        partner=lambda place: None if place.instruction == "b" else place,
    ).pair
    assert {node.id for node in before.nodes if node.state == "removed"} == {"main/%b"}
    assert {node.id for node in after.nodes if node.state == "added"} == {"main/%b'"}


def test_a_new_name_for_the_same_thing_keeps_its_id(module_of: Read) -> None:
    renamed = AFTER.replace("away", "renamed")
    before, after = change_pictures(
        module_of(BEFORE),
        module_of(renamed),
        places("b", "c"),
        places("n"),
        [(Place("main", "d"), Place("main", "d"))],
        partner=lambda place: Place("main", "away") if place.instruction == "renamed" else place,
        paired=places("renamed"),
    ).pair
    assert "main/%away" in {node.id for node in before.nodes}
    [node] = [one for one in after.nodes if one.id == "main/%away"]
    assert node.lines[0] == "renamed"


def many(regions: int, extra: Iterable[str] = ()) -> str:
    """Return a module of independent rows: `n` -> reshape -> negate."""
    rows = [
        line
        for n in range(regions)
        for line in (
            f"  p{n} = f32[8] parameter({n})",
            f"  r{n} = f32[8] reshape(p{n})",
            f"  s{n} = f32[8] negate(r{n})",
        )
    ]
    return "\n".join(["ENTRY main {", *rows, *extra, "}"])


def test_regions_alike_are_drawn_once_and_counted(module_of: Read) -> None:
    module = module_of(many(30))
    before, after = change_pictures(
        module, module_of(many(0)), places(*(f"r{n}" for n in range(30))), [], []
    ).pair
    assert states(before) == {"r0": "removed", "s0": "context"}
    assert "Not drawn: 29 places changed the same way." in after.notes


def test_many_different_regions_are_counted(module_of: Read) -> None:
    opcodes = ("abs", "sine", "cosine", "tanh", "floor", "ceil", "sign", "sqrt")
    rows = [f"  o{n} = f32[8] {opcode}(p0)" for n, opcode in enumerate(opcodes)]
    before, after = change_pictures(
        module_of(many(1, rows)), module_of(many(1)), places(*(f"o{n}" for n in range(8))), [], []
    ).pair
    assert sum(node.state == "removed" for node in before.nodes) == 4
    assert "Not drawn: 4 other places that changed." in after.notes


def test_a_large_spot_is_cut_where_it_began(module_of: Read) -> None:
    chain = "\n".join(f"  c{n} = f32[8] abs(c{n - 1})" for n in range(1, 300))
    module = module_of(f"ENTRY main {{\n  c0 = f32[8] parameter(0)\n{chain}\n}}")
    names = [f"c{n}" for n in range(1, 300)]
    before, after = change_pictures(module, module_of(many(0)), places(*names), [], []).pair
    removed = [name for name, state in states(before).items() if state == "removed"]
    assert removed[:40] == names[:40]
    assert "Not drawn: 259 instructions changed together with these." in after.notes


FUSED = """
fused {
  p = f32[8] parameter(0)
  b = f32[8] reshape(p)
  ROOT c = f32[8] reshape(b)
}

ENTRY main {
  x = f32[8] parameter(0)
  far = f32[8] abs(x)
  a = f32[8] tanh(far)
  fusion = f32[8] fusion(a), kind=kLoop, calls=fused
  d = f32[8] negate(fusion)
  away = f32[8] sine(d)
  ROOT e = f32[8] cosine(away)
}
"""


def test_a_fusion_that_was_made_is_a_frame_around_what_went_in(module_of: Read) -> None:
    moved = [(Place("main", name), Place("fused", name)) for name in "bc"]
    before, after = change_pictures(
        module_of(BEFORE), module_of(FUSED), [], places("fusion"), moved
    ).pair
    assert states(before) == {"b": "changed", "c": "changed", "a": "context", "d": "context"}
    assert states(after) == states(before)
    [frame] = after.groups
    assert (frame.title, frame.state, frame.target) == ("fusion kLoop", "added", "i=fusion")
    assert frame.members == ("main/%b", "main/%c")
    assert before.groups == ()
    assert set(arrows(after)) == {("a", "b"), ("b", "c"), ("c", "d")}


def test_nothing_changed_is_two_empty_pictures(module_of: Read) -> None:
    before, after = change_pictures(module_of(BEFORE), module_of(AFTER), [], [], []).pair
    assert (before.nodes, after.nodes) == ((), ())


def test_places_that_are_not_there_are_forgotten(module_of: Read) -> None:
    ghosts = [Place("nowhere", "x"), Place("main", "nobody")]
    before, after = change_pictures(module_of(BEFORE), module_of(AFTER), ghosts, ghosts, []).pair
    assert (before.nodes, after.nodes) == ((), ())


def test_the_pictures_of_a_step(module_of: Read) -> None:
    found = step_pictures(step(module_of(BEFORE), module_of(AFTER)))
    assert found is not None
    before, after = found.pair
    assert "removed" in states(before).values()
    [new] = [node for node in after.nodes if node.lines[0] == "n"]
    assert new.state in {"added", "changed"}


def test_a_step_that_changed_nothing_has_no_picture(module_of: Read) -> None:
    assert step_pictures(step(module_of(BEFORE), module_of(BEFORE))) is None


def test_a_step_that_only_said_other_things_has_no_picture(module_of: Read) -> None:
    said = BEFORE.replace("tanh(far)", 'tanh(far), metadata={op_name="x/tanh"}')
    assert step_pictures(step(module_of(BEFORE), module_of(said))) is None


def test_every_step_of_a_real_module(dumped: Callable[[str, str], HloModule]) -> None:
    endings = [
        "jit_train_step.before_optimizations.txt",
        "simplification.after_algsimp.before_simplify-sorts.txt",
        "after_layout-assignment.before_sub-byte-size-setter.txt",
        "after_fusion.before_fusion-wrapper.txt",
    ]
    modules = [dumped("jax-cpu-train", ending) for ending in endings]
    for before, after in pairwise(modules):
        found = step_pictures(step(before, after))
        assert found is not None
        old, new = ({node.id: node for node in one.nodes} for one in found.pair)
        assert old
        assert new
        for name in old.keys() & new.keys():
            assert {old[name].state, new[name].state} <= {"changed", "context"}
        assert all(node.state != "added" for node in old.values())
        assert all(node.state != "removed" for node in new.values())


def test_places_that_are_left_out_have_pictures_of_their_own(module_of: Read) -> None:
    names = [name for n in range(20) for name in (f"r{n}", f"s{n}")]
    found = change_pictures(module_of(many(20)), module_of(many(0)), places(*names), [], [])
    before, after = found.pair
    assert len(found.places) == 8
    assert after.left_out[0].startswith("19 places, as drawn: ")
    for place in found.places:
        old, new = place.pair
        assert (old.title, new.title, place.line) == ("before", "after", 0)
        assert place.name in after.left_out[0]
        assert set(states(old).values()) == {"removed"}
        assert not {node.id for node in old.nodes} & {node.id for node in before.nodes}
        assert new.nodes == ()


def test_a_box_of_a_place_says_what_it_stands_in(module_of: Read) -> None:
    row = "ENTRY main {\n  x = f32[8] parameter(0)\n"
    bodies = "".join(
        f"f{n} {{\n  p = f32[8] parameter(0)\n  n{n} = f32[8] negate(p)\n"
        f"  ROOT o{n} = f32[8] OP(n{n})\n}}\n"
        for n in range(3)
    )
    calls = "".join(f"  c{n} = f32[8] fusion(x), kind=kLoop, calls=f{n}\n" for n in range(3))
    whole = f"{bodies}{row}{calls}}}"
    same = [(place, place) for n in range(3) for place in places(f"o{n}", computation=f"f{n}")]
    found = change_pictures(
        module_of(whole.replace("OP", "abs")), module_of(whole.replace("OP", "sine")), [], [], same
    )
    assert [place.name for place in found.places] == ["%o1", "%o2"]
    for place in found.places:
        for drawing in place.pair:
            assert drawing.groups == ()
            assert {node.lines[-1] for node in drawing.nodes} == {f"in c{place.name[-1]} kLoop"}
