"""Ports: what one module gives fits what another takes, unless what both tell contradicts."""

from tests.analysis import texts
from tests.analysis.conftest import Compile

from xlareport.analysis.modules.ports import Port, find_common_run, find_ports, remove_shapes

SPLIT = "{devices=[4,1]<=[4]}"


def test_a_sharding_or_layout_that_differs_speaks_against_a_link() -> None:
    plain = Port("f32[8,8]", "", "")
    assert plain.fits(Port("f32[8,8]", SPLIT, "1,0"))
    assert Port("f32[8,8]", "{replicated}", "").fits(Port("f32[8,8]", SPLIT, ""))
    assert not plain.fits(Port("f32[8]", "", ""))
    assert not Port("f32[8,8]", SPLIT, "").fits(Port("f32[8,8]", "{devices=[1,4]<=[4]}", ""))
    assert not Port("f32[8,8]", "", "1,0").fits(Port("f32[8,8]", "", "0,1"))


def test_a_block_is_the_longest_run_that_fits() -> None:
    given = [Port(shape, "", "") for shape in ("a", "b", "c")]
    taken = [Port(shape, "", "") for shape in ("x", "b", "c", "y")]
    assert find_common_run(given, taken) == ("b", "c")
    assert [remove_shape.shape for remove_shape in remove_shapes(taken, ("b",))] == ["x", "c", "y"]
    split = [Port("b", SPLIT, ""), Port("c", "", "")]
    other = [Port("b", "{devices=[1,4]<=[4]}", ""), Port("c", "", "")]
    assert find_common_run(split, other) == ()


def test_numbers_are_kept_apart_from_arrays(compiled: Compile) -> None:
    found = compiled({"module_0000.jit_report.before_optimizations.txt": texts.SUMMARY})
    (ports,) = [find_ports(each) for each in found]
    assert ports.arguments == ports.results == ()
    assert ports.scalars == (("f32[]", "s32[]"), ("f32[]", "f32[]"))
