from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.cost.resharding import Sharded, explain_reshardings
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

ReadModule = Callable[[str], HloModule]
BEFORE = """ENTRY e {
  x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}
  t = f32[4,8] transpose(x), dimensions={1,0}, sharding={replicated}, metadata={op_name="jit(f)/t"}
  u = f32[4,8] negate(t), sharding={replicated}, metadata={op_name="jit(f)/twice"}
  v = f32[4,8] negate(u), sharding={devices=[1,2]<=[2]}, metadata={op_name="jit(f)/twice"}
  ROOT r = f32[4,8] add(u, v)
}"""
AFTER = """ENTRY e {
  x = f32[4,4] parameter(0), sharding={devices=[2,1]<=[2]}
  c = f32[4,4] copy(x)
  g = f32[8,4] all-gather(c), replica_groups={{0,1}}, dimensions={0}, metadata={op_name="jit(f)/t"}
  h = f32[8,4] all-to-all(g), replica_groups={{0,1}}, metadata={op_name="jit(f)/twice"}
  y = f32[8,4] add(h, h)
  ROOT i = f32[8,4] all-reduce(y), replica_groups={{0,1}}, to_apply=add
}"""


def test_an_all_gather_is_led_back_to_its_sharding(module_of: ReadModule) -> None:
    found = explain_reshardings(module_of(AFTER), [module_of(BEFORE)])
    (gathered,) = found["e", "g"]
    assert gathered.parameter == Sharded("x", "{devices=[2,1]<=[2]}")
    assert gathered.wanted_by == Sharded("t", "{replicated}")
    assert gathered.operands == (Sharded("x", "{devices=[2,1]<=[2]}"),)
    assert gathered.grade == "matched"
    assert found["e", "h"][0].grade == "guessed", "two instructions with different shardings"
    assert ("e", "i") not in found, "nothing is said of what has no op and no single operand"


COMBINED = """ENTRY e {
  d = f32[8,4] dot(a, b), metadata={op_name="jit(f)/t"}
  f = f32[8,4] fusion(d), kind=kLoop, calls=c, metadata={op_name="jit(f)/twice"}
  n = f32[8,4] negate(f)
  ROOT i = (f32[8,4], f32[8,4]) all-reduce(d, f, n), metadata={op_name="jit(f)/t"}
}"""


def test_each_operand_of_a_combined_one_has_its_own(module_of: ReadModule) -> None:
    found = explain_reshardings(module_of(COMBINED), [module_of(BEFORE)])["e", "i"]
    assert [(one.operand, one.grade) for one in found] == [("d", "matched"), ("f", "guessed")]
    assert found[0].wanted_by == Sharded("t", "{replicated}")


def test_without_earlier_snapshots_the_argument_alone_is_told(module_of: ReadModule) -> None:
    (found,) = explain_reshardings(module_of(AFTER), [])["e", "g"]
    assert (found.grade, found.wanted_by) == ("exact", None)
    assert explain_reshardings(module_of(BEFORE), []) == {}


@pytest.mark.parametrize(("name", "kind"), [("weird-distributed", "all-gather")])
def test_a_real_all_gather(dumps: Path, name: str, kind: str) -> None:
    reader, folder = TextReader(), dumps / name / name
    read = [reader.read(path.read_bytes(), path.name) for path in sorted(folder.glob("*.0*.txt"))]
    path = next(folder.glob("*cpu_after_optimizations.txt"))
    final = reader.read(path.read_bytes(), path.name)
    assert final is not None
    found = explain_reshardings(final, [one for one in read if one is not None])
    (wanted,) = (one.wanted_by for key, (one,) in found.items() if key[1] == kind)
    assert wanted == Sharded("transpose.0", "{mesh['d'=2], [{}, {'d'}]}")
