"""What is read beside the files of a dump: archives, logs, settings, reports and histories."""

import ast
import gzip
import io
import json
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.code.test_instruction_products import instruction
from tests.walks import examples

import xlareport
from xlareport.analysis.code.instruction_products import read_tuning
from xlareport.dump.redact import Redactor
from xlareport.dump.source import open_source
from xlareport.knowledge.devices import DeviceTableError, parse_devices
from xlareport.records.bare_report import read_bare_report
from xlareport.records.budgets import BudgetError, parse_budget
from xlareport.runtime.errors import UnreadableInputError
from xlareport.runtime.limits import Limits
from xlareport.site.nights import FILE, read_nights
from xlareport.site.stored_history import find_stored_history
from xlareport.storage.payloads import make_payload_file, read_payload

PACKAGE = Path(xlareport.__file__).parent
WORDS = st.sampled_from([
    "name", "matrix_flops", "vector_flops", "bandwidth", "source", "memory", "aliases", "f32",
    "when", "dump", "report", "main", "figures", "slugs", "flops", "modules", "key", "slug",
    "final", "bytes", "files", "module", "algorithm", "triton_gemm_config", "a",
])  # fmt: skip
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -1, 0, float("inf")])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=25,
)
NIGHT = {
    "when": "2026-11-01T02:00:00Z",
    "dump": "d",
    "report": "x/index.html",
    "main": "m",
    "figures": {"m": {"flops": 5}},
}
DEVICE = '[d]\nname = "d"\nbandwidth = 1\nsource = "s"\n[d.matrix_flops]\nf32 = 1\n'


def written(value: Any) -> str:
    return json.dumps(value)


@given(VALUES, st.text(max_size=30))
@examples(100)
def test_settings_of_an_instruction_are_choices_or_nothing(value: Any, text: str) -> None:
    for config in (written(value), written({"algorithm": value}), text):
        one = instruction("{}")
        one.attributes["backend_config"] = config
        assert all(isinstance(json.loads(found), object) for found in read_tuning(one).values())


@given(st.lists(st.sampled_from(["night", "value", "text"]), max_size=6), VALUES, st.text())
@examples(60)
def test_a_line_of_a_history_is_a_night_or_a_problem(
    kinds: list[str], value: Any, text: str
) -> None:
    bare = "".join(text.split())
    lines = {
        "night": written(NIGHT),
        "value": written(NIGHT | (value if isinstance(value, dict) else {"main": value})),
        "text": f"@{bare}",
    }
    with tempfile.TemporaryDirectory() as folder:
        content = "\n".join(lines[kind] for kind in kinds).encode("utf-8", "surrogatepass")
        (Path(folder) / FILE).write_bytes(content)
        nights, problems = read_nights(Path(folder))
    assert len(nights) >= kinds.count("night")
    assert len(nights) + len(problems) == len(kinds)


@given(VALUES)
@examples(60)
def test_a_report_is_read_or_refused(value: Any) -> None:
    whole = {"main": None, "modules": [value], "files": [], "dump": {"bytes": 1}}
    with tempfile.TemporaryDirectory() as folder:
        for number, report in enumerate((value, whole, whole | {"modules": value})):
            path = Path(folder) / f"{number}.json"
            path.write_text(written(report))
            with suppress(UnreadableInputError):
                read_bare_report(path, "r.json")


@given(VALUES, st.text(max_size=60), st.integers(0, 40))
@examples(100)
def test_a_payload_is_given_back_or_refused(value: Any, text: str, place: int) -> None:
    try:
        _, script = make_payload_file("a/b", value)
    except ValueError:  # what JSON has no number for
        return
    value = json.loads(written(value), parse_constant=lambda _: None)  # infinity and NaN are null
    assert read_payload(script) == ("a/b", value)
    for damaged in (script[:place] + text + script[place:], script[: -place - 1], text):
        with suppress(ValueError):
            read_payload(damaged)


@given(
    st.text(max_size=40) | st.from_regex(r"[a-z_]{1,9}(\[.{0,9}\])?.{0,3}[>:] ?[+0-9.eKMi%]{0,9}")
)
@examples(100)
def test_a_budget_is_understood_or_refused(text: str) -> None:
    with suppress(BudgetError):
        assert parse_budget(text).text == text


@given(st.sampled_from(DEVICE.splitlines()), st.text(max_size=20), NUMBERS)
@examples(100)
def test_a_table_of_devices_is_read_or_refused(line: str, text: str, number: Any) -> None:
    name = line.partition("=")[0]
    for value in (text, f"{name}= {number}", f"{name}= [{number}]", f"{name}= '{text}'"):
        with suppress(DeviceTableError):
            parse_devices(DEVICE.replace(line, value))


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, DEVICE.replace("th = 1", "th = inf")])
def test_an_impossible_table_of_devices_is_refused(text: str) -> None:
    for one in (text, DEVICE.replace('"s"', '"s"\nmemory = inf')):
        with pytest.raises(DeviceTableError):
            parse_devices(one)


def packed(kind: str) -> bytes:
    file = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a/b.txt", "x" * 200)
            archive.writestr("module_0001.m.txt", "HloModule m\n")
        return file.getvalue()
    with tarfile.open(fileobj=file, mode="w") as tar:
        member = tarfile.TarInfo("a/b.txt")
        member.size = 200
        tar.addfile(member, io.BytesIO(b"x" * 200))
    return gzip.compress(file.getvalue()) if kind == "tar.gz" else file.getvalue()


ARCHIVES = {kind: packed(kind) for kind in ("zip", "tar", "tar.gz")}


@given(
    st.sampled_from(sorted(ARCHIVES)),
    st.integers(0, 2_000),
    st.binary(max_size=20),
    st.integers(0, 40),
)
@examples(150)
def test_a_damaged_archive_is_read_or_refused(kind: str, place: int, put: bytes, out: int) -> None:
    whole = ARCHIVES[kind]
    place %= len(whole)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{kind}"
        path.write_bytes(whole[:place] + put + whole[place + out :])
        limits = Limits(files=50, total_bytes=1 << 20)
        with suppress(UnreadableInputError), open_source(path, limits) as found:
            assert all(not entry.path.startswith(("/", "..")) for entry in found.entries)
        assert {one.name for one in Path(folder).iterdir()} == {path.name}


FRAMES = [b"*** Begin a.txt ***\n", b"*** End a.txt ***\n", b"*** Begin ../x ***\n", b"x\n", b"\0"]


@given(st.lists(st.sampled_from(FRAMES) | st.binary(max_size=9), max_size=12))
@examples(60)
def test_frames_of_a_log_are_files_or_problems(parts: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "x.log").write_bytes(b"\n" + b"".join(parts))
        with open_source(Path(folder)) as found:
            assert "x.log" in {entry.path for entry in found.entries}
            assert not any(".." in entry.path.split("/") for entry in found.entries)
            open_frames = [problem for problem in found.problems if "no end" in problem.message]
    assert len(open_frames) <= 1


@given(st.binary(max_size=200), st.text(max_size=40))
@examples(100)
def test_redaction_takes_anything(content: bytes, path: str) -> None:
    redactor = Redactor()
    redactor.learn(path, content)
    assert isinstance(redactor.text(content), bytes)
    assert isinstance(redactor.path(path), str)


COLUMN = [["a\x7f", "m/%a.\x7f"], [0, 1], [1, 2]]
INDEX = {
    "stages": [["0001", "first"], ["0002", "last"]],
    "chunk": 2,
    "titles": COLUMN,
    "forward": 1,
    "between": [2, [[], [], []]],
    "left_out": [[[], [], []], [[], [[], [], []], {}]],
    "complete": True,
    "names": [[["a"], [0], []], [1], [0]],
}
CHUNK = {
    "instructions": [1, 1],
    "happened": [[-1], [0]],
    "origins": [[1, 1], [1, 1], [0, 0]],
    "now": [[1, 0], [1, 0], [0]],
    "standings": [[["x"], [0], []]] * 5,
    "events": [
        [0],
        *([[["exact"], [0], []]] * 2),
        *([[[0], [[], [], []]]] * 2),
        [["e"], [0], []],
        [["why"], [0], []],
    ],
}
SUBJECT = {"key": "m", "slug": "m", "name": "f"}


@given(
    st.sampled_from([None, "report", "history", "history-0", "modules"]),
    st.sampled_from([*INDEX, *CHUNK]),
    VALUES,
)
@examples(150)
def test_a_stored_history_is_told_or_not(part: str | None, field: str, value: Any) -> None:
    report = {"main": {"module": "m"}, "modules": [SUBJECT]}
    stored: dict[str, Any] = {"history": INDEX, "history-0": CHUNK}
    if part == "report":
        report = value
    elif part == "modules":
        report = report | {"modules": value}
    elif part is not None:
        stored[part] = value if field not in stored[part] else stored[part] | {field: value}
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        (site / "report.json").write_text(written(report), "utf-8")
        with suppress(ValueError):  # what no payload can hold
            path, script = make_payload_file("m/m/small", stored)
            (site / path).parent.mkdir(parents=True)
            (site / path).write_text(script, "utf-8")
        told = find_stored_history(site, None, "%a.2")
    assert told is None or told.module == "m"
    assert part is not None or (told and told.subject.title == "m/%a.2")


CALLS = {
    *("json.loads", "json.load", "tomllib.loads", "ijson.basic_parse", "zipfile.ZipFile"),
    *("tarfile.open", "csv.DictReader", "yaml.safe_load", "ET.parse"),
}
"""By which a module parses something."""
OWN = ("knowledge/", "pictures/", "hlo/", "readers/")
"""Tables of ours, Graphviz's answers and our own cache; what reads dumps here is in the tables."""
OTHERS = {
    "analysis/cost/custom_calls.py": "tests/properties/test_cost.py",
    "cli/compare.py": "tests/hostile/test_compared.py",
    "dump/archive.py": test_a_damaged_archive_is_read_or_refused,
    "module_work/kept_form.py": "tests/module_work/test_kept_form.py",
    "records/bare_report.py": test_a_report_is_read_or_refused,
    "records/stored_sketches.py": "tests/records/test_stored_sketches.py",
    "replay/library_calls.py": "tests/replay/test_library_calls.py",
    "replay/child_process.py": "the answer of our own child process",
    "replay/run_reproducer.py": "what `extract --runnable` wrote beside it",
    "replay/worker/arrays.py": "arrays that our own parent process wrote, or the user named",
    "replay/worker/main.py": "a request of our own parent process",
    "storage/payloads.py": test_a_payload_is_given_back_or_refused,
    "runtime/resources.py": "tables of ours",
    "site/former_build.py": "tests/site/test_former_build.py",
    "site/kept_site.py": "a list that our own parent process wrote",
    "site/stored_history.py": test_a_stored_history_is_told_or_not,
    "site/fitting.py": "our own report.json, just written",
    "site/night_folders.py": "tests/site/test_night_folders.py",
    "site/nights.py": test_a_line_of_a_history_is_a_night_or_a_problem,
    "replay/recorded_inputs.py": "writes an archive and reads none",
    "site/site_shares.py": "a list that our own parent process wrote",
    "site/pack.py": "writes an archive and reads none",
    "site/single.py": "our own report.json, in the folder that is packed",
}


def test_whatever_parses_has_a_property() -> None:
    there = {
        str(path.relative_to(PACKAGE).as_posix())
        for path in PACKAGE.rglob("*.py")
        if CALLS & {ast.unparse(call.func) for call in calls(path)}
    }
    assert {one for one in there if not one.startswith(OWN)} == set(OTHERS)


def calls(path: Path) -> list[ast.Call]:
    return [
        one for one in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(one, ast.Call)
    ]
