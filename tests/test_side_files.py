"""Profiles in a dump, beside it and elsewhere, and what a report makes of them."""

import gzip
import json
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from tests.parts import part

from xlareport.dump.source import open_source
from xlareport.report import BuildOptions, build, read_report
from xlareport.runtime.errors import UnreadableInputError
from xlareport.side_files import read_profiles
from xlareport.storage.payloads import read_stored_value

HLO = """HloModule jit_f, is_scheduled=true

ENTRY main {
  a = f32[1024,1024]{1,0} parameter(0)
  ROOT dot.1 = f32[1024,1024]{1,0} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def profile(folder: Path, *ops: str) -> Path:
    """Write a trace in which each instruction of jit_f ran for a microsecond."""
    folder.mkdir(parents=True)
    events = [
        {"ts": at, "dur": 1, "args": {"hlo_module": "jit_f", "hlo_op": op, "run_id": "1"}}
        for at, op in enumerate(ops)
    ]
    text = json.dumps({"traceEvents": events})
    (folder / "vm.trace.json.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def dump(folder: Path, *numbers: int, text: str = HLO) -> Path:
    folder.mkdir()
    for number in numbers:
        name = f"module_{number:04d}.jit_f.cpu_after_optimizations.txt"
        (folder / name).write_text(text)
    return folder


def profiled(folder: Path) -> BuildOptions:
    """Return the options of a report of the profile `folder/p`, whose pages are in `folder/out`."""
    return BuildOptions(out=folder / "out", profiles=(str(folder / "p"),), html=False)


def test_a_profile_is_found_inside_and_beside_a_dump(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1)
    with open_source(place) as source:
        assert not read_profiles(source, ()).modules
    profile(tmp_path / "run/plugins/profile/today", "dot.1")
    with open_source(place) as source:
        assert set(read_profiles(source, ()).modules) == {"jit_f"}
    profile(place / "plugins/profile/today", "dot.1", "dot.1")
    with open_source(place) as source:
        profiles = read_profiles(source, ())
    assert profiles.modules["jit_f"].events == 3
    assert len(profiles.read) == 2


def test_a_profile_that_is_named_and_is_not_there(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1)
    with open_source(place) as source, pytest.raises(UnreadableInputError):
        read_profiles(source, [str(tmp_path / "nothing")])


def test_events_of_modules_that_the_dump_has_not_are_told(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1, text=HLO.replace("jit_f", "jit_g"))
    (place / "module_0001.jit_f.cpu_after_optimizations.txt").rename(
        place / "module_0001.jit_g.cpu_after_optimizations.txt"
    )
    profile(tmp_path / "p", "dot.1", "dot.1")
    report = read_report(str(place), BuildOptions(profiles=(str(tmp_path / "p"),)))
    (problem,) = report.problems
    assert problem.message == "2 events of jit_f: the dump has no such module."
    assert report.modules[0].measured is None


def test_how_far_a_large_profile_is_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xlareport.side_files._MEGABYTE", 10)
    monkeypatch.setattr("xlareport.side_files._EVENTS", 100)
    place = dump(tmp_path / "dump", 1)
    size = (profile(tmp_path / "p", *["dot.1"] * 1_000) / "vm.trace.json.gz").stat().st_size
    told: list[tuple[str, int, int]] = []
    with open_source(place) as source:
        read_profiles(source, [str(tmp_path / "p")], progress=lambda *said: told.append(said))
    assert len(told) == 11
    assert {(what, total) for what, _, total in told} == {
        ("reading profiles, megabytes", size // 10)
    }
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert told[-1][1] == size // 10


def test_what_was_measured_is_in_the_report(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1)
    profile(tmp_path / "p", "dot.1", "dot.1", "gone.7")
    options = profiled(tmp_path)
    (module,) = build(str(place), options).report.modules
    assert module.measured is not None
    assert (module.measured.events, module.measured.joined) == (3, 2)
    (slowest,) = module.measured.slowest
    assert (slowest.instruction, slowest.own, slowest.count) == ("dot.1", 2.0, 2)
    assert slowest.least is not None
    page = part(tmp_path / "out/site_src", "m/module_0001.jit_f.html?time")
    assert "1 event of 1 name that the final snapshot does not have" in page


def test_of_several_modules_the_one_with_the_instructions_has_the_times(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1)
    other = HLO.replace("dot.1", "dot.9")
    (place / "module_0002.jit_f.cpu_after_optimizations.txt").write_text(other)
    profile(tmp_path / "p", "dot.9")
    options = profiled(tmp_path)
    first, second = build(str(place), options).report.modules
    assert first.measured is None
    assert second.measured is not None
    assert second.measured.twins == second.measured.others == ()


def test_modules_that_may_have_run_as_well_are_told(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1)
    other = HLO.replace("ROOT dot.1", "dot.1").replace(
        "\n}", "\n  ROOT neg.2 = f32[1024,1024]{1,0} negate(dot.1)\n}"
    )
    (place / "module_0002.jit_f.cpu_after_optimizations.txt").write_text(other)
    profile(tmp_path / "p", "dot.1", "neg.2", "dot.1")
    options = profiled(tmp_path)
    first, second = build(str(place), options).report.modules
    assert (first.measured, first.runs) == (None, None)
    assert second.measured is not None
    assert (second.measured.joined, second.measured.others) == (3, (first.key,))
    page = part(tmp_path / "out/site_src", "m/module_0002.jit_f.html?time")
    assert "1 other module of this name may have run as well" in page


def test_modules_of_one_name_that_both_ran_have_their_times(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1)
    other = HLO.replace("dot.1", "dot.9")
    (place / "module_0002.jit_f.cpu_after_optimizations.txt").write_text(other)
    profile(tmp_path / "p", "dot.1", "dot.1", "dot.9")
    options = profiled(tmp_path)
    report = build(str(place), options).report
    found = [module.measured for module in report.modules]
    assert [one.joined for one in found if one] == [2, 1]
    assert [one.others for one in found if one] == [
        (report.modules[1].key,),
        (report.modules[0].key,),
    ]
    assert report.main is not None
    assert "by itself or with others of its name" in report.main.reasons[0]


def test_modules_that_cannot_be_told_apart_say_so(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1, 2)
    profile(tmp_path / "p", "dot.1")
    options = profiled(tmp_path)
    first, second = build(str(place), options).report.modules
    assert first.measured is not None
    assert second.measured is not None
    assert first.measured.twins == (second.key,)
    page = part(tmp_path / "out/site_src", "m/module_0001.jit_f.html?time")
    assert "1 other module of this name has these instructions as well" in page


def test_the_program_that_ran_most_is_the_main_one(unpacked: Callable[[str], Path]) -> None:
    report = read_report(unpacked("traced"), BuildOptions())
    runs = {module.name: module.runs for module in report.modules if module.runs}
    assert runs == {"jit_advance": 400, "jit_overview": 1}


def test_what_ran_speaks_for_the_main_program(dumps: Path) -> None:
    report = read_report(str(dumps / "trace-jax-cpu/trace-jax-cpu/dump"), BuildOptions())
    assert report.main is not None
    assert report.main.name == "jit_train_step"
    assert report.main.reasons[0].startswith("ran 10 times in the profile, 86.3 ms in total")


def test_events_of_too_many_runs_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlareport.analysis.profile.instruction_times.MOST_NAMES", 1)
    place = dump(tmp_path / "dump", 1)
    profile(tmp_path / "p", "dot.1", "dot.1", "gone.1")
    build(str(place), profiled(tmp_path))
    page = part(tmp_path / "out/site_src", "m/module_0001.jit_f.html?time")
    assert "1 event came after too many runs" in page


def test_the_home_page_says_what_was_measured(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1)
    profile(tmp_path / "p", "dot.1", "dot.1")
    build(str(place), profiled(tmp_path))
    page = unescape((tmp_path / "out/site_src/index.md").read_text())
    assert "1 run profiled, 2 µs long" in page
    assert "Which instructions are slowest" in page
    assert "m/module_0001.jit_f.html?time" in page


def test_runs_that_a_profile_does_not_tell_apart_are_not_counted(tmp_path: Path) -> None:
    place = dump(tmp_path / "dump", 1)
    folder = profile(tmp_path / "p", "dot.1", "dot.1")
    (trace,) = folder.iterdir()
    text = gzip.decompress(trace.read_bytes()).replace(b', "run_id": "1"', b"")
    trace.write_bytes(gzip.compress(text))
    options = profiled(tmp_path)
    (module,) = build(str(place), options).report.modules
    assert module.measured is not None
    assert (module.measured.runs, module.runs) == (None, 2)
    page = part(tmp_path / "out/site_src", "m/module_0001.jit_f.html?time")
    assert "run 2 times, to go by the instructions of its entry, but does not separate" in page


def test_the_slowest_say_who_made_them_and_what_they_do(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    build(unpacked("looped"), BuildOptions(out=tmp_path / "out", html=False))
    sites = tmp_path / "out/site_src"
    slugs = [path.name for path in sites.glob("assets/data/m/*")]
    small = [read_stored_value(sites, f"m/{slug}/small") for slug in slugs]
    tables = [stored_value["times"] for stored_value in small if "times" in stored_value]
    assert tables
    for table in tables:
        titles = [one["title"] for one in read_stored_value(sites, "columns")[table["columns"]]]
        rows = [dict(zip(titles, row, strict=True)) for row in table["rows"]]
        assert all(row["Created by"] for row in rows)
        assert any(row["FLOPs"] for row in rows)
        assert any("step=" in row["Created by"][1] for row in rows)
