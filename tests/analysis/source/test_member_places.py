"""The line of each member of a combined collective, by the ways of each backend."""

from tests.modules import parse_module

from xlareport.analysis.source.instruction_origins import find_origins
from xlareport.analysis.source.member_places import MemberPlaces
from xlareport.analysis.source.served_ops import serve_ops

GPU = """HloModule m, is_scheduled=true

ENTRY %main (a: bf16[4], b: bf16[8], c: bf16[4]) -> (bf16[16], bf16[32], bf16[16]) {
  %a = bf16[4]{0} parameter(0)
  %b = bf16[8]{0} parameter(1)
  %c = bf16[4]{0} parameter(2)
  %start = ((bf16[4]{0}, bf16[8]{0}, bf16[4]{0}), (bf16[16]{0}, bf16[32]{0}, bf16[16]{0})) \
all-gather-start(%a, %b, %c), dimensions={0}, \
metadata={op_name="jit(f)/(dot:dot:conv)" source_file="f.py" source_line=3}
  %done = (bf16[16]{0}, bf16[32]{0}, bf16[16]{0}) all-gather-done(%start)
  %first = bf16[16]{0} get-tuple-element(%done), index=0, \
metadata={op_name="jit(f)/dot" source_file="f.py" source_line=3}
  %second = bf16[32]{0} get-tuple-element(%done), index=1, \
metadata={op_name="jit(f)/dot" source_file="f.py" source_line=4}
  %third = bf16[16]{0} get-tuple-element(%done), index=2
  %user = bf16[16]{0} negate(%third), \
metadata={op_name="jit(f)/conv" source_file="f.py" source_line=9}
  ROOT %out = (bf16[16]{0}, bf16[32]{0}, bf16[16]{0}) tuple(%first, %second, %user)
}
"""


def lines_of(text: str, name: str) -> tuple[int | None, ...]:
    module = parse_module(text)
    home = module.by_name["main"]
    places = MemberPlaces(module).of(home, home.by_name[name])
    return tuple(place.line if place else None for place in places)


def test_elements_behind_a_done_have_the_lines_of_members() -> None:
    assert lines_of(GPU, "start") == (3, 4, 9)


def test_an_op_of_several_lines_leaves_a_member_without_one() -> None:
    several = GPU.replace(
        "ROOT %out",
        "%more = bf16[16]{0} negate(%third), "
        'metadata={op_name="jit(f)/conv" source_file="f.py" source_line=10}\n  ROOT %out',
    )
    assert lines_of(several, "start") == (3, 4, None)


def test_lines_have_the_shares_of_their_members() -> None:
    module = parse_module(GPU)
    home, places = module.by_name["main"], MemberPlaces(module)
    ops = serve_ops(module)["main", "start"]
    assert places.shares(home, home.by_name["start"], ops) == (
        ("f.py:3", 0.25),
        ("f.py:4", 0.5),
        ("f.py:9", 0.25),
    )


def test_a_collective_that_the_program_wrote_has_its_own_line() -> None:
    text = GPU.replace("(dot:dot:conv)", "psum").replace("jit(f)/dot", "jit(f)/psum")
    text = text.replace("source_line=4", "source_line=3")
    module = parse_module(text)
    home, ops = module.by_name["main"], serve_ops(module)["main", "start"]
    assert MemberPlaces(module).shares(home, home.by_name["start"], ops) == (("f.py:3", 1.0),)


def test_a_buffer_of_a_start_has_the_line_of_its_member() -> None:
    origins = find_origins(parse_module(GPU))
    place = origins.find_value("start", (1, 1)).place
    assert place is not None
    assert place.line == 4
