"""report.json names each file once."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.report_files import paths_of

from xlareport.records.report_json import report_json
from xlareport.report import BuildOptions, read_report

HLO = "HloModule m\n\nENTRY main {\n  ROOT p = f32[8]{0} parameter(0)\n}\n"


def test_a_snapshot_in_one_format_has_one_ending(tmp_path: Path) -> None:
    name = "module_0000.m.before_optimizations."
    (tmp_path / f"{name}txt").write_text(HLO)
    report = json.loads(report_json(read_report(tmp_path, BuildOptions())))

    (stage,) = report["modules"][0]["stages"]
    assert stage["files"] == {"name": name, "endings": ["txt"]}
    assert report["modules"][0]["files"] == report["files"] == []


def test_every_file_of_a_dump_is_there_once(unpacked: Callable[[str], Path]) -> None:
    dump = unpacked("jax-cpu-train-allformats")
    report = json.loads(report_json(read_report(dump, BuildOptions())))
    there = [path.relative_to(dump).as_posix() for path in dump.rglob("*") if path.is_file()]

    assert sorted(paths_of(report)) == sorted(there)
    assert "dot" in report["modules"][0]["stages"][0]["files"]["endings"]
    assert "\n" not in report_json(read_report(dump, BuildOptions())).rstrip("\n")
