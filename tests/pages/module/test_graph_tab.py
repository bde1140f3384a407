"""The tab of a module's graphs."""

from msgspec.structs import replace
from tests.pages.records_of_modules import module, stage

from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.pages.module.graph_tab import graph_page
from xlareport.pages.pictures.requests import PictureView

RECORD = replace(module("main", stage(5), stage(7, changed=True)), slug="jit-f")


def test_without_pictures_the_option_is_named() -> None:
    page = graph_page(RECORD, ())
    assert page.has_graph
    assert page.has_history
    assert "--pictures changed" in page.no_pictures.unescape()


def test_a_module_that_could_not_be_read_has_no_graph() -> None:
    page = graph_page(replace(RECORD, final=ModuleFigures(), stages=(stage(None),)), ())
    assert not page.has_graph
    assert "could be read" in page.no_pictures.unescape()


def test_the_first_snapshot_is_named_where_it_is_drawn() -> None:
    views = [
        PictureView(**dict.fromkeys(PictureView.__struct_fields__, ""))
        for _ in range(2)
    ]  # fmt: skip
    assert not graph_page(RECORD, views).has_first_graph
    first = replace(views[1], graph="m/jit-f/graph-first")
    assert graph_page(RECORD, [views[0], first]).has_first_graph
