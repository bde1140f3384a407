"""Of several instructions that a rule takes for alike, those of equal attributes are paired."""

from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.alike import pairs_in_order
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.search_start import start
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

_REGION = """
%REGION (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %both = f32[] OPCODE(%x, %y)
}
"""
_SUMMED = ("dimensions={0}, to_apply=%sum", "dimensions={1}, to_apply=%sum")
_COMBINED = ("dimensions={0}, to_apply=%sum", "dimensions={0}, to_apply=%most")


def _module(reduces: dict[str, str], shape: str) -> str:
    regions = [
        _REGION.replace("REGION", name).replace("OPCODE", opcode)
        for name, opcode in (("sum", "add"), ("most", "maximum"))
    ]
    lines = [
        f"  %{name} = {shape} reduce(%read, %zero), {attributes},"
        f' metadata={{op_name="jit(step)/reduce"}}\n  %sine.{name} = {shape} sine(%{name})\n'
        for name, attributes in reduces.items()
    ]
    whole = shape.replace("[4]", "[4,4]")
    results = ", ".join(f"%sine.{name}" for name in reduces)
    return f"""HloModule m
{"".join(regions)}
ENTRY %main (a: f32[4,4]) -> ({", ".join([shape] * len(reduces))}) {{
  %a = f32[4,4] parameter(0)
  %zero = f32[] constant(0)
  %read = {whole} convert(%a)
{"".join(lines)}  ROOT %out = ({", ".join([shape] * len(reduces))}) tuple({results})
}}
"""


@pytest.mark.parametrize("attributes", [_SUMMED, _COMBINED], ids=["dimensions", "to_apply"])
def test_attributes_tell_alike_reduces_apart(read: Read, attributes: tuple[str, str]) -> None:
    first, second = attributes
    before = read(_module({"r.1": first, "r.2": second}, "f32[4]"))
    after = read(_module({"s.4": second, "s.5": first}, "bf16[4]"))
    matching = match(before, after)
    assert matching.partner_after(Place("main", "r.1")) == Place("main", "s.5")
    assert matching.partner_after(Place("main", "r.2")) == Place("main", "s.4")


def test_of_equal_attributes_those_of_one_shape_come_first(read: Read) -> None:
    """Two pairs of reduces are alike but for their shapes."""
    before = _module({"r.1": _SUMMED[0], "r.2": _SUMMED[0]}, "f32[4]")
    after = _module({"s.4": _SUMMED[0], "s.5": _SUMMED[0]}, "bf16[4]")
    after = after.replace("%s.5 = bf16[4]", "%s.5 = f32[4]")
    matching = match(read(before), read(after))
    assert matching.partner_after(Place("main", "r.1")) == Place("main", "s.5")


def test_a_number_behind_the_old_name_tells_which_it_was(read: Read) -> None:
    before = _module({"r.1": _SUMMED[0], "r.2": _SUMMED[0], "r": _SUMMED[0]}, "f32[4]")
    after = _module({"r.2.1": _SUMMED[0], "r.1.1": _SUMMED[0], "r.3": _SUMMED[0]}, "f32[4]")
    search = start(read(before), read(after))
    ours, theirs = (
        [node for node in side.open() if node.instruction.opcode == "reduce"]
        for side in (search.before, search.after)
    )
    pairs = [
        (node.instruction.name, other.instruction.name)
        for node, other in pairs_in_order(search, ours, theirs)
    ]
    assert pairs == [("r.2", "r.2.1"), ("r.1", "r.1.1"), ("r", "r.3")]


def test_the_place_in_the_program_and_the_sizes_tell_more_than_the_type_and_the_order(
    read: Read,
) -> None:
    """XLA computes bf16 as f32, and drops dimensions of one element."""
    before = """HloModule m

FileNames
1 "model.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=0 end_column=1}
2 {file_name_id=1 function_name_id=1 line=4 end_line=4 column=0 end_column=1}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

ENTRY %main (a: bf16[4,8], b: bf16[4,1]) -> (bf16[4,8], bf16[4,8], bf16[4,1]) {
  %a = bf16[4,8] parameter(0)
  %b = bf16[4,1] parameter(1)
  %m.1 = bf16[4,8] multiply(%a, %a), metadata={op_name="mul" stack_frame_id=1}
  %m.2 = bf16[4,8] multiply(%a, %m.1), metadata={op_name="mul" stack_frame_id=2}
  %m.3 = bf16[4,1] multiply(%b, %b), metadata={op_name="mul" stack_frame_id=1}
  ROOT %out = (bf16[4,8], bf16[4,8], bf16[4,1]) tuple(%m.1, %m.2, %m.3)
}
"""
    head, _, entry = before.partition("ENTRY")
    after = entry.replace("bf16[", "f32[").replace("[4,1]", "[4]").replace("%m.", "%n.")
    search = start(read(before), read(f"{head}ENTRY{after}"))
    ours, theirs = (
        [node for node in side.open() if node.instruction.opcode == "multiply"]
        for side in (search.before, search.after)
    )
    theirs.reverse()
    pairs = {
        node.instruction.name[1:]: other.instruction.name[1:]
        for node, other in pairs_in_order(search, ours, theirs)
    }
    assert pairs == {".1": ".1", ".2": ".2", ".3": ".3"}


_CALLS = """
%narrow (x: f32[8,NARROW]) -> (f32[NARROW], f32[]) {
  %x = f32[8,NARROW]{1,0} parameter(0)
  ROOT %n = (f32[NARROW]{0}, f32[]) custom-call(%x), custom_call_target="n"
}

%wide (y: f32[8,WIDE]) -> (f32[WIDE], f32[]) {
  %y = f32[8,WIDE]{1,0} parameter(0)
  ROOT %w = (f32[WIDE]{0}, f32[]) custom-call(%y), custom_call_target="w"
}

ENTRY %main (a: f32[8,WIDE], b: f32[8,NARROW]) -> (f32[NARROW], f32[WIDE]) {
  %a = f32[8,WIDE]{1,0} parameter(0)
  %b = f32[8,NARROW]{1,0} parameter(1)
  %call.1 = (f32[NARROW]{0}, f32[]) call(%b), to_apply=%narrow
  %call.2 = (f32[WIDE]{0}, f32[]) call(%a), to_apply=%wide
  %one.1 = f32[NARROW]{0} get-tuple-element(%call.1), index=0
  %one.2 = f32[WIDE]{0} get-tuple-element(%call.2), index=0
  ROOT %out = (f32[NARROW]{0}, f32[WIDE]{0}) tuple(%one.1, %one.2)
}
"""


def test_elements_are_those_of_the_calls_that_are_paired(read: Read) -> None:
    """The partitioner divides results, so that half of one has the shape that another one had."""
    before = _CALLS.replace("WIDE", "64").replace("NARROW", "32")
    after = _CALLS.replace("WIDE", "32").replace("NARROW", "16")
    for old, new in (("call", "called"), ("one", "element")):
        after = after.replace(f"%{old}.", f"%{new}.1")
    search = start(read(before), read(after))
    ours, theirs = search.before.homes["main"], search.after.homes["main"]
    old = {name: ours.node(line) for name, line in ours.computation.by_name.items()}
    new = {name: theirs.node(line) for name, line in theirs.computation.by_name.items()}
    for number in (1, 2):
        search.link(old[f"call.{number}"], new[f"called.1{number}"], Grade.MATCHED, "known")
    elements = [old["one.1"], old["one.2"]], [new["element.12"], new["element.11"]]
    pairs = {node.instruction.name: other for node, other in pairs_in_order(search, *elements)}
    assert pairs == {"one.1": new["element.11"], "one.2": new["element.12"]}


_OF_TWO_RANKS = """
HloModule m
ENTRY %main (a: f32[16,512,1024], b: f32[16,512,1]) -> (f32[16,512,1024], f32[16,512,1]) {
  %a = f32[16,512,1024]{2,1,0} parameter(0)
  %b = f32[16,512,1]{2,1,0} parameter(1)
  %mul.1 = f32[16,512,1024]{2,1,0} multiply(%a, %a), metadata={op_name="mul"}
  %mul.2 = f32[16,512,1]{2,1,0} multiply(%b, %b), metadata={op_name="mul"}
  ROOT %out = (f32[16,512,1024]{2,1,0}, f32[16,512,1]{2,1,0}) tuple(%mul.1, %mul.2)
}
"""
_DIVIDED = """
HloModule m
ENTRY %main_spmd (x: f32[2,512], y: f32[2,512,1024]) -> (f32[2,512], f32[2,512,1024]) {
  %x = f32[2,512]{1,0} parameter(0)
  %y = f32[2,512,1024]{2,1,0} parameter(1)
  %mul.8 = f32[2,512]{1,0} multiply(%x, %x), metadata={op_name="mul"}
  %mul.9 = f32[2,512,1024]{2,1,0} multiply(%y, %y), metadata={op_name="mul"}
  ROOT %out = (f32[2,512]{1,0}, f32[2,512,1024]{2,1,0}) tuple(%mul.8, %mul.9)
}
"""


def test_arrays_of_as_many_dimensions_go_before_the_order(read: Read) -> None:
    search = start(read(_OF_TWO_RANKS), read(_DIVIDED))
    ours, theirs = (
        [node for node in side.nodes if node.instruction.opcode == "multiply"]
        for side in (search.before, search.after)
    )
    pairs = {
        node.instruction.name: other.instruction.name
        for node, other in pairs_in_order(search, ours, theirs)
    }
    assert pairs == {"mul.1": "mul.9", "mul.2": "mul.8"}
