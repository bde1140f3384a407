from tests.modules import parse_module

from xlareport.analysis.source.instruction_origins import find_origins
from xlareport.analysis.source.locations import SourcePlace

MODULE = """HloModule m

ENTRY e {
  w = s8[1376] parameter(0)
  pad = s8[1408] broadcast(w)
  view = s8[1408] bitcast(pad), metadata={op_name="jit(f)/dot" source_file="f.py" source_line=3}
  ROOT r = s8[1] dot(view, w), metadata={op_name="jit(f)/dot" source_file="f.py" source_line=3}
}"""


def test_an_instruction_without_op_name_has_that_of_the_op_it_serves() -> None:
    origins = find_origins(parse_module(MODULE))
    pad = origins.find("pad")
    assert (pad.op_name, pad.place) == ("jit(f)/dot", SourcePlace("f.py", 3))
    assert origins.find("w").op_name == ""
    assert origins.find("no").instruction is None


def test_an_op_of_several_lines_gives_none() -> None:
    several = MODULE.replace("source_line=3}\n}", "source_line=4}\n}")
    origin = find_origins(parse_module(several)).find("pad")
    assert (origin.op_name, origin.place) == ("jit(f)/dot", None)
