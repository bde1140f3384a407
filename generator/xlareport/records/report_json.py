"""report.json: the facts of a report for programs, without what they can make themselves.

A snapshot's files differ in their endings only, and its label is made of its names.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from xlareport.records.report import ModuleRecord, ReportRecord, SnapshotRecord


def report_json(report: ReportRecord) -> str:
    """Return the content of report.json."""
    return json.dumps(report_value(report), separators=(",", ":")) + "\n"


def report_value(report: ReportRecord) -> dict[str, Any]:
    """Return what report.json holds."""
    kinds = {file.path: file.kind for file in report.files}
    modules = [_module(module, kinds) for module in report.modules]
    others = [file.path for file in report.files if file.module is None]
    bare = asdict(replace(report, modules=(), files=()))
    return bare | {"modules": modules, "files": _files(others, kinds)}


def _module(module: ModuleRecord, kinds: Mapping[str, str]) -> dict[str, Any]:
    of_stages = {path for stage in module.stages for path in stage.files}
    others = [path for path in module.files if path not in of_stages]
    stages = [_stage(stage) for stage in module.stages]
    bare = asdict(replace(module, stages=(), files=()))
    return bare | {"stages": stages, "files": _files(others, kinds)}


def _files(paths: Sequence[str], kinds: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"path": path, "kind": kinds[path]} for path in paths]


def _stage(stage: SnapshotRecord) -> dict[str, Any]:
    value = asdict(stage) | {"files": _together(stage.files)}
    del value["label"]
    return value


def _together(paths: Sequence[str]) -> dict[str, Any]:
    """Return what the paths begin with, up to a dot, and how each of them ends."""
    common = os.path.commonprefix(list(paths))  # noqa: RUF071 - of names, not of folders
    name = common[: common.rfind(".") + 1]
    return {"name": name, "endings": [path[len(name) :] for path in paths]}
