"""The schemas are made of the records, and describe every key of a report and a comparison."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import jsonschema
import pytest
from msgspec import Struct
from tests.script_loader import load_script

from xlareport.records.report_json import report_json
from xlareport.report import BuildOptions, build
from xlareport.runtime.resources import PACKAGE

SCHEMA = json.loads((PACKAGE / "records/report.schema.json").read_text("utf-8"))
COMPARISON = json.loads((PACKAGE / "records/compare.schema.json").read_text("utf-8"))


@pytest.fixture
def script() -> ModuleType:
    return load_script("report_schema")


def test_the_schema_is_current_and_a_schema(script: ModuleType) -> None:
    assert script.report_schema() == SCHEMA
    assert script.comparison_schema() == COMPARISON
    for schema in (SCHEMA, COMPARISON):
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_detail_is_of_a_field(script: ModuleType) -> None:
    fields = {
        f"{record.__name__}.{name}"
        for top in (script.ReportRecord, script.ComparisonRecord)
        for record in script.records(top)
        for name in record.__struct_fields__
    }
    assert fields >= {*script.DETAILS, *script.LEFT_OUT}


def test_every_key_has_a_description_and_no_entry_is_idle(script: ModuleType) -> None:
    schemas = (SCHEMA, COMPARISON)
    definitions = [each for schema in schemas for each in (schema, *schema["$defs"].values())]
    keys = [each for record in definitions for each in record["properties"].values()]
    assert all(each["description"] for each in keys)
    described = {each["description"] for each in keys}
    assert {key for key, words in script.keys().items() if words not in described} == set()
    assert all(record["additionalProperties"] is False for record in definitions)
    assert SCHEMA["$id"] == "urn:xlareport:report.json:3"
    assert COMPARISON["$id"] == "urn:xlareport:compare.json:2"


class Wheel(Struct, frozen=True):
    """A part of a thing."""

    size: float


class Thing(Struct, frozen=True):
    """A thing; None where there is none."""

    kind: Literal["a", "b"]
    wheels: tuple[Wheel, ...]
    """The front one
    first; None of them is missing."""
    pair: tuple[str, str]
    """Two of them."""
    parts: tuple[str, int]
    """One of each."""
    units: Mapping[str, float]
    """By name."""
    spare: Wheel | None = None
    count: int | None = None


def test_annotations_and_docstrings_become_types_and_descriptions(script: ModuleType) -> None:
    schema = script.definition(Thing)
    assert schema["description"] == "A thing; null where there is none."
    assert schema["required"] == ["kind", "wheels", "pair", "parts", "units"]
    wheel = {"$ref": "#/$defs/Wheel"}
    assert schema["properties"] == {
        "kind": {"enum": ["a", "b"], "description": "What kind it is."},
        "wheels": {
            "type": "array",
            "items": wheel,
            "description": "The front one first; null of them is missing.",
        },
        "pair": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 2,
            "maxItems": 2,
            "description": "Two of them.",
        },
        "parts": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "minItems": 2,
            "maxItems": 2,
            "description": "One of each.",
        },
        "units": {
            "type": "object",
            "additionalProperties": {"type": "number"},
            "description": "By name.",
        },
        "spare": {"oneOf": [{"type": "null"}, wheel], "description": "A part of a thing."},
        "count": {"type": ["integer", "null"], "description": "How often it was measured."},
    }
    assert schema["additionalProperties"] is False
    assert list(script.records(Thing)) == [Thing, Wheel]


def undescribed(value: Any, schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the paths of keys that the schema does not name."""
    if "oneOf" in schema:
        schema = schema["oneOf"][1]
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if isinstance(value, dict):
        for key, inner in value.items():
            known = schema.get("properties", {}).get(key) or schema["additionalProperties"]
            if not known:
                yield f"{path}.{key}"
            else:
                yield from undescribed(inner, known, f"{path}.{key}")
    if isinstance(value, list | tuple):
        for inner in value:
            yield from undescribed(inner, schema.get("items", {}), path)


@pytest.mark.parametrize("name", ["gpu-h100x2-train", "labelled-retraced"])
def test_every_key_of_a_report_is_described(
    name: str, unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    options = BuildOptions(out=tmp_path, html=False, pictures="none")
    value = json.loads(report_json(build(unpacked(name), options).report))
    assert all(module["expense"] for module in value["modules"])
    jsonschema.validate(json.loads(json.dumps(value)), SCHEMA)
    assert sorted(set(undescribed(value, SCHEMA))) == []


def test_a_key_that_is_not_described_is_found() -> None:
    assert list(undescribed({"dump": {"path": "", "news": 1}}, SCHEMA)) == [".dump.news"]
