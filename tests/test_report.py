"""The whole pipeline on small real dumps: report.json, addresses, pages, what is left alone."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace
from tests.parts import parts
from tests.report_files import paths_of
from tests.walks import LONG_WALKS

from xlareport.analysis import dump as analysis_dump
from xlareport.dump import duplicate_modules
from xlareport.extract import extract_texts
from xlareport.module_work import kept
from xlareport.records import report as records_report
from xlareport.records.report import ReportRecord
from xlareport.records.report_json import report_json
from xlareport.report import BuildOptions, build, read_report
from xlareport.runtime import worker_pool
from xlareport.runtime.resources import PACKAGE
from xlareport.runtime.worker_pool import InlineExecutor
from xlareport.site import kept_site
from xlareport.storage import packed_keys, spooled_values
from xlareport.storage.payloads import payload_path, read_payload

DUMPS = (
    "jax-cpu-train",
    "jax-cpu-train-allformats",
    "tpu-v5e-scan",
)

Unpack = Callable[[str], Path]


def as_json(report: ReportRecord) -> dict[str, object]:
    return json.loads(report_json(report))


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def read(unpacked: Unpack) -> Callable[[str], ReportRecord]:
    """Return a function: the name of a dump -> its report, which is read once."""
    return cache(lambda name: read_report(unpacked(name), BuildOptions()))


@pytest.fixture(scope="session")
def built(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built")
    build(unpacked("jax-cpu-train"), BuildOptions(out=out, html=False))
    return out


@pytest.mark.parametrize("name", DUMPS)
def test_report_json_is_valid_and_lists_every_file(
    name: str, unpacked: Unpack, read: Callable[[str], ReportRecord]
) -> None:
    dump, report = unpacked(name), read(name)
    schema = json.loads((PACKAGE / "records/report.schema.json").read_text())
    jsonschema.validate(as_json(report), schema)
    on_disk = {path.relative_to(dump).as_posix() for path in dump.rglob("*") if path.is_file()}
    assert {file.path for file in report.files} == on_disk
    assert sorted(paths_of(as_json(report))) == sorted(on_disk)
    assert not report.problems


def test_the_main_program_is_the_train_step(read: Callable[[str], ReportRecord]) -> None:
    report = read("jax-cpu-train")
    assert report.main is not None
    assert report.main.name == "jit_train_step"
    assert report.main.reasons
    (main,) = (one for one in report.modules if one.key == report.main.module)
    assert (main.role, main.rank, main.backend, main.frontend) == ("main", 1, "cpu", "jax")


def test_stages_count_what_changed(read: Callable[[str], ReportRecord]) -> None:
    report = read("jax-cpu-train")
    (main,) = (module for module in report.modules if module.name == "jit_train_step")
    assert main.stages[0].changed is None
    assert main.stages[0].label == "before optimizations"
    assert {stage.changed for stage in main.stages[1:]} == {True, False}
    assert all(stage.instructions for stage in main.stages)
    assert main.final.instructions == main.stages[-1].instructions
    assert main.final.flops is not None
    assert main.final.flops > 0


def test_a_marker_decides_and_one_that_is_not_found_says_so(unpacked: Unpack) -> None:
    dump = unpacked("jax-cpu-train")
    other = read_report(dump, BuildOptions(marker="threefry|rng|init_params"))
    assert other.main is not None
    assert other.main.name != "jit_train_step"
    assert "contains the marker" in other.main.reasons[0]
    none = read_report(dump, BuildOptions(marker="no such text anywhere"))
    assert none.main is not None
    assert "was found in no module" in none.main.reasons[0]


def test_the_same_dump_gives_the_same_files_again(
    built: Path, unpacked: Unpack, tmp_path: Path
) -> None:
    build(unpacked("jax-cpu-train"), BuildOptions(out=tmp_path, html=False))
    assert files_of(tmp_path / "site_src") == files_of(built / "site_src")


def test_every_module_has_its_pages(built: Path) -> None:
    report = json.loads((built / "site_src/report.json").read_text())
    steps = {address for address, _ in parts(built / "site_src") if address.endswith("?steps")}
    assert steps == {f"m/{module['slug']}.html?steps" for module in report["modules"]}
    for module in report["modules"]:
        assert (built / f"site_src/m/{module['slug']}.md").is_file()


def test_another_dump_in_the_same_place_removes_stale_pages_and_nothing_else(
    built: Path, unpacked: Unpack, tmp_path: Path
) -> None:
    out = shutil.copytree(built, tmp_path / "out")
    assert list((out / "site_src/m").glob("*init_params*.md"))
    mine = out / "site_src/notes.md"
    mine.write_text("# mine\n")
    build(unpacked("ipu-dot-only"), BuildOptions(out=out, html=False))
    pages = [path.name for path in (out / "site_src/m").glob("*.md")]
    assert pages
    assert not any("init_params" in name for name in pages)
    assert mine.read_text() == "# mine\n"


def test_one_hlo_file_of_any_name_is_read(unpacked: Unpack, tmp_path: Path) -> None:
    dump = unpacked("jax-cpu-train")
    (text,) = dump.glob("*jit_train_step.before_optimizations.txt")
    alone = tmp_path / "mine.text"
    alone.write_bytes(text.read_bytes())
    report = read_report(alone, BuildOptions())
    assert [module.name for module in report.modules] == ["jit_train_step"]
    assert report.modules[0].final.instructions


def test_a_file_that_is_cut_off_is_a_problem_and_not_the_end(
    unpacked: Unpack, tmp_path: Path
) -> None:
    dump = unpacked("jax-cpu-train")
    for path in dump.glob("*jit_train_step*optimizations.txt"):
        (tmp_path / path.name).write_bytes(path.read_bytes()[:-700])
    report = read_report(tmp_path, BuildOptions())
    assert report.modules[0].final.instructions
    assert report.problems
    assert all(problem.line is not None for problem in report.problems)


def test_without_pictures_the_pages_say_so(unpacked: Callable[[str], Path], tmp_path: Path) -> None:
    dump = unpacked("jax-cpu-train")
    build(dump, BuildOptions(out=tmp_path, html=False, pictures="none"))
    assert not list((tmp_path / "site_src/pictures").glob("*.svg"))
    flag = '<span class="xr-unbroken">--pictures</span> none</code>'
    assert any(flag in html.unescape(tab) for _, tab in parts(tmp_path / "site_src"))


def test_only_the_main_program_is_drawn(unpacked: Callable[[str], Path], tmp_path: Path) -> None:
    built = build(
        unpacked("jax-cpu-train"), BuildOptions(out=tmp_path, html=False, pictures="main")
    )
    assert built.report.main is not None
    main = built.report.main.module
    tabs = dict(parts(tmp_path / "site_src"))
    for one in built.report.modules:
        page = tabs.get(f"m/{one.slug}.html?graph", "")
        shown = re.findall(r'data-xr-picture="([^"]+)" data-name="([^"]+)"', page)
        assert shown or one.same_as
        for key, name in shown:
            script = (tmp_path / "site_src" / payload_path(key)).read_text("utf-8")
            [record] = read_payload(script)[1]["pictures"][name]
            assert (record["title"] == "Not drawn") == (one.key != main)


def test_pictures_of_the_main_program_are_files_too(built: Path) -> None:
    report = json.loads((built / "site_src/report.json").read_text())
    files = {path.stem for path in (built / "site_src/pictures").glob("*.svg")}
    tabs = dict(parts(built / "site_src"))
    for module in report["modules"]:
        page = tabs.get(f"m/{module['slug']}.html?graph", "")
        named = set(re.findall(r'href="\.\./pictures/([^"]+)\.svg"', html.unescape(page)))
        assert bool(named) == (module["key"] == report["main"]["module"])
        assert named <= files


def test_equal_pictures_of_other_modules_are_left_out_once(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    for path in unpacked("jax-cpu-train").glob("module_000[24]*.txt"):
        (dump / path.name).write_bytes(path.read_bytes())
        (dump / path.name.replace("module_000", "module_001")).write_bytes(path.read_bytes())
    built = build(dump, BuildOptions(out=tmp_path / "out", html=False, pictures="main"))
    assert len(built.report.modules) == 4


def test_a_large_dump_tells_equal_modules_once(
    unpacked: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicate_modules, "MANY", 2)
    dump, out = tmp_path / "dump", tmp_path / "out"
    dump.mkdir()
    files = unpacked("jax-cpu-train").glob("module_000[24]*.*")
    for path in (file for file in files if file.is_file()):
        for number in ("module_000", "module_001", "module_002"):
            shutil.copy2(path, dump / path.name.replace("module_000", number))
    report = build(dump, BuildOptions(out=out, html=False)).report
    schema = json.loads((PACKAGE / "records/report.schema.json").read_text())
    jsonschema.validate(as_json(report), schema)
    assert [one.key for one in report.modules if one.same_as is None] == [
        "module_0002.jit_train_step",
        "module_0004.jit_add",
    ]
    assert report.main is not None
    assert report.main.module == "module_0002.jit_train_step"
    first, again = (one for one in report.modules if one.id in {4, 24})
    assert again.same_as == first.key
    assert again.final == first.final
    assert [file.replace("module_002", "module_000") for file in again.files] == list(first.files)
    pages = sorted(path.name for path in (out / "site_src/m").glob(f"{again.slug}*"))
    assert pages == [f"{again.slug}.md"]
    page = (out / "site_src/m" / pages[0]).read_text("utf-8")
    assert f"{first.slug}.html" in page
    assert f'data-xr-texts="m/{again.slug}/texts"' in page
    extract_texts(out / "site_src", tmp_path / "texts")
    for path in (tmp_path / "texts").iterdir():
        assert path.read_bytes() == (dump / path.name).read_bytes()
    texts = [path.name for path in dump.glob("*.txt")]
    assert set(texts) <= {path.name for path in (tmp_path / "texts").iterdir()}


@pytest.fixture(scope="module")
def two_builds(
    unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, Path]:
    """A dump, a build of it after one of its modules changed, and a build without the first one."""
    place = tmp_path_factory.mktemp("rebuilt")
    dump, warm, cold = place / "dump", place / "warm", place / "cold"
    shutil.copytree(unpacked("jax-cpu-train"), dump)
    build(dump, BuildOptions(out=warm, html=False))
    changed = min(dump.glob("*.before_optimizations.txt"))
    changed.write_text(changed.read_text() + "\n// changed\n")
    build(dump, BuildOptions(out=warm, html=False))
    build(dump, BuildOptions(out=cold, html=False, cache_bytes=0))
    return dump, warm, cold


def test_a_rebuild_after_one_module_changed_equals_a_first_build(
    two_builds: tuple[Path, Path, Path],
) -> None:
    _, warm, cold = two_builds
    assert list((warm / ".cache/xlareport/modules").glob("*/*.kept"))
    assert not (cold / ".cache/xlareport/modules").exists()
    assert files_of(warm / "site_src") == files_of(cold / "site_src")


def test_a_rebuild_reads_no_module_again(
    two_builds: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    dump, warm, cold = two_builds

    def process(files: object, *_: object) -> None:
        raise AssertionError(f"{files} was read again")

    monkeypatch.setattr(kept, "process_module", process)
    monkeypatch.setattr(worker_pool, "_pool", lambda _: InlineExecutor())
    build(dump, BuildOptions(out=warm, html=False))
    assert files_of(warm / "site_src") == files_of(cold / "site_src")


def test_altered_entries_and_a_killed_build_change_nothing(
    two_builds: tuple[Path, Path, Path],
) -> None:
    dump, warm, cold = two_builds
    entries = sorted((warm / ".cache/xlareport/modules").glob("*/*.kept"))
    for entry in entries[::2]:
        entry.write_bytes(entry.read_bytes()[:-5] + b"<bad>")
    entries[1].unlink()
    program = [sys.executable, "-m", "xlareport", "build", str(dump), "--no-html", "--out"]
    with subprocess.Popen([*program, str(warm)], stdout=subprocess.DEVNULL) as builder:
        while builder.poll() is None and len(wanted := _whole(entries)) < len(entries) // 2:
            del wanted
        builder.kill()
    build(dump, BuildOptions(out=warm, html=False))
    assert files_of(warm / "site_src") == files_of(cold / "site_src")


def without_the_main_program(dump: Path) -> None:
    for path in dump.glob("*.jit_train_step.*"):
        path.unlink()


def with_a_recompilation(dump: Path) -> None:
    for path in dump.glob("module_0000.*"):
        shutil.copy2(path, dump / path.name.replace("module_0000", "module_0001"))


def with_another_order(dump: Path) -> None:
    for path in dump.glob("module_0000.*"):
        path.rename(dump / path.name.replace("module_0000", "module_0099"))


def with_later_files(dump: Path) -> None:
    for path in dump.glob("module_0000.*"):
        os.utime(path, (path.stat().st_mtime + 3600,) * 2)


RELATED = (
    with_a_recompilation,
    with_later_files,
    without_the_main_program,
    with_another_order,
)


def test_pages_of_unchanged_modules_follow_the_others(unpacked: Unpack, tmp_path: Path) -> None:
    """Each change is of one module and moves others: their neighbors, ranks, roles, findings."""
    dump, warm = tmp_path / "dump", tmp_path / "warm"
    dump.mkdir()
    for path in unpacked("jax-cpu-train").glob("module_000[024]*optimizations.txt"):
        shutil.copy2(path, dump)
    build(dump, BuildOptions(out=warm))
    for number, change in enumerate(RELATED if LONG_WALKS else RELATED[::2]):
        change(dump)
        cold = tmp_path / f"cold-{number}"
        build(dump, BuildOptions(out=cold, cache_bytes=0))
        build(dump, BuildOptions(out=warm, jobs=1 + number % 2))
        for folder in ("site_src", "site"):
            assert files_of(warm / folder) == files_of(cold / folder), change


def with_a_new_pass(dump: Path) -> None:
    for path in dump.glob("module_0000.*.before_algsimp.txt"):
        path.rename(path.with_name(path.name.replace("algsimp", "of-another-release")))


def with_a_new_opcode(dump: Path) -> None:
    (path,) = dump.glob("module_0000.*.cpu_after_optimizations.txt")
    path.write_text(re.sub(r" sine\(", " another-op(", path.read_text()))


def with_another_kind_of_file(dump: Path) -> None:
    (dump / "module_0000.jit_init_params.notes.txt").write_text("notes")


def test_a_rebuild_after_names_changed_equals_a_first_build(
    two_builds: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_site, "user_folder", lambda: tmp_path / "of-user")
    dump = shutil.copytree(two_builds[0], tmp_path / "dump")
    warm = tmp_path / "warm"
    for number, change in enumerate(
        (Path.exists, with_a_new_pass, with_a_new_opcode, with_another_kind_of_file)
    ):
        change(dump)
        cold = tmp_path / f"cold-{number}"
        build(dump, BuildOptions(out=cold, html=False, cache_bytes=0))
        build(dump, BuildOptions(out=warm, html=False, jobs=1 + number % 2))
        assert files_of(warm / "site_src") == files_of(cold / "site_src"), change
    assert list((tmp_path / "of-user/guide").glob("*/*.kept"))


def test_what_is_kept_of_a_build_without_html_has_a_limit(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_site, "user_folder", lambda: tmp_path / "of-user")
    monkeypatch.setattr(kept_site, "_MOST_OF_GUIDE", 1)
    build(data / "truncated", BuildOptions(out=tmp_path / "out", html=False))
    assert not [*tmp_path.glob("of-user/guide/*/*.kept")]


@pytest.mark.parametrize(
    "options",
    [
        BuildOptions(html=False, marker="sine"),
        BuildOptions(html=False, pictures="none"),
        BuildOptions(html=False, name="another name"),
    ],
)
def test_a_rebuild_with_other_options_equals_a_first_build(
    two_builds: tuple[Path, Path, Path], tmp_path: Path, options: BuildOptions
) -> None:
    dump, warm, cold = two_builds[0], tmp_path / "warm", tmp_path / "cold"
    shutil.copytree(two_builds[1], warm)
    build(dump, replace(options, out=warm))
    build(dump, replace(options, out=cold, cache_bytes=0))
    assert files_of(warm / "site_src") == files_of(cold / "site_src")


def _whole(entries: list[Path]) -> list[Path]:
    """Return those of the entries that are there and were not altered."""
    return [entry for entry in entries if (kept := _bytes(entry)) and not kept.endswith(b"<bad>")]


def _bytes(path: Path) -> bytes:
    """Return the bytes of a file, none where the build that is running has just removed it."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def test_results_in_a_file_give_the_same_site(
    unpacked: Unpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = []
    for resident, small in ((0, 0), (0, 1_000), (1_000, 1_000)):
        monkeypatch.setattr(spooled_values, "SMALL_DUMP", -1)
        monkeypatch.setattr(spooled_values, "RESIDENT", resident)
        for module in (packed_keys, analysis_dump, records_report):
            monkeypatch.setattr(module, "SMALL_RESIDENT", small)
        out = tmp_path / f"{resident}-{small}"
        build(unpacked("jax-cpu-two-runs"), BuildOptions(out=out, html=False))
        sites.append(files_of(out / "site_src"))
    assert sites[0] == sites[1] == sites[2]
