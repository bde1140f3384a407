"""The table of all modules of a comparison."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from xlareport.analysis.compare.comparison import Quantity, compare_figure
from xlareport.analysis.compare.module_facts import ESTIMATE
from xlareport.compare import compare
from xlareport.pages.compare.compared_figures import figure_rows
from xlareport.pages.compare.first_page import (
    NOT_PAIRED,
    TABLE,
    _figures,
    compare_page,
    tabulate_compared_modules,
)
from xlareport.report import BuildOptions, build

HLO = """HloModule jit_{name}

ENTRY main {{
  a = f32[4]{{0}} parameter(0)
  ROOT b = f32[4]{{0}} {opcode}(a)
}}
"""


def write(folder: Path, **opcodes: str) -> Path:
    folder.mkdir()
    for number, (name, opcode) in enumerate(opcodes.items()):
        text = HLO.format(name=name, opcode=opcode)
        (folder / f"module_{number:04d}.jit_{name}.cpu_after_optimizations.txt").write_text(text)
    return folder


def test_what_differs_comes_first(tmp_path: Path) -> None:
    base = write(tmp_path / "a", alike="tanh", other="tanh", older="sine")
    head = write(tmp_path / "b", alike="tanh", other="negate", newer="cosine")
    view = compare(base, head, BuildOptions(jobs=1), site=False).view
    table = tabulate_compared_modules(view.modules)[TABLE]
    results = [row[1][0] for row in table.rows if isinstance(row[1], list)]
    assert results == ["differs", "new", "gone", "identical"]


def test_modules_without_a_counterpart_have_a_table_of_their_own(tmp_path: Path) -> None:
    base = write(tmp_path / "a", alike="tanh", older="sine")
    head = write(tmp_path / "b", alike="tanh")
    view = compare(base, head, BuildOptions(jobs=1), site=False).view
    assert compare_page(view).not_paired == ""
    assert [*tabulate_compared_modules(view.modules)] == [TABLE]
    modules = tuple(replace(module, extracted=True) for module in view.modules)
    folded = replace(view, modules=modules)
    tables = tabulate_compared_modules(modules)
    assert [len(table.rows) for table in (tables[TABLE], tables[NOT_PAIRED])] == [1, 1]
    page = compare_page(folded)
    assert page.not_paired.startswith("1 module extracted for autotuning is not paired: XLA")
    alone = tuple(replace(module, extracted=module.head is None) for module in view.modules)
    assert compare_page(replace(view, modules=alone)).not_paired == (
        "1 module extracted for autotuning is not paired: the head has no modules of this kind."
    )
    assert "autotuning" not in page.counts


def test_two_reports_of_a_dump_show_no_regression(tmp_path: Path) -> None:
    dump = write(tmp_path / "dump", alike="tanh")
    for name in ("first", "second"):
        build(dump, BuildOptions(out=tmp_path / name, jobs=1, html=False))
    sides = tmp_path / "first", tmp_path / "second"
    page = compare_page(compare(*sides, BuildOptions(jobs=1), site=False).view)
    assert (page.base_name, page.head_name) == ("first", "second")
    assert page.regression.startswith("No: as fast (the same optimized HLO); the same memory")
    assert page.causes == ()


@pytest.mark.parametrize(("obstacle", "look"), [("", "xr-better"), ("the TPUs differ", "")])
def test_a_time_that_cannot_be_compared_is_neither_better_nor_worse(
    obstacle: str, look: str
) -> None:
    figures = (Quantity(ESTIMATE, 100, 50, -0.5), Quantity("bytes_accessed", 100, 50, -0.5))
    main: Any = SimpleNamespace(
        by_name={figure.name: figure for figure in figures},
        collectives=(),
        precisions=(),
        device_memory="HBM",
        memory_spaces=(),
    )
    judged = SimpleNamespace(obstacle=obstacle, direction="")
    verdict = SimpleNamespace(time=judged, memory=SimpleNamespace(obstacle=""), work=None)
    view: Any = SimpleNamespace(verdict=verdict)
    assert [row.look for row in _figures(view, main)] == [look, "xr-better"]


@pytest.mark.parametrize(
    ("base", "head", "shown"),
    [
        (1_687_151_000, 1_687_151_032, ("1.6 GiB", "1.6 GiB", "+32 B")),
        (1_687_151_032, 1_687_151_000, ("1.6 GiB", "1.6 GiB", "\N{MINUS SIGN}32 B")),
        (200 << 10, (200 << 10) + 100, ("200 KiB", "200 KiB", "+100 B")),
        (200 << 10, 201 << 10, ("200 KiB", "201 KiB", "+0.5%")),
        (1 << 20, 1 << 20, ("1.0 MiB", "1.0 MiB", "the same")),
    ],
)
def test_bytes_that_no_digits_would_show_are_the_change(
    base: int, head: int, shown: tuple[str, str, str]
) -> None:
    quantity = compare_figure("occupied_peak_bytes", base, head)
    figures = {quantity.name: quantity}
    main: Any = SimpleNamespace(
        by_name=figures, collectives=(), precisions=(), device_memory="", memory_spaces=()
    )
    (row,) = figure_rows(main)
    assert (row.base, row.head, row.change) == shown


def test_folders_of_one_name_name_no_side(tmp_path: Path) -> None:
    sides = []
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        sides.append(write(tmp_path / name / "dump", alike="tanh"))
    page = compare_page(compare(*sides, BuildOptions(jobs=1), site=False).view)
    assert (page.base_name, page.head_name) == ("", "")


def test_modules_of_which_nothing_was_read_are_not_equal(tmp_path: Path) -> None:
    for name in ("base", "head"):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "module_0001.jit_f.before_optimizations.txt"
        file.write_bytes(b"\x00\x01" + name.encode())
    view = compare(tmp_path / "base", tmp_path / "head", BuildOptions(jobs=1), site=False).view
    page = compare_page(view)
    assert "No optimized HLO of 1 was read." in page.regression + page.lead + str(page)
    assert "same code" not in str(page)
