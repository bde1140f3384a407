"""Comparisons and nights of hostile input: nothing acts, leads out, or ends in a fault."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.hostile.conftest import ATTACKS, module_files
from tests.hostile.test_report import FOUND, Markup
from tests.walks import LONG_WALKS

from xlareport.cli.compare import command
from xlareport.records.bare_report import read_bare_report
from xlareport.report import BuildOptions, build
from xlareport.runtime.errors import UnreadableInputError, XlareportError
from xlareport.site.nights import FILE


def compared(*arguments: object) -> Result:
    return CliRunner().invoke(
        command, ["--jobs", "2", "-q", *(str(argument) for argument in arguments)]
    )


def dump_of(folder: Path, opcode: str) -> Path:
    folder.mkdir()
    for number, attack in enumerate(ATTACKS.values(), 1):
        for name, text in module_files(number, attack):
            changed = text.replace(" cosine(", f" {opcode}(") + f"xla_y: {opcode!r}\n" * (
                name.endswith("debug_options")
            )
            (folder / name).write_text(changed, "utf-8", newline="")
    return folder


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """Return what is printed when two hostile dumps are compared, and the folder it writes into."""
    root = tmp_path_factory.mktemp("<xss-tag> compared")
    base, head = dump_of(root / "base", "tanh"), dump_of(root / "head", "sqrt")
    written = ("--out", root / "out", "--junit", root / "x.xml", "--markdown", root / "x.md")
    budgets = ("--fail-on", "new:sqrt", "--fail-on", "flops > 1 G")
    return compared(base, head, *written, *budgets), root


def test_a_terminal_is_not_steered(answer: tuple[Result, Path]) -> None:
    result, _ = answer
    assert result.exit_code == 1, result.exception
    assert all(one.isprintable() or one == "\n" for one in result.output)
    assert "fault of xlareport" not in result.output


def test_no_page_of_a_comparison_holds_markup_of_the_dump(answer: tuple[Result, Path]) -> None:
    _, root = answer
    pages = [*(root / "out/site").rglob("*.html"), *(root / "out/site").rglob("*.svg")]
    assert len(pages) > len(ATTACKS)
    for path in pages:
        read = Markup()
        read.feed(path.read_text("utf-8"))
        assert read.found == [], path
    for path in (root / "out/site/assets/data").rglob("*.js"):
        assert "<" not in path.read_text("ascii"), path
    report = json.loads((root / "out/site/compare.json").read_text())
    assert not [problem for problem in report["problems"] if "fault" in problem["message"]]


def test_what_machines_read_is_well_formed(answer: tuple[Result, Path]) -> None:
    _, root = answer
    assert ET.parse(root / "x.xml").getroot().get("failures") == "1"  # noqa: S314 - our own
    text = (root / "x.md").read_text("utf-8")
    assert all(one.isprintable() or one == "\n" for one in text)
    outside = "".join(text.split("`")[::2])
    assert not re.search(r"(?<!\\)([<\[]|://)", outside)


@pytest.mark.browser
def test_no_page_of_a_comparison_acts(answer: tuple[Result, Path], visitor: Any) -> None:
    _, root = answer
    visitor.context.add_init_script("window.hacked = 0")
    pages = sorted((root / "out/site/m").glob("*.html"))
    assert len(pages) > 10
    some = (root / "out/site/index.html", *pages[:: 1 if LONG_WALKS else 16])
    for page in visitor.walk(path.as_uri() for path in some):
        assert page.evaluate(FOUND) == [], page.url
        assert page.evaluate("window.hacked") == 0, page.url
    assert visitor.complaints == []
    assert visitor.outside() == []


@pytest.fixture
def report(hostile_out: Path, tmp_path: Path) -> Callable[[Callable[[Any], None]], Path]:
    """Return a function that writes the report.json of the hostile dump, changed."""
    whole = json.loads((hostile_out / "site/report.json").read_text("utf-8"))

    def make(change: Callable[[Any], None]) -> Path:
        change(whole)
        path = tmp_path / "report.json"
        path.write_text(json.dumps(whole))
        return path

    return make


def module(change: dict[str, Any]) -> Callable[[Any], None]:
    return lambda whole: whole["modules"][0].update(change)


def final(value: Any) -> Callable[[Any], None]:
    return lambda whole: whole["modules"][0]["final"].update(instructions=value)


CHANGES: dict[str, Callable[[Any], None]] = {
    "slug leads out": module({"slug": "../../xss-path"}),
    "slug is hidden": module({"slug": ".x"}),
    "slug is long": module({"slug": "x" * 300}),
    "surrogate": module({"name": "\ud800"}),
    "no text": module({"key": ["x"]}),
    "two of one address": lambda whole: whole["modules"].append(whole["modules"][0]),
    "endless": final(float("inf")),
    "a fraction": final(0.5),
    "larger than any": final(10**400),
    "size": lambda whole: whole["dump"].update(bytes=float("inf")),
    "no modules": lambda whole: whole.update(modules=5),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_damaged_report_is_refused(report: Any, name: str) -> None:
    with pytest.raises(UnreadableInputError, match="is no report"):
        read_bare_report(report(CHANGES[name]), "report.json")


def test_a_report_alone_is_compared(report: Any, hostile_dump: Path, tmp_path: Path) -> None:
    result = compared(report(lambda _: None), hostile_dump, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.exception
    assert "Only figures can be compared" in result.output


TOML = {
    "not TOML": "[",
    "deep": "a=" + "[" * 100_000,
    "tool is a number": "tool = 5",
    "a list": "[tool]\nxlareport = []",
    "budgets is a text": "[tool.xlareport]\nbudgets = 'x'",
    "budgets are numbers": "[tool.xlareport.budgets]\nfail-on = [1]",
    "a text": "[tool.xlareport.budgets]\nfail-on = 'x > 1'",
}


@pytest.mark.parametrize("name", TOML)
def test_settings_that_make_no_sense_are_wrong_usage(name: str, tmp_path: Path) -> None:
    config = tmp_path / "x.toml"
    config.write_text(TOML[name])
    result = compared(tmp_path, tmp_path, "--config", config)
    assert getattr(result.exception, "exit_code", result.exit_code) == 2


def night(**change: Any) -> str:
    record = {"when": "2026-11-01T02:00:00Z", "dump": "d", "report": "x/index.html", "main": "m"}
    return json.dumps({**record, "figures": {"m": {"flops": 5}}, **change})


NIGHTS = (
    "{",
    "[" * 100_000,
    "5",
    night(when=5),
    night(report="\ud800"),
    night(main="\udfff"),
    night(figures={"\ud800": {}}),
    night(figures={"m": {"flops": 10**300}}),
    night(figures={"m": {"flops": float("nan")}}),
    night(figures=[]),
    night(dump="x" * 1_000_000),
)
ADDRESSES = (
    *("out/site/javascript:hacked++", "out/site/?x", "out/site/#x", "out/site/"),
    *("//outside.example/", "/etc", "", "\0"),
)
ODD_NIGHTS = tuple(
    night(report=text, main=text, when=text, dump=text, figures={text: {"flops": place, text: 1}})
    for place, text in enumerate((*ATTACKS.values(), *ADDRESSES))
)


def test_nights_of_strangers_do_not_act(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / FILE).write_text("\n".join([*NIGHTS, *ODD_NIGHTS, ""]))
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump/module_0001.m.before_optimizations.txt").write_text(
        "HloModule m\n\nENTRY %e (a: f32[]) -> f32[] {\n  ROOT %a = f32[] parameter(0)\n}\n"
    )
    build(tmp_path / "dump", BuildOptions(out=out, history=tmp_path))

    read = Markup()
    text = (out / "site/trends.html").read_text("utf-8")
    read.feed(text)
    assert read.found == []
    assert text.count("This line is no night of a history") == len(NIGHTS)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_budget_for_a_strange_name_is_refused_in_plain_signs(attack: str, tmp_path: Path) -> None:
    (tmp_path / "module_0001.f.after_optimizations.txt").write_text("HloModule f\n")
    refused = compared(tmp_path, tmp_path, "--fail-on", f"flops[{attack}] > 1").exception
    assert isinstance(refused, XlareportError)
    assert str(refused).replace("\n", "").isprintable()
