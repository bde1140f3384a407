"""Templates that one process compiled serve another."""

import html
import json
import re
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jinja2 import DictLoader, Environment
from tests.parts import parts

from xlareport.cli.build import command
from xlareport.pages import site_files
from xlareport.pages.coverage import page as coverage
from xlareport.pages.rendering.environment import environment
from xlareport.pages.rendering.templates import (
    Compiled,
    compile_templates,
    headings_alone,
    html_of,
    page_files,
    part_payloads,
    prune_compiled,
    put_back,
)
from xlareport.pages.tables import table_file
from xlareport.runtime.faults import Faults
from xlareport.runtime.resources import find_resource
from xlareport.storage.payloads import decode_payload


def test_what_was_compiled_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Compiled()
    taken.kept.update(compile_templates())
    made = environment(find_resource("templates"))
    made.bytecode_cache = taken
    monkeypatch.setattr(Environment, "compile", None)

    names = made.list_templates(extensions=["jinja"])
    assert "module.md.jinja" in names
    assert [made.get_template(name).name for name in names] == names


def test_a_template_that_changed_is_compiled_anew() -> None:
    kept = Compiled()
    shown = []
    for text in ("one", "two", "two"):
        templates = Environment(
            loader=DictLoader({"x": text}), bytecode_cache=kept, autoescape=True
        )
        shown.append(templates.get_template("x").render())

    assert shown == ["one", "two", "two"]
    assert len(kept.kept) == 1


PAGE = """# Cost

<p>*not* **Markdown**</p>

## By opcode

### By opcode

<p>the end</p>
"""


def test_headings_have_anchors_of_their_own() -> None:
    html = html_of(PAGE)
    assert re.findall(r'<h[23] id="([^"]+)"', html) == ["by-opcode", "by-opcode_1"]
    assert 'href="#by-opcode_1" title="Link to this section"' in html
    assert html_of(PAGE) == html


def test_what_stands_between_headings_comes_back_as_it_was() -> None:
    headings, kept = headings_alone(PAGE)
    assert "Markdown" not in headings
    assert put_back("<p>\ue0001\ue000</p>", kept) == "<p>*not* **Markdown**</p>"
    assert "<p>*not* **Markdown**</p>" in html_of(PAGE)
    assert html_of(PAGE).endswith("<p>the end</p>")


def compiling_environment(text: str) -> tuple[Environment, Compiled]:
    made = Compiled()
    return Environment(loader=DictLoader({"x": text}), bytecode_cache=made, autoescape=True), made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    compiled: list[str] = []
    compile_one = Environment.compile

    def noted(self: Environment, source: str, *rest: object) -> object:
        compiled.append(source)
        return compile_one(self, source, *rest)  # type: ignore[call-overload]

    monkeypatch.setattr(Environment, "compile", noted)
    return compiled


def test_another_build_compiles_nothing_again(folder: Path, compiling: list[str]) -> None:
    for _ in range(2):
        templates, made = compiling_environment("{{ 6 * 7 }}")
        assert templates.get_template("x").render() == "42"
        assert made.kept
    assert len(compiling) == 1
    assert list(folder.rglob("*.cache"))


def test_a_template_that_changed_is_compiled_again(folder: Path, compiling: list[str]) -> None:
    assert folder.is_dir()
    for text in ("one", "two"):
        assert compiling_environment(text)[0].get_template("x").render() == text
    assert len(compiling) == 2


def test_nothing_is_kept_where_python_keeps_nothing(
    folder: Path, compiling: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for _ in range(2):
        compiling_environment("one")[0].get_template("x")
    assert len(compiling) == 2
    assert not [*folder.iterdir()]


def test_what_another_process_compiled_is_taken_over(folder: Path, compiling: list[str]) -> None:
    _, first = made = compiling_environment("one")
    made[0].get_template("x")
    templates, second = compiling_environment("one")
    second.kept.update(first.kept)
    for kept in folder.rglob("*.cache"):
        kept.unlink()
    assert templates.get_template("x").render() == "one"
    assert len(compiling) == 1


def test_a_damaged_file_is_compiled_again(folder: Path, compiling: list[str]) -> None:
    compiling_environment("one")[0].get_template("x")
    for kept in folder.rglob("*.cache"):
        kept.write_bytes(kept.read_bytes()[:-9])
    assert compiling_environment("one")[0].get_template("x").render() == "one"
    assert len(compiling) == 2


def test_a_folder_that_others_can_write_is_not_used(folder: Path, compiling: list[str]) -> None:
    compiling_environment("one")[0].get_template("x")
    (kept,) = folder.iterdir()
    kept.chmod(0o777)
    assert compiling_environment("one")[0].get_template("x").render() == "one"
    assert len(compiling) == 2


NO_PROBLEMS = coverage.problems_table(())
PLAIN = "This page could not be made"


def fail(*_: object, **__: object) -> None:
    raise ZeroDivisionError("on <purpose>")


@pytest.fixture(scope="module")
def dump(unpacked: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two modules, of which one has steps."""
    made = tmp_path_factory.mktemp("faults") / "dump"
    made.mkdir()
    for path in unpacked("jax-cpu-train").glob("module_000[46]*.txt"):
        (made / path.name).write_bytes(path.read_bytes())
    return made


def run(dump: Path, out: Path, *options: str) -> Result:
    asked = [str(dump), "--out", str(out), "--quiet", "--jobs", "1", "--pictures", "none"]
    return CliRunner().invoke(command, [*asked, *options])


def pages_and_plain(out: Path) -> tuple[set[str], set[str]]:
    """Return the names of all pages and parts, and of those that could not be made."""
    found = {path.relative_to(out / "site_src").as_posix(): path for path in out.rglob("*.md")}
    texts = {name: one.read_text() for name, one in found.items()} | dict(parts(out / "site_src"))
    return set(texts), {name for name, text in texts.items() if PLAIN in text}


@pytest.fixture(scope="module")
def sound(dump: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """Return the dump, and the names of its pages and parts where none of them fails."""
    out = tmp_path_factory.mktemp("well")
    assert run(dump, out, "--no-html").exit_code == 0
    pages, plain = pages_and_plain(out)
    assert not plain
    return dump, pages


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("module.module_pages.module_page", r"m/[^/]+\.md"),
        ("texts.page.texts_page", r"m/[^/]+\.html\?texts"),
        ("module.page.module_findings", r"m/[^/]+\.md"),
        ("cost.page.module_findings", r"m/[^/]+\.html\?cost"),
        ("site_files.summarize_home", r"index\.md"),
        ("site_files.names_page", r"names\.md"),
        ("site_files.program_page", r"program\.md"),
        ("site_files.search_files", None),
        ("coverage.page.coverage_page", r"coverage\.md"),
    ],
)
def test_a_fault_costs_a_page(
    function: str,
    expected: str | None,
    sound: tuple[Path, set[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "xlareport.runtime.worker_pool._pool", ThreadPoolExecutor
    )  # they see what is patched
    monkeypatch.setattr(f"xlareport.pages.{function}", fail)
    dump, all_pages = sound
    done = run(dump, tmp_path / "out", "--no-html")

    assert done.exit_code == 0, done.output
    assert "Traceback" not in done.output
    assert "a fault of xlareport (ZeroDivisionError in test_templates.py" in done.output
    pages, plain = pages_and_plain(tmp_path / "out")
    assert pages == all_pages
    assert all(expected and re.fullmatch(expected, one) for one in plain)
    assert bool(plain) == bool(expected)
    report = json.loads((tmp_path / "out/site_src/report.json").read_text())
    assert all("could not be made" in problem["message"] for problem in report["problems"])
    assert len(report["problems"]) >= max(1, len(plain))


@pytest.mark.parametrize(
    "function",
    [
        "analysis.dump.rank_modules",
        "analysis.dump.guess_main",
        "analysis.dump.link_modules",
        "analysis.dump.assign_roles",
        "analysis.dump.group_recompilations",
        "analysis.dump.group_eager_functions",
        "analysis.dump.group_ranks",
        "analysis.dump.find_chains",
        "analysis.dump.cluster_graphs",
        "analysis.ranks.members.list_ranks",
        "records.build.finding_records",
        "records.build.with_passes",
        "report.program_picture",
    ],
)
def test_a_fault_in_what_joins_the_modules_costs_itself(
    function: str, dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "xlareport.runtime.worker_pool._pool", ThreadPoolExecutor
    )  # they see what is patched
    monkeypatch.setattr(f"xlareport.{function}", fail)
    done = run(dump, tmp_path, "--no-html", "--pictures", "changed")
    assert done.exit_code == 0, done.output
    assert "Traceback" not in done.output
    assert pages_and_plain(tmp_path)[1] == set()
    report = json.loads((tmp_path / "site_src/report.json").read_text())
    assert len(report["modules"]) == 2
    faults = [problem["message"] for problem in report["problems"]]
    assert faults
    assert all("could not be made: a fault of xlareport (Zero" in fault for fault in faults)


def test_a_whole_site_with_a_page_that_failed(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_files, "names_page", fail)
    done = run(dump, tmp_path, "--strict")
    assert done.exit_code == 1
    assert PLAIN in (tmp_path / "site/names.html").read_text()
    problems = tmp_path / "site" / table_file(coverage.PROBLEMS_TABLE, NO_PROBLEMS)[0]
    assert "ZeroDivisionError" in problems.read_text()
    assert PLAIN not in (tmp_path / "site/index.html").read_text()


def test_the_plain_page_is_told_and_escaped() -> None:
    faults = Faults("dump")
    files = page_files(faults, "m/x.md", "<b>x", fail)
    assert [path for path, _ in files] == ["m/x.md"]
    assert "&#60;purpose&#62;" in files[0][1]
    assert "<b>" not in files[0][1]
    assert 'href="../coverage.html#problems"' in html.unescape(files[0][1])
    assert [problem.path for problem in faults.problems] == ["dump"]


def test_a_part_that_failed_says_so_in_its_place() -> None:
    faults = Faults("dump")
    (made,) = part_payloads(faults, "m/x.md?cost", "<b>x", fail)
    assert made.key == "m/x/page-cost"
    value = decode_payload(made)
    assert PLAIN in value["html"]
    assert "<b>" not in value["html"]
    assert value["title"] == "<b>x"


def test_the_parts_of_a_page_that_failed_can_be_reached(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "xlareport.runtime.worker_pool._pool", ThreadPoolExecutor
    )  # they see what is patched
    monkeypatch.setattr("xlareport.pages.module.module_pages.module_page", fail)
    assert run(dump, tmp_path, "--no-html").exit_code == 0
    page = html.unescape((tmp_path / "site_src/m/module_0006.jit_rollout.md").read_text())
    assert PLAIN in page
    assert 'href="../m/module_0006.jit_rollout.html?cost" data-part="cost"' in page


def test_what_was_compiled_longest_ago_goes_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("old", "new"):
        templates = Environment(
            loader=DictLoader({name: name}), bytecode_cache=Compiled(), autoescape=True
        )
        assert templates.get_template(name).render() == name
    first, last = sorted(folder.rglob("*.cache"), key=lambda path: path.stat().st_mtime_ns)
    prune_compiled()
    assert first.exists()
    monkeypatch.setattr("xlareport.pages.rendering.templates._MOST_COMPILED", last.stat().st_size)
    prune_compiled()
    assert (first.exists(), last.exists()) == (False, True)
