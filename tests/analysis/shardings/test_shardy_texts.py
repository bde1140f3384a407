"""Shardy's texts in words, by the meshes that they name."""

from tests.readers.test_shardy import PATH, TEXT

from xlareport.analysis.shardings.meshes import find_mesh
from xlareport.analysis.shardings.shardy_texts import list_shardy_steps, shardy_meshes
from xlareport.readers.shardy import ShardyText, read_shardy


def read(text: str = TEXT) -> ShardyText:
    return read_shardy(text.encode(), PATH)[0]


def test_each_value_in_words() -> None:
    (step,) = list_shardy_steps([read()])
    assert [(mesh.name, mesh.axes) for mesh in step.meshes] == [("mesh", "data=2, model=4")]
    assert step.manual_axes == ("data",)
    assert step.count == len(step.placements) == 9
    words = {
        (placement.value, placement.operation): placement.words for placement in step.placements
    }
    assert words["%arg2", "argument"].startswith("dimension 1 in 4 parts along model")
    assert words["%1", "stablehlo.dot"].startswith("dimension 0 in 2 parts along data")
    assert words["%4", "sdy.reshard"] == (
        "dimension 0 in 2 parts along data, dimension 1 in 4 parts along model"
    )
    assert words["%3", "stablehlo.reduce_window"].count(";") == 1


def test_what_names_no_mesh_of_the_text_is_not_read() -> None:
    (step,) = list_shardy_steps([read(TEXT.replace("sdy.mesh @mesh", "sdy.mesh @other"))])
    assert {placement.words for placement in step.placements} <= {
        "not read",
        "replicated: whole on each device; not read",
    }


def test_the_mesh_of_a_module_whose_shardings_name_none() -> None:
    mesh = find_mesh([], 8, [read()])
    assert mesh is not None
    assert (mesh.mesh.axes, mesh.is_named) == ((("data", 2), ("model", 4)), True)
    assert find_mesh([], 4, [read()]) is None
    assert len(list(shardy_meshes([read(), read("module {}")]))) == 1


def test_a_text_without_shardings_is_left_out() -> None:
    assert list_shardy_steps([read("module {}")]) == ()
