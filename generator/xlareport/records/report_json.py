"""The content of report.json, written part by part: few modules are in memory at a time."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from xlareport.analysis.ranks.rank_groups import RankGroup
from xlareport.records.file_list import FileList, FileRecord
from xlareport.records.module_outline import SnapshotRecord
from xlareport.records.report import ModuleRecord, ReportRecord
from xlareport.storage.payloads import write_json


def report_json(report: ReportRecord) -> str:
    """Return the content of report.json."""
    return "".join(report_parts(report))


def report_parts(report: ReportRecord) -> Iterator[str]:
    """Yield the content of report.json, a module at a time."""
    kinds_of = _kinds_by_module(report.files)
    modules = (_module(module, kinds_of(place)) for place, module in enumerate(report.modules))
    others = {file.path: file.kind for file in report.files if file.module is None}
    values: dict[str, Iterable[Any]] = {
        "modules": modules,
        "files": _files([*others], others),
        "rank_groups": map(_rank_group, report.rank_groups),
    }
    for number, name in enumerate(report.__struct_fields__):
        yield f'{"," if number else "{"}"{name}":'
        value = getattr(report, name)
        if name in values:
            yield from _json_list(values[name])
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from _json_list(map(_to_json_value, value))
        else:
            yield write_json(_to_json_value(value))
    yield "}\n"


def _to_json_value(value: Any) -> Any:
    """Return a record as JSON has it."""
    return to_builtins(value) if isinstance(value, Struct) else value


def _json_list(values: Iterable[Any]) -> Iterator[str]:
    yield "["
    for place, value in enumerate(values):
        yield f"{',' if place else ''}{write_json(value)}"
    yield "]"


def _kinds_by_module(files: Sequence[FileRecord]) -> Callable[[int], Mapping[str, str]]:
    """Return a function from a module's index to the kinds of at least its files."""
    if isinstance(files, FileList):
        return files.kinds_of
    kinds = {file.path: file.kind for file in files}
    return lambda _: kinds


def _module(module: ModuleRecord, kinds: Mapping[str, str]) -> dict[str, Any]:
    of_stages = {path for stage in module.stages for path in stage.files}
    others = [path for path in module.files if path not in of_stages]
    stages = [_stage(stage) for stage in module.stages]
    bare: dict[str, Any] = to_builtins(replace(module, stages=(), files=(), collectives=()))
    collectives = [_with_from(to_builtins(collective)) for collective in module.collectives]
    files = _files(others, kinds)
    return bare | {
        "ranks": str(module.ranks),
        "stages": stages,
        "files": files,
        "collectives": collectives,
    }


def _rank_group(group: RankGroup) -> dict[str, Any]:
    """Return a group with the numbers of its ranks as text."""
    value: dict[str, Any] = to_builtins(group)
    return value | {"ranks": list(map(str, group.ranks)), "missing": str(group.missing)}


def _with_from(value: Any) -> Any:
    """Return a value with keys such as `from_` renamed to `from`, a keyword in Python."""
    if isinstance(value, dict):
        return {name.removesuffix("_"): _with_from(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_with_from(inner) for inner in value]
    return value


def _files(paths: Sequence[str], kinds: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"path": path, "kind": kinds[path]} for path in paths]


def _stage(stage: SnapshotRecord) -> dict[str, Any]:
    value: dict[str, Any] = to_builtins(stage) | {"files": _together(stage.files)}
    del value["label"]
    return value


def _together(paths: Sequence[str]) -> dict[str, Any]:
    """Return the common beginning of the paths, up to a dot, and the ending of each."""
    common = os.path.commonprefix(list(paths))  # noqa: RUF071 - of names, not of folders
    name = common[: common.rfind(".") + 1]
    return {"name": name, "endings": [path[len(name) :] for path in paths]}
