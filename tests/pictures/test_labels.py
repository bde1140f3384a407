"""Instructions are looked for by phase, by scope, else by source line."""

from collections.abc import Callable

from xlareport.hlo.model import HloModule
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.labels import PathFinder, is_line
from xlareport.pictures.value_flow import ValueFlow

STEP = """
ENTRY e {
  x = f32[8] parameter(0)
  a = f32[8] abs(x), metadata={op_name="jit(f)/jvp(model)/while/body/h_3/abs"}
  b = f32[8] abs(a)
  c = f32[8] abs(b), metadata={op_name="jit(f)/transpose(jvp(model))/h_3/bd,de->be/abs"}
  d = f32[8] abs(c), metadata={op_name="jit(f)/sub" source_file="/home/me/train.py" source_line=7}
  e = f32[8] abs(d)
}
"""


def test_paths_lead_from_the_phase_inwards(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(STEP)
    assert module.entry is not None
    folding = Folding(module.entry, inputs=False)
    drawn = module.entry.instructions[1:]
    assert PathFinder(module).paths(module.entry, drawn, ValueFlow(folding)) == {
        "a": ("forward", "model", "h_3"),
        "b": ("backward", "model", "h_3"),
        "c": ("backward", "model", "h_3"),
        "d": ("optimizer", "train.py:7"),
        "e": ("optimizer", "train.py:7"),
    }


def test_without_a_gradient_there_is_no_phase(module_of: Callable[[str], HloModule]) -> None:
    text = 'ENTRY e {\n  a = f32[8] custom-call(), metadata={op_name="jit(f)/mlp/abs"}\n}'
    module = module_of(text)
    assert module.entry is not None
    flow = ValueFlow(Folding(module.entry, inputs=False))
    assert PathFinder(module).paths(module.entry, module.entry.instructions, flow) == {
        "a": ("mlp",)
    }


def test_lines_are_told_from_scopes() -> None:
    assert [word for word in ("a.py:7", "a.py:7 (2)", "h_3", "a:b", "a.py:?") if is_line(word)] == [
        "a.py:7",
        "a.py:7 (2)",
        "a.py:?",
    ]
