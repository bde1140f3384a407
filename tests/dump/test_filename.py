import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from xlareport.dump.filename import LONGEST, DumpName, parse, read, sanitised
from xlareport.knowledge import kinds

FIELDS = (
    "kind",
    "stage",
    "module_id",
    "module_name",
    "timestamp",
    "build",
    "sequence",
    "pipeline",
    "after",
    "before",
    "target",
    "kernel",
    "format",
    "frontend",
)
CASES = tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))["name"]


def test_names_of_every_form_give_their_fields() -> None:
    for case in CASES:
        name = parse(case["name"])

        assert {field: getattr(name, field) for field in FIELDS} == {
            field: case.get(field) for field in FIELDS
        }, case["name"]
        assert (name.ambiguous is not None) == case.get("doubtful", False), case["name"]


def test_every_part_has_a_meaning_and_the_parts_are_the_name() -> None:
    for case in CASES:
        name = parse(case["name"])

        assert str(name) == case["name"]
        assert all(token.meaning for token in name.tokens if token.field != "sign")
        assert name.kind in kinds.all_entries()


@pytest.mark.parametrize(
    ("path", "prefix", "folder"),
    [
        ("module_0008.jit_f.debug_options", "module_0008.jit_f", ""),
        (
            "1624325116260738.module_0065.pmap_f.8.before_optimizations.txt",
            "1624325116260738.module_0065.pmap_f.8",
            "",
        ),
        ("module_0008.jit_f.cl_123.flagfile", "module_0008.jit_f", ""),
        ("a/b/module_0010.jit_naïve/module.mlir", "module_0010.jit_na__ve", "a/b"),
        ("a/shardy/module_0000.jit_x/00.input_module.mlir", "module_0000.jit_x", "a"),
        ("jit_x/host_12/module_0001.jit_x.debug_options", "module_0001.jit_x", "jit_x/host_12"),
        ("module_0003.metadata.textproto", "module_0003", ""),
        ("README.md", None, ""),
    ],
)
def test_the_prefix_and_the_folder_key_the_module(
    path: str, prefix: str | None, folder: str
) -> None:
    name = parse(path)

    assert name.module_prefix == prefix
    assert name.folder == folder


def test_a_known_module_name_ends_where_the_suffix_begins() -> None:
    path = "module_0001.jit_a.b.wrapped_add.ir-no-opt.ll"

    alone = parse(path)
    known = read(path, ["jit_a", "jit_a.b"])

    assert alone.ambiguous is not None
    assert (known.module_name, known.kernel, known.ambiguous) == ("jit_a.b", "wrapped_add", None)


def test_a_known_name_that_does_not_fit_changes_nothing() -> None:
    path = "module_0001.jit_f.before_optimizations.txt"

    assert read(path, ["jit_g", "jit_f.before_optimizations"]) == parse(path)


def test_the_parts_of_tools_that_are_not_xla_are_tokens() -> None:
    name = parse("1771656547132443545-vadd-75-post-delay-converter.txt")

    told = {token.field: token.text for token in name.tokens}

    told.pop("sign")
    assert told == {
        "timestamp_ns": "1771656547132443545",
        "program": "vadd",
        "llo_pass_index": "75",
        "llo_pass": "post-delay-converter",
        "format": "txt",
    }


def test_a_timestamp_is_told_as_a_date() -> None:
    name = parse("1624325116260738.module_0065.jit_f.before_optimizations.txt")

    assert "2021-06-22 01:25:16 UTC" in name.tokens[0].meaning


def test_names_no_file_system_has_are_left_whole() -> None:
    path = "module_0001.jit_f." * LONGEST

    name = parse(path)

    assert name.kind == "unknown"
    assert str(name) == path


def test_sanitising_replaces_every_byte_that_xla_does_not_allow() -> None:
    assert sanitised("jit_naïve(<x>)") == "jit_na__ve__x__"


def _expected(row: Mapping[str, str]) -> Mapping[str, str]:
    return dict(pair.split("=", 1) for pair in row["expected"].split(";") if pair)


def _differences(row: Mapping[str, str]) -> list[str]:
    """Compare one row of a list of names with what its name gives."""
    name = parse(row["filename"])
    texts = {token.text for token in name.tokens}
    found = [] if str(name) == row["filename"] else ["round trip"]
    if (name.module_id, name.module_name) != (
        int(row["module_id"]) if row["module_id"] else None,
        row["module_name"] or None,
    ):
        found.append("module")
    found += [key for key, value in _expected(row).items() if not _gives(name, key, value, texts)]
    return found


def _gives(name: DumpName, key: str, value: str, texts: set[str]) -> bool:
    if key in {"tool", "style", "note"}:
        return True
    if key == "format":
        return (name.format or "(none)") == value
    fields = {"seq": "sequence", "timestamp_us": "timestamp"}
    field = fields.get(key, key)
    if field not in FIELDS:
        return value in texts
    got = getattr(name, field)
    return bool(got == (int(value) if isinstance(got, int) else value))


@pytest.mark.skipif("XLAREPORT_NAMES" not in os.environ, reason="XLAREPORT_NAMES is not set")
def test_names_seen_in_public_give_the_expected_fields() -> None:
    lines = Path(os.environ["XLAREPORT_NAMES"]).read_text("utf-8").splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=False)) for line in lines[1:]]

    wrong = {row["filename"]: differences for row in rows if (differences := _differences(row))}

    assert len(rows) > 1000
    assert wrong == {}
