"""Equal fusions have one kernel, under the name of the first."""

from collections.abc import Callable

from xlareport.analysis.code.files import CodeFile
from xlareport.analysis.code.units import join_code
from xlareport.hlo.model import HloModule
from xlareport.program import CodeNotes

TEXT = """\
half {{
  p = f32[8] parameter(0)
  c = f32[] constant(2)
  b = f32[8] broadcast(c), dimensions={{}}
  ROOT d = f32[8] divide(p, b), metadata={{op_name="first"}}
}}

again {{
  q = f32[8] parameter(0)
  k = f32[] constant(2)
  e = f32[8] broadcast(k), dimensions={{}}
  ROOT f = f32[8] divide(q, e), metadata={{op_name="second"}}
}}

third {{
  q = f32[8] parameter(0)
  k = f32[] constant(3)
  e = f32[8] broadcast(k), dimensions={{}}
  ROOT f = f32[8] divide(q, e)
}}

ENTRY e {{
  x = f32[8] parameter(0)
  one = f32[8] fusion(x), kind=kLoop, calls=half
  two = f32[8] fusion(one), kind=kLoop, calls=again
  other = f32[8] fusion(two), kind=kLoop, calls=third
  ROOT dot = f32[8] fusion(other), kind=kCustom, calls=half{config}
}}"""
LIBRARY = ', backend_config={"fusion_config":{"kind":"__ynn_fusion"}}'


def told(module: HloModule, *kernels: str) -> dict[str, tuple[str, str]]:
    files = [CodeFile(f"{name}.o", "object", "", name, (name,), 1) for name in kernels]
    units = join_code(module, files, CodeNotes()).units
    return {unit.place[1]: (unit.grade, unit.missing or unit.reason) for unit in units}


def test_a_fusion_has_the_kernel_of_its_equal(read: Callable[[str], HloModule]) -> None:
    module = read(TEXT.format(config=LIBRARY))
    found = told(module, "one")
    assert found["one"] == ("matched", "The kernel has the instruction's name.")
    reason = "XLA compiles equal fusions once: it is equal to one."
    assert found["two"] == ("matched", reason)
    assert found["other"] == ("guessed", "No file of code and no thunk has its name.")
    assert found["dot"][1] == "It calls a library (YNNPACK), whose code is in no dump."


def test_where_several_equals_have_one_it_is_guessed(
    read: Callable[[str], HloModule],
) -> None:
    text = TEXT.format(config="").replace("constant(3)", "constant(2)")
    found = told(read(text), "one", "two")
    reason = "XLA compiles equal fusions once: it is equal to one and 1 more."
    assert found["other"] == ("guessed", reason)
    assert found["two"] == ("matched", "The kernel has the instruction's name.")


def test_computations_that_call_each_other_end(read: Callable[[str], HloModule]) -> None:
    loop = """\
a {
  p = f32[8] parameter(0)
  ROOT f = f32[8] fusion(p), kind=kLoop, calls=a
}

ENTRY e {
  x = f32[8] parameter(0)
  one = f32[8] fusion(x), kind=kLoop, calls=a
  ROOT two = f32[8] fusion(one), kind=kLoop, calls=a
}"""
    assert told(read(loop), "one")["two"][0] == "matched"
