"""Findings, on the pages of real dumps."""

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.parts import part

from xlareport.analysis.findings.finding import Finding
from xlareport.pages.findings.section import _gain, _gain_words, _order
from xlareport.records.cost import LoopRecord
from xlareport.report import BuildOptions, build
from xlareport.storage.payloads import read_stored_value

Unpack = Callable[[str], Path]


@pytest.fixture(scope="module")
def retraced(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("retraced")
    build(unpacked("labelled-retraced"), BuildOptions(out=out, html=False))
    return out


@pytest.fixture(scope="module")
def gpu(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("gpu")
    build(unpacked("gpu-h100x2-train"), BuildOptions(out=out, html=False))
    return out


def report(out: Path) -> Any:
    return json.loads(next(out.rglob("report.json")).read_text())


def test_a_function_compiled_again_stands_on_the_home_page_and_on_its_own(retraced: Path) -> None:
    modules = [module for module in report(retraced)["modules"] if module["findings"]]
    rules = {(module["name"], rule["rule"]) for module in modules for rule in module["findings"]}
    assert ("jit_roll", "recompilations") in rules
    home = unescape((retraced / "site_src/index.md").read_text())
    assert home.count("guide/findings.html#recompilations") == 1
    slug = next(module["slug"] for module in modules if module["name"] == "jit_roll")
    assert "## Findings" in (retraced / f"site_src/m/{slug}.md").read_text()
    assert "#recompilations" in unescape(part(retraced / "site_src", f"m/{slug}.html?cost"))


def test_the_texts_on_the_home_page_have_the_page_with_the_traces(gpu: Path) -> None:
    home = unescape((gpu / "site_src/index.md").read_text())
    assert re.search(r'data-xr-traces="m/[^"]*jit_train_step\.html"', home)


def test_pieces_for_tuning_say_nothing(gpu: Path) -> None:
    modules = report(gpu)["modules"]
    pieces = [module for module in modules if module["role"] == "module extracted for autotuning"]
    assert pieces
    assert not any(piece["findings"] for piece in pieces)


def test_the_page_of_code_has_its_data(gpu: Path) -> None:
    (main,) = (module for module in report(gpu)["modules"] if module["name"] == "jit_train_step")
    page = part(gpu / "site_src", f"m/{main['slug']}.html?code")
    (key,) = re.findall('data-xr-code="([^"]+)"', page)
    index = read_stored_value(gpu / "site_src", key)
    units = {unit["name"]: unit for unit in index["units"]}
    assert {one["path"] for one in main["code"]} == {
        file["path"] for unit in index["units"] for file in unit["files"] if file["path"]
    }
    kernel = units["loop_subtract_fusion"]
    labels = [one["label"] for one in kernel["files"]]
    assert labels == [
        "HLO",
        "LLVM IR (no-opt)",
        "LLVM IR, after optimization",
        "PTX",
    ]
    assert [one["text"] for one in kernel["files"][1:]] == [True] * 3
    texts = read_stored_value(gpu / "site_src", index["texts"])
    assert {one["path"] for one in kernel["files"][1:]} <= {text[0] for text in texts["texts"]}
    assert index["thunks"][kernel["thunks"][0]][7] == index["units"].index(kernel)


def test_an_empty_ptx_says_so_and_belongs_to_the_module(gpu: Path) -> None:
    (main,) = (module for module in report(gpu)["modules"] if module["name"] == "jit_train_step")
    (empty,) = (one for one in main["code"] if one["path"].endswith(".14.ptx"))
    assert (empty["instruction"], empty["grade"]) == (None, "matched")


def test_a_small_program_says_why_it_has_no_finding(tmp_path: Path) -> None:
    folder, text = tmp_path / "dump", "module_0000.jit_f.cpu_after_optimizations.txt"
    folder.mkdir()
    (folder / text).write_text(
        "HloModule jit_f, is_scheduled=true\n\nENTRY e {\n  a = f32[64,8]{1,0} parameter(0)\n"
        "  c = f32[64,8]{0,1} copy(a)\n  ROOT b = f32[64,8]{0,1} negate(c)\n}\n"
    )
    out = tmp_path / "out"
    build(folder, BuildOptions(out=out, jobs=1, html=False))
    home = unescape((out / "site_src/index.md").read_text())
    cost = unescape(part(out / "site_src", "m/module_0000.jit_f.html?cost"))
    for page in (home, cost):
        assert "No finding. Savings are reported from 2 µs or 1 MiB. One execution takes" in page
        assert "Largest savings below that:" in page
        assert page.count('class="xr-finding xr-low"') == 1
    (module,) = report(out)["modules"]
    assert (module["findings"], len(module["candidates"])) == ([], 1)


@pytest.mark.parametrize(
    ("figure", "gain"),
    [
        ("latency_seconds", "up to 136 µs of latency (a guess), not in roofline time"),
        ("padding_seconds", "136 µs of padding at peak rate"),
        ("cycle_seconds", "up to 136 µs by estimated cycles, not in roofline time"),
    ],
)
def test_times_beside_the_roofline_are_no_share_of_it(figure: str, gain: str) -> None:
    none = dict.fromkeys(
        ("seconds", "latency_seconds", "cycle_seconds", "padding_seconds", "bytes")
    )
    finding: Any = SimpleNamespace(**{**none, figure: 136e-6}, in_loops=(), is_partial=False)
    assert _gain(finding, None) == gain


def test_a_time_that_leaves_out_parts_is_no_upper_bound() -> None:
    finding = Finding("Title", (), "", "", "matched", 2e-4, seconds=2e-4)
    record: Any = SimpleNamespace(
        whole_seconds=2e-3, by_cycles=False, device_grade="exact", loops=()
    )
    assert _gain(finding, record) == "up to 200 µs (10%)"
    partial = replace(finding, is_partial=True)
    assert _gain(partial, record) == "about 200 µs (10%)"
    assert _gain_words(partial, record).endswith("no upper bound")


@pytest.mark.parametrize(
    ("inside", "most", "gain"),
    [
        (2e-4, 64, "200 µs (10%) for one iteration of %loop; at 64, the most, 12.8 ms (20%)"),
        (1e-4, None, "200 µs (10%) with one iteration of %loop"),
    ],
)
def test_the_time_of_one_iteration_is_no_upper_bound(
    inside: float, most: int | None, gain: str
) -> None:
    finding = Finding(
        *("Title", (("body", "copy"),), "", "", "matched", 2e-4),
        seconds=2e-4,
        in_loops=("loop",),
        seconds_in_loops=inside,
    )
    loop = LoopRecord("e", "loop", None, "guessed", "", at_most=most, seconds=1e-3)
    record: Any = SimpleNamespace(
        whole_seconds=2e-3, by_cycles=True, device_grade="exact", loops=(loop,)
    )
    assert _gain(finding, record) == gain


@pytest.mark.parametrize(
    ("most", "gain"),
    [
        (24, "for one iteration of %loop; at 24, the most, 2.4 ms"),
        (None, "for one iteration of %loop"),
    ],
)
def test_latency_in_a_loop_of_unknown_trip_count_is_that_of_one_iteration(
    most: int | None, gain: str
) -> None:
    finding = Finding(
        *("Title", (("body", "all-reduce"),), "", "", "guessed", 1e-4),
        latency_seconds=1e-4,
        in_loops=("loop",),
        seconds_in_loops=1e-4,
    )
    loop = LoopRecord("e", "loop", None, "guessed", "", at_most=most, seconds=1e-3)
    record: Any = SimpleNamespace(whole_seconds=2e-3, device_grade="exact", loops=(loop,))
    assert _gain(finding, record) == f"100 µs of latency (a guess), not in roofline time, {gain}"


def test_the_order_says_which_time_does_not_count() -> None:
    beside = Finding("Title", (), "", "", "matched", 0.0, beside_loops=("loop",))
    assert (
        _order([]) == "Ranked by severity, then by the estimated upper bound of what each can save."
    )
    assert _order([beside, beside]).endswith(
        " Time outside of %loop does not count: the trip count is unknown."
    )
