"""A drawing holds a box for every item, and says what else there is."""

from collections.abc import Callable

import pytest

from xlareport.hlo.model import HloModule
from xlareport.pictures.assembly import assemble
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.drawing import LEAVES, Box, Drawing, Group, Opening
from xlareport.pictures.grouper import InstructionGrouper
from xlareport.pictures.operand_uses import Item
from xlareport.pictures.scene import Instance

MODULE = """
inner {
  p = f32[8] parameter(0)
  q = f32[8] add(p, p)
  ROOT r = f32[8] negate(q)
}

ENTRY main {
  x = f32[8] parameter(0)
  a = f32[8] abs(x), metadata={op_name="jit(f)/head/abs"}
  b = f32[8] negate(a), metadata={op_name="jit(f)/body/neg"}
  c = f32[8] fusion(b), kind=kLoop, calls=inner
  d = f32[8] add(c, a)
  ROOT e = f32[8] tanh(d)
}
"""


@pytest.fixture
def module(module_of: Callable[[str], HloModule]) -> HloModule:
    return module_of(MODULE)


def excerpt(module: HloModule, names: str, *, alone: bool = False) -> Drawing:
    assert module.entry is not None
    instance = Instance(Folding(module.entry))
    items = [Item(instance, drawing) for drawing in instance.drawn() if drawing.name in names]
    return assemble(module, "title", items, excerpt=alone)


def box(drawing: Drawing, name: str) -> Box:
    return next(node for node in drawing.nodes if node.id == name)


def test_the_root_is_marked(module: HloModule) -> None:
    drawing = excerpt(module, "abcde")
    assert box(drawing, "e").badge == "ROOT"
    assert box(drawing, "d").badge == ""
    assert len(drawing.edges) == 5


def test_a_fusion_opens_and_shows_its_mix(module: HloModule) -> None:
    fusion = box(excerpt(module, "abcde"), "c")
    assert fusion.opens == (Opening("c=inner", "calls inner"),)
    assert fusion.target == "i=c"
    assert dict(fusion.mix) == {"white": 2}


def test_what_comes_from_outside_has_a_dashed_box(module: HloModule) -> None:
    drawing = excerpt(module, "bd")
    outside = box(drawing, "outside a")
    assert (outside.family, outside.target) == ("dashed", "i=a")
    assert outside.lines == ("a", "from head", "f32[8]")
    assert box(drawing, "b").badge == LEAVES
    assert any(note.startswith(LEAVES) for note in drawing.notes)


def test_an_excerpt_says_nothing_of_the_outside(module: HloModule) -> None:
    drawing = excerpt(module, "bd", alone=True)
    assert [node.id for node in drawing.nodes] == ["b", "d"]
    assert box(drawing, "b").badge == ""


def test_many_values_from_outside_share_boxes(module_of: Callable[[str], HloModule]) -> None:
    made = "\n".join(
        f'  m{n} = f32[8] iota(), metadata={{op_name="jit(f)/s{n % 3}/iota"}}' for n in range(40)
    )
    used = "\n".join(f"  u{n} = f32[8] abs(m{n})" for n in range(40))
    module = module_of(f"ENTRY e {{\n{made}\n{used}\n}}")
    assert module.entry is not None
    instance = Instance(Folding(module.entry))
    items = [Item(instance, one) for one in instance.drawn() if one.name.startswith("u")]
    drawing = assemble(module, "", items)
    outside = [node.lines for node in drawing.nodes if node.family == "dashed"]
    assert outside == [
        ("14 values", "from s0", "m0, …"),
        ("13 values", "from s1", "m1, …"),
        ("13 values", "from s2", "m2, …"),
    ]


def test_parts_are_boxes_with_counts(module: HloModule) -> None:
    assert module.entry is not None
    instance = Instance(Folding(module.entry))
    one, two, *rest = instance.drawn()
    maker = InstructionGrouper(Folding(module.entry))
    pair = [maker.make("scope", f"h_{n}", f"main/h_{n}", [i]) for n, i in enumerate((one, two))]
    alike = maker.make("alike", "h_0 … h_1", "main/h_#", pair)
    drawing = assemble(module, "", [Item(instance, alike), *(Item(instance, i) for i in rest)])
    node = box(drawing, "g=main/h_#")
    assert node.lines == ("h_0 … h_1", "\N{MULTIPLICATION SIGN} 2", "2: abs, negate")
    assert (node.shape, node.target, node.family) == ("stack", "g=main/h_#", "gray")
    assert "Instruction counts exclude" in drawing.notes[-1]


def test_the_same_name_twice_has_two_boxes(module: HloModule) -> None:
    assert module.entry is not None
    first, second = (Instance(Folding(module.entry)) for _ in range(2))
    second.caller = module.entry.by_name["c"]
    one = module.entry.by_name["a"]
    drawing = assemble(module, "", [Item(first, one), Item(second, one)], excerpt=True)
    assert [node.id for node in drawing.nodes] == ["a", "a@c"]


def test_frames_get_their_members(module: HloModule) -> None:
    assert module.entry is not None
    instance = Instance(Folding(module.entry))
    items = [Item(instance, one, "frame" if one.name in "bc" else None) for one in instance.drawn()]
    drawing = assemble(module, "", items, [Group("frame", "frame", "scope", ())])
    assert drawing.groups[0].members == ("b", "c")


def test_more_arrows_than_may_be_are_left_out_and_counted(
    module_of: Callable[[str], HloModule],
) -> None:
    made = "\n".join(f"  m{n} = f32[8] iota()" for n in range(40))
    operands = ", ".join(f"m{n}" for n in range(40))
    used = "\n".join(
        f'  u{n} = f32[8] custom-call({operands}), custom_call_target="f"' for n in range(40)
    )
    module = module_of(f"ENTRY e {{\n{made}\n{used}\n}}")
    assert module.entry is not None
    instance = Instance(Folding(module.entry))
    drawing = assemble(module, "", [Item(instance, one) for one in instance.drawn()])
    assert len(drawing.edges) == 600
    assert "Left out: 1,000 more arrows." in drawing.notes


def test_an_output_says_whose_memory_it_takes(module_of: Callable[[str], HloModule]) -> None:
    shapes = ", ".join(["f32[8]"] * 4)
    module = module_of(
        "ENTRY e {\n  x = f32[8] parameter(0)\n  a = f32[8] abs(x)\n  b = f32[8] negate(x)\n"
        f"  ROOT r = ({shapes}) tuple(a, b, b, x)\n}}"
    )
    module.header = "input_output_alias={ {0}: (0, {}, may-alias) }"
    assert module.entry is not None
    instance = Instance(Folding(module.entry))
    drawing = assemble(module, "", [Item(instance, one) for one in instance.drawn()])
    assert box(drawing, "a").lines[-1] == "aliases parameter 0"
    assert box(drawing, "a").badge == "OUT 0"
    assert box(drawing, "b").badge == "OUT 1, 2"
    assert box(drawing, "b").lines[-1] == "f32[8]"
