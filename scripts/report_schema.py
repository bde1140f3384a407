"""Writes report.schema.json and compare.schema.json: scripts/report_schema.py [--check].

Keys, types and descriptions are those of the structs of report.json and compare.json: their
fields, annotations and docstrings.
With --check nothing is written, and the exit code is 1 where the schema is not current.
"""

import ast
import inspect
import json
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from xlareport.analysis.modules.summary import ModuleFigures
from xlareport.analysis.ranks.numbers import RankNumbers
from xlareport.records.compare import ComparisonRecord
from xlareport.records.report import ReportRecord
from xlareport.runtime.resources import PACKAGE

FOLDER = PACKAGE / "records"
GRADES = {"enum": ["exact", "matched", "guessed"]}
COUNT = {"minimum": 0}
FILES = {"type": "array", "items": {"$ref": "#/$defs/FileRecord"}}
SNAPSHOT_FILES = {
    "type": "object",
    "required": ["name", "endings"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "endings": {"type": "array", "items": {"type": "string"}},
    },
}

DETAILS: dict[str, dict[str, Any]] = {
    "ReportRecord.schema": {"const": 3},
    "ComparisonRecord.schema": {"const": 2},
    "ReportRecord.files": FILES | {"description": "Those that belong to no module."},
    "ReportRecord.processes": COUNT,
    "DumpRecord.files": COUNT,
    "DumpRecord.bytes": COUNT,
    "MainProgramRecord.confidence": {"minimum": 0, "maximum": 1},
    "MainProgramRecord.sureness": {"enum": ["clear", "likely", "tie", "only", "marker"]},
    "ModuleRecord.slug": {"maxLength": 100, "pattern": "^[a-z0-9._-]+$"},
    "ModuleRecord.rank": {"minimum": 1},
    "ModuleRecord.files": FILES | {"description": "Those that are of no snapshot."},
    "ModuleRecord.retrace_group": COUNT,
    "ModuleRecord.runs": COUNT,
    "ModuleRecord.run_microseconds": COUNT,
    "ModuleRecord.process": {"minimum": 1},
    "SnapshotRecord.files": SNAPSHOT_FILES
    | {
        "description": "The snapshot in its formats: the path of each is the name and one of the "
        "endings."
    },
    "Finding.grade": GRADES,
    "Rematerialization.grade": GRADES,
    "CodeRecord.grade": GRADES,
    "RecompilationGroup.changed_steps": COUNT,
    "RankGroup.collectives": COUNT,
    "PassTime.runs": {"minimum": 1},
    "PassTime.changed": COUNT,
}
"""What annotations do not say, and keys that report.json writes in another form."""

LEFT_OUT = {"SnapshotRecord.label", "FileRecord.module"}
"""Fields that report.json does not write: they follow from the others."""

ALWAYS = (ModuleFigures,)
"""Records with defaults of which every key is written by every version."""
ALWAYS_WRITTEN = {"Finding.rule"}
"""Fields with a default that every version writes."""

PLAIN: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    RankNumbers: "string",
}


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of report.json."""
    return schema_of(
        *(ReportRecord, "report.json"),
        "The facts of a report, the same as on its pages. A figure that is not "
        "known is null, never 0. Every file of the dump stands here once: below its snapshot, else "
        "its module, else the dump. Keys are only added unless the number of the schema is raised; "
        "compare takes every number.",
    )


def comparison_schema() -> dict[str, Any]:
    """Return the JSON Schema of compare.json, which `compare --json` prints."""
    return schema_of(
        *(ComparisonRecord, "compare.json"),
        "What differs between two dumps, the same as on the pages of the comparison. A figure that "
        "is not known is null, never 0. Keys are only added unless the number of the schema is "
        "raised.",
    )


def schema_of(record: type, name: str, words: str) -> dict[str, Any]:
    """Return the JSON Schema of a file that holds one record."""
    definitions = {each.__name__: definition(each) for each in records(record)}
    top = definitions.pop(record.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:xlareport:{name}:{DETAILS[f'{record.__name__}.schema']['const']}",
        "title": f"xlareport {name}",
        **top,
        "description": words,
        "$defs": definitions,
    }


def records(record: type) -> dict[type, None]:
    """Return a struct and all those that its fields hold, in the order of their fields."""
    known: dict[type, None] = {}
    waiting = [record]
    while waiting:
        current = waiting.pop(0)
        if current in known:
            continue
        known[current] = None
        held = [part for hint in get_type_hints(current).values() for part in parts(hint)]
        waiting += [part for part in held if is_struct(part)]
    return known


def is_struct(hint: Any) -> bool:
    """Return whether an annotation is a record."""
    return isinstance(hint, type) and issubclass(hint, Struct) and hint not in PLAIN


def parts(hint: Any) -> Iterator[Any]:
    """Yield an annotation, or what it is put together from."""
    arguments = get_args(hint)
    if not arguments or get_origin(hint) is Literal:
        yield hint
    for argument in arguments:
        if argument is not Ellipsis and get_origin(hint) is not Literal:
            yield from parts(argument)


def definition(record: Any) -> dict[str, Any]:
    """Return the schema of one record."""
    hints, descriptions = get_type_hints(record), field_docstrings(record)
    written = [field for field in fields(record) if name_of(record, field) not in LEFT_OUT]
    properties = {}
    for field in written:
        detail = DETAILS.get(name_of(record, field), {})
        known = {} if "type" in detail else type_schema(hints[field.name])
        words = descriptions.get(field.name) or usual_words(record, field, hints[field.name])
        properties[key_of(field)] = {**known, "description": words, **detail}
    required = [key_of(field) for field in written if is_required(record, field)]
    return {
        "description": in_json(inspect.getdoc(record) or ""),
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": properties,
    }


def usual_words(record: type, field: FieldInfo, hint: Any) -> str:
    """Return what a key means whose field has no docstring: by its name, or by what it holds.

    Raises KeyError where neither says it: the field needs a docstring.
    """
    key = key_of(field)
    known = keys().get(f"{record.__name__}.{key}")
    held = [part for part in parts(hint) if is_struct(part)]
    if known is None and held:
        return in_json(inspect.getdoc(held[0]) or "")
    if known is None and key.endswith("_reason") and key not in keys():
        return f"Why {key.removesuffix('_reason')} is null; null where it is not."
    return known or keys()[key]


@cache
def keys() -> dict[str, str]:
    """Return the table report_keys.toml."""
    return tomllib.loads(Path(__file__).with_name("report_keys.toml").read_text("utf-8"))


def key_of(field: FieldInfo) -> str:
    """Return the key in report.json: `from_` is called `from`, which is a word of Python."""
    return field.encode_name.removesuffix("_")


def name_of(record: type, field: FieldInfo) -> str:
    """Return `Record.field`."""
    return f"{record.__name__}.{field.name}"


def is_required(record: type, field: FieldInfo) -> bool:
    """Return whether reports of every version have the key: those added later have a default."""
    return field.required or record in ALWAYS or name_of(record, field) in ALWAYS_WRITTEN


def type_schema(hint: Any) -> dict[str, Any]:
    """Return the schema of an annotation."""
    arguments, origin = get_args(hint), get_origin(hint)
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if is_struct(hint):
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if origin is Literal:
        return {"enum": list(arguments)}
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return {"enum": [str(member) for member in hint]}
    if origin in {Union, UnionType}:
        return nullable(type_schema(next(part for part in arguments if part is not NoneType)))
    return container_schema(origin, [type_schema(part) for part in arguments if part is not ...])


def container_schema(origin: Any, held: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of an array, of any length or a fixed one, or of values kept by name."""
    if origin is Mapping:
        return {"type": "object", "additionalProperties": held[1]}
    if len(held) == 1:
        return {"type": "array", "items": held[0]}
    is_uniform = all(item == held[0] for item in held)
    items: dict[str, Any] = {"items": held[0]} if is_uniform else {"prefixItems": list(held)}
    return {"type": "array", **items, "minItems": len(held), "maxItems": len(held)}


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that takes null as well."""
    if "$ref" in schema:
        return {"oneOf": [{"type": "null"}, schema]}
    if "enum" in schema:
        return {"enum": [*schema["enum"], None]}
    return schema | {"type": [schema["type"], "null"]}


@cache
def field_docstrings(record: type) -> dict[str, str]:
    """Return the string below each field of a struct and its bases, by the name of the field."""
    docstrings = {}
    for base in reversed(record.__mro__[: record.__mro__.index(Struct)]):
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)  # noqa: S101 - the source of a class is a class
        for field, after in zip(body.body, body.body[1:], strict=False):
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
                docstrings[field.target.id] = in_json(str(after.value.value))  # type: ignore[attr-defined]
    return docstrings


def in_json(words: str) -> str:
    """Return a docstring on one line, in the words of JSON."""
    return re.sub(r"\bNone\b", "null", " ".join(words.split()))


def main() -> int:
    """Write the schemas, or compare them with the files."""
    schemas = {"report.schema.json": report_schema(), "compare.schema.json": comparison_schema()}
    stale = 0
    for name, schema in schemas.items():
        path = FOLDER / name
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        if "--check" not in sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text("utf-8") != text:
            sys.stderr.write(f"{path} is not current: run scripts/report_schema.py\n")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
