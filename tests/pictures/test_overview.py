"""A module of any size has a picture that can be read, and repeats are drawn once."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.pictures.drawing import Drawing
from xlareport.pictures.overview import ModulePictures

OPCODES = ("dot", "tanh", "negate", "exponential", "log", "sine", "abs")


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
        lines.append(f"  m{n} = f32[64,64] multiply(l{n}.9, l{n}.9)")
        lines.append(f"  u{n} = f32[64,64] subtract(x, m{n})")
    outputs = ", ".join([last, *(f"u{n}" for n in range(layers))])
    shapes = ", ".join(["f32[64,64]"] * (layers + 1))
    return "\n".join(["ENTRY main {", *lines, f"  ROOT r = ({shapes}) tuple({outputs})", "}"])


def boxes(drawing: Drawing) -> dict[str, tuple[str, ...]]:
    return {node.lines[0]: node.lines for node in drawing.nodes}


def test_a_small_module_is_drawn_whole(module_of: Callable[[str], HloModule]) -> None:
    drawing = ModulePictures(module_of(model(2))).overview()
    assert len(drawing.nodes) == 2 + 2 * 40 + 2 * 2 + 1
    assert drawing.title == "m: entry main"


@pytest.mark.parametrize("layers", [8, 50, 150])
def test_layers_are_drawn_once(layers: int, module_of: Callable[[str], HloModule]) -> None:
    module = module_of(model(layers))
    drawing = ModulePictures(module).overview()
    found = boxes(drawing)
    times = f"\N{MULTIPLICATION SIGN} {layers}, 40 instructions each"
    assert f"layer_0 … layer_{layers - 1}, {times}: the first" in {
        frame.title for frame in drawing.groups
    }
    assert {"l0.0", "l0.39"} <= found.keys()
    assert "l1.0" not in found
    assert found["u0 …"][1] == f"\N{MULTIPLICATION SIGN} {layers}, 2 instructions each"
    assert len(found) <= 20 + 40


def test_layers_that_no_scope_names_are_found(module_of: Callable[[str], HloModule]) -> None:
    drawing = ModulePictures(module_of(model(30, scopes=False))).overview()
    assert any("30, 40 instructions each" in frame.title for frame in drawing.groups)


def test_a_box_opens_its_layers_and_a_layer_its_instructions(
    module_of: Callable[[str], HloModule],
) -> None:
    pictures = ModulePictures(module_of(model(12)))
    layers = pictures.picture("g=main/jvp(model)/layer_#")
    assert [one.lines[0] for one in layers.nodes if one.family != "dashed"] == [
        f"layer_{n}" for n in range(12)
    ]
    layer = pictures.picture("g=main/jvp(model)/layer_3")
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
    lines = [line for one in overview.nodes for line in one.lines]
    assert any(line.endswith(" 24, 3 instructions each") for line in lines)
