"""The page of a skeleton: its lines, what is said of order and times, hostile names."""

from pathlib import Path

from msgspec.structs import replace
from tests.analysis.skeleton.program import HEAD, parsed, text

from xlareport.analysis.skeleton.view import SkeletonView, view_skeleton
from xlareport.pages.rendering.templates import write_template
from xlareport.pages.skeleton.page import skeleton_page
from xlareport.records.report import ModuleRecord
from xlareport.report import BuildOptions, read_report
from xlareport.skeleton import module_skeleton


def view_of(folder: Path, content: str) -> tuple[ModuleRecord, SkeletonView]:
    view = view_skeleton(module_skeleton(parsed(folder, content)))
    return read_report(folder, BuildOptions()).modules[0], view


def test_the_page_has_a_line_for_each_row(tmp_path: Path) -> None:
    page = skeleton_page(*view_of(tmp_path, text(layers=80)))
    assert page.lead.startswith("173 items in execution order in ")
    html = write_template("skeleton", page=page, name="f", slug="f")
    assert html.count("<li ") == len(page.rows)
    assert "repeated 80 times" in html
    assert "not measured" in html
    assert "xlareport skeleton DUMP --module module_0001.jit_step" in page.command


def test_an_order_that_is_none_of_execution_is_said(tmp_path: Path) -> None:
    content = text(head=HEAD.replace("is_scheduled=true, ", ""))
    page = skeleton_page(*view_of(tmp_path, content))
    assert "in a topological order" in page.lead
    assert "not scheduled" in page.notes[0]


def test_names_of_a_dump_are_escaped(tmp_path: Path) -> None:
    record, view = view_of(tmp_path, text())
    row = replace(view.rows[0], before="<img src=x>", name="<b>", after="</ol><script>")
    page = skeleton_page(record, replace(view, rows=(row,)))
    html = write_template("skeleton", page=page, name="f", slug="f")
    assert "<img" not in html
    assert "<script" not in html
    assert "<b>" not in html
