"""Every instruction of a module can be reached by clicking, from its first picture on."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.pictures.boxes import is_worth_opening
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.drawing import Drawing
from xlareport.pictures.levels import LevelPicture, ModulePictures, all_levels, whereabouts
from xlareport.pictures.scene import Instance

REAL = [
    ("jax-cpu-train", "jit_train_step.before_optimizations.txt"),
    ("jax-cpu-train", "jit_rollout.cpu_after_optimizations.txt"),
    ("gpu-h100x2-train", "gpu_after_optimizations.txt"),
    ("tpu-v5e-scan", ".after_optimizations.txt"),
    ("tf-clusters", ".before_optimizations.txt"),
    ("jax-0.4.13-cpu-train", "jit_train_step.before_optimizations.txt"),
]

SWITCH = """
one {
  p = f32[8] parameter(0)
  a = f32[8] abs(p)
  ROOT b = f32[8] negate(a)
}
two {
  q = f32[8] parameter(0)
  c = f32[8] tanh(q)
  ROOT d = f32[8] negate(c)
}
lonely {
  l = f32[8] parameter(0)
  m = f32[8] tanh(l)
  ROOT n = f32[8] sine(m)
}
ENTRY main {
  i = s32[] parameter(0)
  x = f32[8] parameter(1)
  zero = s32[] constant(0)
  ROOT r = f32[8] conditional(i, x, x), branch_computations={one, two}
}
"""


def shown(levels: Sequence[LevelPicture]) -> set[str | None]:
    """Return what the boxes and frames of all pictures open."""
    drawings = [level.drawing for level in levels]
    return {thing.target for one in drawings for thing in (*one.nodes, *one.groups)}


@pytest.mark.parametrize(("dump", "ending"), REAL)
def test_every_instruction_of_a_real_module_can_be_reached(
    dump: str, ending: str, dumped: Callable[[str, str], HloModule]
) -> None:
    module = dumped(dump, ending)
    levels = all_levels(module, ModulePictures(module))
    seen = shown(levels)
    for computation in filter(is_worth_opening, module.computations):
        drawn = Instance(Folding(computation, inputs=False)).drawn()
        assert {f"i={drawing.name}" for drawing in drawn} <= seen
    assert {target for target in seen if target and target[0] != "i"} <= {
        level.target for level in levels
    }


@pytest.mark.parametrize(("dump", "ending"), REAL)
def test_a_picture_is_known_for_every_instruction(
    dump: str, ending: str, dumped: Callable[[str, str], HloModule]
) -> None:
    module = dumped(dump, ending)
    levels = all_levels(module, ModulePictures(module))
    where = whereabouts(module, levels)
    assert set(where) == {
        instruction.name
        for computation in module.computations
        for instruction in computation.instructions
    }
    assert all(0 <= place < len(levels) for place in where.values())


def test_a_picture_stands_behind_the_one_that_leads_to_it(
    dumped: Callable[[str, str], HloModule],
) -> None:
    module = dumped("gpu-h100x2-train", "gpu_after_optimizations.txt")
    levels = all_levels(module, ModulePictures(module))
    assert levels[0].parent is None
    assert all(
        level.parent < place for place, level in enumerate(levels) if level.parent is not None
    )


def test_every_branch_is_opened(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(SWITCH)
    levels = all_levels(module, ModulePictures(module))
    assert [(level.target, level.parent) for level in levels] == [
        ("c=main", None),
        ("c=one", 0),
        ("c=two", 0),
        ("c=lonely", None),
    ]
    where = whereabouts(module, levels)
    assert (where["r"], where["zero"], where["a"], where["d"], where["q"]) == (0, 0, 1, 2, 2)


def test_the_rest_is_not_begun(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(SWITCH)
    levels = all_levels(module, ModulePictures(module), most_boxes=2)
    assert [level.target for level in levels] == ["c=main", "c=one"]


def test_an_empty_module_has_no_pictures() -> None:
    module = HloModule("m", "", ())
    assert all_levels(module, ModulePictures(module)) == ()


OPCODES = ("dot", "tanh", "negate", "exponential", "log", "sine", "abs")


UPDATE = ', metadata={op_name="jit(f)/sub"}'


def model(layers: int, *, scopes: bool = True) -> str:
    """Return an entry with layers of 40 instructions and an update of a weight for each."""
    lines = ["  x = f32[64,64] parameter(0)", "  h = f32[64,64] abs(x)"]
    last = "h"
    for n in range(layers):
        scope = f', metadata={{op_name="jit(f)/jvp(model)/layer_{n}/op"}}' if scopes else ""
        for m in range(40):
            opcode = OPCODES[m * m % 7 if m < 21 else m % 7]
            operands = f"{last}, {last}" if opcode == "dot" else last
            name = f"l{n}.{m}"
            lines.append(f"  {name} = f32[64,64] {opcode}({operands}){scope}")
            last = name
    for n in range(layers):
        lines.append(f"  m{n} = f32[64,64] multiply(l{n}.9, l{n}.9){UPDATE}")
        lines.append(f"  u{n} = f32[64,64] subtract(x, m{n}){UPDATE}")
    outputs = ", ".join([last, *(f"u{n}" for n in range(layers))])
    shapes = ", ".join(["f32[64,64]"] * (layers + 1))
    return "\n".join(["ENTRY main {", *lines, f"  ROOT r = ({shapes}) tuple({outputs})", "}"])


def boxes(drawing: Drawing) -> dict[str, tuple[str, ...]]:
    return {node.lines[0]: node.lines for node in drawing.nodes}


def test_a_small_module_is_drawn_whole(module_of: Callable[[str], HloModule]) -> None:
    drawing = ModulePictures(module_of(SWITCH)).overview()
    assert drawing.title == "m: entry main"
    assert all(node.target is None or node.target.startswith("i=") for node in drawing.nodes)


@pytest.mark.parametrize("layers", [2, 8, 50, 150])
def test_the_first_view_has_few_boxes_and_its_layers_once(
    layers: int, module_of: Callable[[str], HloModule]
) -> None:
    drawing = ModulePictures(module_of(model(layers))).overview()
    assert len(drawing.nodes) <= 25
    alike = f"\N{MULTIPLICATION SIGN} {layers}, 40 to 41 instructions each"
    if layers > 2:
        assert sum(alike in " ".join(lines) for lines in boxes(drawing).values()) == 1


def test_layers_that_no_scope_names_are_found(module_of: Callable[[str], HloModule]) -> None:
    drawing = ModulePictures(module_of(model(30, scopes=False))).overview()
    titles = [frame.title for frame in drawing.groups]
    titles += [" ".join(node.lines) for node in drawing.nodes]
    assert any("30, 40 instructions each" in title for title in titles)


def test_a_box_opens_its_layers_and_a_layer_its_instructions(
    module_of: Callable[[str], HloModule],
) -> None:
    pictures = ModulePictures(module_of(model(12)))
    layers = pictures.picture("g=main/model/layer_#")
    assert [node.lines[0] for node in layers.nodes if node.family != "dashed"] == [
        f"layer_{n}" for n in range(12)
    ]
    layer = pictures.picture("g=main/model/layer_3")
    assert layer.title == "m: layer_3"
    assert len(layer.nodes) == 40 + 1
    assert layer.notes[0] == "40 instructions of entry main."


@pytest.mark.parametrize("target", ["g=main/nothing", "g=nobody/x", "c=nobody", "", "x=1"])
def test_an_unknown_target_raises_key_error(
    target: str, module_of: Callable[[str], HloModule]
) -> None:
    with pytest.raises(KeyError):
        ModulePictures(module_of(model(12))).picture(target)


def test_a_small_fusion_is_opened_in_place(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(
        "fused {\n  p = f32[8] parameter(0)\n  q = f32[8] abs(p)\n  ROOT r = f32[8] negate(q)\n}\n"
        "ENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] tanh(x)\n"
        "  ROOT z = f32[8] fusion(y), kind=kLoop, calls=fused\n}"
    )
    drawing = ModulePictures(module).overview()
    assert [node.id for node in drawing.nodes] == ["y", "q", "r"]
    assert [(group.title, group.target) for group in drawing.groups] == [("z kLoop", "i=z")]
    assert [(edge.source, edge.target) for edge in drawing.edges] == [("y", "q"), ("q", "r")]


def test_a_recursion_ends(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(
        "a {\n  p = f32[8] parameter(0)\n  q = f32[8] abs(p)\n"
        "  ROOT r = f32[8] call(q), to_apply=a\n}\n"
        "ENTRY e {\n  x = f32[8] parameter(0)\n  ROOT z = f32[8] call(x), to_apply=a\n}"
    )
    drawing = ModulePictures(module).overview()
    assert 1 <= len(drawing.nodes) <= 200


def test_an_empty_module_has_an_empty_picture() -> None:
    assert ModulePictures(HloModule("m", "", ())).overview().nodes == ()


def test_the_large_dump(dumps: Path) -> None:
    folder = dumps / "jax-gpt2-allpasses" / "jax-gpt2-allpasses"
    path = folder / "module_0008.jit_train_step.cpu_after_optimizations.txt"
    module = TextReader().read(path.read_bytes(), path.name)
    assert module is not None
    drawing = ModulePictures(module).overview()
    assert 20 <= len(drawing.nodes) <= 60
    assert any("12, " in node.lines[1] for node in drawing.nodes if node.shape == "stack")


def test_a_real_module_without_scopes_is_cut_all_the_same(
    unpacked: Callable[[str], Path], module_of: Callable[[str], HloModule]
) -> None:
    name = "module_0004.jit_augment.before_optimizations.txt"
    text = unpacked("labelled-preprocessing").joinpath(name).read_text("utf-8")
    module = module_of(re.sub(r' ?op_name="[^"]*"', "", text.partition("\n")[2]))
    assert module.entry is not None
    overview = ModulePictures(module).overview()
    assert len(module.entry.instructions) == 680
    assert 10 < len(overview.nodes) < 60
    lines = [line for node in overview.nodes for line in node.lines]
    assert any(line.endswith(" 24, 3 instructions each") for line in lines)
