"""The mesh of a module: of its header, of its shardings, of how they reshape devices."""

from tests.modules import parse_module

from xlareport.analysis.shardings.meshes import find_mesh, read_meshes
from xlareport.hlo.model import HloModule


def read(header: str = "", sharding: str = "{replicated}") -> HloModule:
    text = f"""HloModule m{header}

ENTRY e {{
  ROOT a = f32[8] parameter(0), sharding={sharding}
}}
"""
    return parse_module(text)


HEADER = (
    ', frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=4, "y"=2]>, '
    'turned = #sdy.mesh<["z"=8], device_ids=[7,6,5,4,3,2,1,0]>}}'
)


def test_meshes_of_the_header() -> None:
    meshes = read_meshes(read(HEADER))
    assert {name: mesh.axes for name, mesh in meshes.items()} == {
        "mesh": (("x", 4), ("y", 2)),
        "turned": (("z", 8),),
    }
    assert read_meshes(read()) == {}
    assert read_meshes(read(", frontend_attributes={xla.sdy.meshes={nothing}}")) == {}


def test_what_the_framework_names_comes_first() -> None:
    found = find_mesh([read(HEADER, "{devices=[8]<=[2,2,2]T(2,1,0)}")], 8)
    assert found is not None
    assert (found.mesh.axes, found.is_named) == ((("x", 4), ("y", 2)), True)


def test_the_mesh_that_a_sharding_names() -> None:
    found = find_mesh([read("", "{mesh['a'=4,'b'=2], [{'a'}]}")], 8)
    assert found is not None
    assert (found.mesh.axes, found.is_named) == ((("a", 4), ("b", 2)), True)


def test_else_the_finest_way_of_counting_devices() -> None:
    modules = [read("", "{devices=[8]<=[8]}"), read("", "{devices=[8]<=[4,2]T(1,0)}")]
    found = find_mesh(modules, 8)
    assert found is not None
    assert (found.mesh.axes, found.is_named) == ((("axis_0", 4), ("axis_1", 2)), False)


def test_a_mesh_of_other_devices_is_not_meant() -> None:
    assert find_mesh([read(HEADER)], 4) is None
    assert find_mesh([read()], 8) is None
