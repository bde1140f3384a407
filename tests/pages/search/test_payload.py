"""The index of the search over everything."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xlareport.analysis.module import AnalysisOptions
from xlareport.analysis.steps.step import step
from xlareport.module_work.process import ModuleTask, process_module
from xlareport.pages.search.payload import SearchedSnapshot, search_index, searched, touched
from xlareport.program import ParsedModule
from xlareport.report import BuildOptions, build, read_one_module
from xlareport.storage.payloads import read_payload

Unpack = Callable[[str], Path]

FIRST = """HloModule m

ENTRY main {
  x.1 = f32[8]{0} parameter(0)
  a.7 = f32[8]{0} add(x.1, x.1), metadata={op_name="jit(f)/mlp/add" source_file="f" source_line=3}
  ROOT r.10 = f32[8]{0} negate(a.7)
}
"""
SECOND = """HloModule m

ENTRY main {
  x.1 = f32[8]{0} parameter(0)
  ROOT m.01 = f32[8]{0} multiply(x.1, x.1)
}
"""


@pytest.fixture
def module(tmp_path: Path) -> ParsedModule:
    (tmp_path / "module_0000.m.0000.p.after_a.before_b.txt").write_text(FIRST)
    (tmp_path / "module_0000.m.after_optimizations.txt").write_text(SECOND)
    return read_one_module(tmp_path, "module_0000.m", BuildOptions())


def unpacked_names(packed: dict[str, Any]) -> list[str]:
    names: list[str] = []
    for stem, count in zip(packed["stems"], packed["counts"], strict=True):
        number = -2
        for _ in range(count):
            number += packed["numbers"][len(names)]
            names.append(stem if number < 0 else f"{stem}.{number}")
    return names


def payload_of(module: ParsedModule) -> dict[str, Any]:
    modules = [snapshot.hlo for snapshot in module.snapshots]
    stages = [
        SearchedSnapshot(
            snapshot.stage.key,
            snapshot.stage.label,
            snapshot.stage.number_and_pipeline,
            has_text=True,
        )
        for snapshot in module.snapshots
    ]
    told = [(1, touched(step(*modules)))]
    ((_, script),) = searched("x", modules, stages, told).payloads
    value: dict[str, Any] = read_payload(script)[1]
    return value


def test_everything_knows_its_first_and_last_snapshot(module: ParsedModule) -> None:
    found = search_index([snapshot.hlo for snapshot in module.snapshots])

    assert found.instructions == {"x.1": (0, 1), "a.7": (0, 0), "r.10": (0, 0), "m.01": (1, 1)}
    assert found.opcodes["parameter"] == (0, 1)
    assert found.op_names == {"jit(f)/mlp/add": (0, 0)}
    assert found.sources == {"f:3": (0, 0)}
    assert found.computations == {"main": (0, 1)}
    assert found.scopes() == ("jit(f)/mlp",)


def test_op_names_are_in_the_order_of_the_module_in_every_build(tmp_path: Path) -> None:
    names = [f"jit(f)/{word}" for word in ("tanh", "add", "dot", "sin", "exp", "log", "neg")]
    lines = "\n".join(
        f'  a.{number} = f32[8]{{0}} add(p, p), metadata={{op_name="{name}"}}'
        for number, name in enumerate([*names, *names])
    )
    text = f"HloModule m\n\nENTRY main {{\n  p = f32[8]{{0}} parameter(0)\n{lines}\n}}\n"
    (tmp_path / "module_0000.m.after_optimizations.txt").write_text(text)
    module = read_one_module(tmp_path, "module_0000.m", BuildOptions())

    assert list(search_index([module.snapshots[0].hlo]).op_names) == names


STACKS = """HloModule m

FileNames
1 "/home/me/train.py"
2 "/usr/lib/python3/site-packages/jax/numpy.py"

FunctionNames
1 "main"
2 "train.<locals>.loss"
3 "rms"
4 "_mean"

FileLocations
1 {file_name_id=1 function_name_id=1 line=30 end_line=30 column=0 end_column=9}
2 {file_name_id=1 function_name_id=2 line=20 end_line=20 column=0 end_column=9}
3 {file_name_id=1 function_name_id=3 line=10 end_line=10 column=0 end_column=9}
4 {file_name_id=2 function_name_id=4 line=99 end_line=99 column=0 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}
4 {file_location_id=4 parent_frame_id=4}

ENTRY main {
  x = f32[8]{0} parameter(0)
  a = f32[8]{0} add(x, x), metadata={op_name="jit(f)/add" stack_frame_id=4}
  ROOT n = f32[8]{0} negate(a), metadata={op_name="jit(f)/neg" stack_frame_id=2}
}
"""


def test_functions_of_the_program_have_the_lines_in_them_and_called_from_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "module_0000.m.after_optimizations.txt").write_text(STACKS)
    module = read_one_module(tmp_path, "module_0000.m", BuildOptions())
    result = process_module(ModuleTask(module.files, AnalysisOptions()), "none").output
    values = dict(read_payload(script) for _, script in result.payloads)
    index = values[f"m/{module.files.slug}/search"]

    functions = index["kinds"]["function"]
    assert functions["values"] == ["main", "rms", "train.<locals>.loss"]
    assert functions["lines"] == [2, 1, 2]


def test_what_is_too_long_is_left_out(tmp_path: Path) -> None:
    text = FIRST.replace("jit(f)", "x" * 2_000)
    (tmp_path / "module_0000.m.after_optimizations.txt").write_text(text)
    module = read_one_module(tmp_path, "module_0000.m", BuildOptions())
    assert search_index([snapshot.hlo for snapshot in module.snapshots]).op_names == {}


def test_steps_say_what_they_added_removed_and_changed(module: ParsedModule) -> None:
    found = touched(step(*(snapshot.hlo for snapshot in module.snapshots)))

    total = [sum(figures) for figures in zip(*found.opcodes.values(), strict=True)]
    assert total[0] > 0
    assert found.opcodes["multiply"][0] == 1
    assert found.opcodes["negate"][1] + found.opcodes["add"][1] == 2
    assert "parameter" not in found.opcodes


def test_names_read_back_as_they_were(module: ParsedModule) -> None:
    value = payload_of(module)
    packed = value["kinds"]["instruction"]

    assert sorted(unpacked_names(packed)) == ["a.7", "m.01", "r.10", "x.1"]
    codes = [value["codes"][code] for code in packed["codes"]]
    told = dict(zip(unpacked_names(packed), codes, strict=True))
    assert told["m.01"] == "multiply"
    assert value["spans"][packed["spans"][0]] == [0, 0]
    assert value["complete"]


def test_steps_name_instructions_by_distances(module: ParsedModule) -> None:
    value = payload_of(module)
    names = unpacked_names(value["kinds"]["instruction"])
    ((place, _, *lists),) = value["steps"]
    touched_names = set()
    for distances in lists:
        at = 0
        for distance in distances:
            at += distance
            touched_names.add(names[at])

    assert place == 1
    assert {"a.7", "r.10", "m.01"} >= touched_names > set()


def test_each_module_of_a_report_has_one(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_rollout", BuildOptions())
    result = process_module(ModuleTask(module.files, AnalysisOptions()), "none").output
    values = dict(read_payload(script) for _, script in result.payloads)
    index = values[f"m/{module.files.slug}/search"]

    everything = {
        instruction.name
        for shot in module.snapshots
        for c in shot.hlo.computations
        for instruction in c.instructions
    }
    assert set(unpacked_names(index["kinds"]["instruction"])) == everything
    assert len(index["stages"]) == len(module.snapshots)
    assert result.scopes


def test_modules_beyond_a_payload_are_in_others(
    unpacked: Unpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = front_of(unpacked, tmp_path / "whole")
    monkeypatch.setattr("xlareport.pages.search.payload.PAGE", 2)
    monkeypatch.setattr("xlareport.pages.search.payload._HOLDERS", 1)
    front = front_of(unpacked, tmp_path / "pages")
    rows = len(whole["modules"])
    assert front["pages"] == {"rows": rows, "size": 2}
    sites = sorted((tmp_path / "pages/site_src/assets/data").glob("search-*.js"))
    others = [read_payload(path.read_text("ascii"))[1] for path in sites]
    assert len(others) == (rows - 1) // 2 > 0
    for name in ("modules", "findings"):
        assert [*front[name], *(one for part in others for one in part[name])] == whole[name]
    assert front["opcodes"] == {name: held[:1] for name, held in whole["opcodes"].items()}
    more = {name: len(held) - 1 for name, held in whole["opcodes"].items() if len(held) > 1}
    assert front["more_opcodes"] == more


def front_of(unpacked: Unpack, out: Path) -> dict[str, Any]:
    build(unpacked("jax-cpu-two-runs"), BuildOptions(out, html=False, pictures="none"))
    script = out / "site_src/assets/data/search.js"
    value: dict[str, Any] = read_payload(script.read_text("ascii"))[1]
    return value
