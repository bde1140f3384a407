"""Two dumps with profiles: whose a profile is, what the pages, the JSON and the Markdown say."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import to_builtins
from msgspec.structs import replace

from xlareport.api import Report
from xlareport.cli.compare import command
from xlareport.compare import compare, compare_many
from xlareport.pages.compare.first_page import compare_page
from xlareport.pages.compare.results import markdown
from xlareport.records.budgets import check, parse_budget
from xlareport.records.compare import ComparisonRecord
from xlareport.report import BuildOptions, read_report
from xlareport.storage.payloads import read_stored_value

HLO = """HloModule jit_f, is_scheduled=true

ENTRY main {
  a = f32[64,64]{1,0} parameter(0)
  ROOT dot.1 = f32[64,64]{1,0} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def side(folder: Path, took: int, *, numbers: tuple[int, ...] = (1,), inside: bool = True) -> Path:
    """Return a dump whose dot took so many microseconds in each of three runs."""
    dump = folder / "dump"
    dump.mkdir(parents=True)
    for number in numbers:
        (dump / f"module_{number:04d}.jit_f.cpu_after_optimizations.txt").write_text(HLO)
    write_profile((dump if inside else folder) / "plugins/profile/today", took)
    return dump


def write_profile(folder: Path, took: int) -> None:
    folder.mkdir(parents=True)
    events = [
        {
            "ts": 1000 * run,
            "dur": took + run,
            "args": {"hlo_module": "jit_f", "hlo_op": "dot.1", "run_id": str(run)},
        }
        for run in range(3)
    ]
    (folder / "vm.trace.json").write_text(json.dumps({"traceEvents": events}))


def compared(base: Path, head: Path, **more: Any) -> ComparisonRecord:
    return compare(base, head, BuildOptions(jobs=1), site=False, **more).view


def test_what_became_slower(tmp_path: Path) -> None:
    view = compared(side(tmp_path / "a", 10), side(tmp_path / "b", 40))
    (module,) = view.modules
    assert module.identical
    assert module.times is not None
    assert (module.times.before, module.times.after) == (11.0, 41.0)
    assert (module.times.base_runs, module.times.head_runs, module.times.slower) == (3, 3, 1)
    (instruction,) = module.times.instructions
    assert (instruction.base, instruction.head, instruction.certain, instruction.grade) == (
        ("dot.1",),
        ("dot.1",),
        True,
        "exact",
    )
    figures = {figure.name: (figure.base, figure.head) for figure in module.figures}
    assert figures["run_nanoseconds"] == (11_000, 41_000)
    said = markdown(view)
    assert "| Measured time per run | 11 µs | 41 µs | +272.7% |" in said
    assert "dot.1 takes 30 µs more" in said
    assert json.loads(json.dumps(to_builtins(view)))["modules"][0]["times"]["slower"] == 1


def test_a_dump_against_itself_has_nothing_slower(tmp_path: Path) -> None:
    base = side(tmp_path / "a", 10, inside=False)
    view = compared(base, base)
    (module,) = view.modules
    assert module.times is not None
    assert module.times.slower == 0
    assert {
        instruction.after - instruction.before for instruction in module.times.instructions
    } == {0.0}
    assert "What became slower" not in markdown(view)


def test_a_profile_beside_both_is_of_neither(tmp_path: Path) -> None:
    place = tmp_path / "apart"  # or the dumps of other tests would lie beside this profile, too
    base, head = side(place / "a", 10), side(place / "b", 40)
    for one in (base, head):
        one.rename(place / one.parent.name / "moved")
    base, head = (place / "a/moved").rename(place / "x"), (place / "b/moved")
    head = head.rename(place / "y")
    write_profile(place / "plugins/profile/other", 90)
    view = compared(base, head)
    (module,) = view.modules
    assert module.times is not None
    assert (module.times.before, module.times.after) == (11.0, 41.0)
    assert sum("next to both dumps" in problem.message for problem in view.problems) >= 2


def test_profiles_that_are_named(tmp_path: Path) -> None:
    base, head = tmp_path / "a", tmp_path / "b"
    for one in (base, head):
        one.mkdir()
        (one / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(HLO)
    write_profile(tmp_path / "far/p", 10)
    write_profile(tmp_path / "far/q", 12)
    named = ["--profile-base", tmp_path / "far/p", "--profile-head", tmp_path / "far/q"]
    arguments = [str(one) for one in (base, head, *named, "--json", "--jobs", 1)]
    found = CliRunner().invoke(command, arguments)
    times = json.loads(found.stdout)["modules"][0]["times"]
    assert (times["before"], times["after"]) == (11.0, 13.0)


def test_modules_of_one_name_are_a_guess(tmp_path: Path) -> None:
    base = side(tmp_path / "a", 10, numbers=(1, 2))
    grades = [module.times.grade for module in compared(base, base).modules if module.times]
    assert grades == ["guessed", "guessed"]


@pytest.mark.parametrize(("budget", "broken"), [("+10%", 1), ("+500%", 0), ("20000", 1)])
def test_a_budget_on_the_time_of_a_run(tmp_path: Path, budget: str, broken: int) -> None:
    view = compared(side(tmp_path / "a", 10), side(tmp_path / "b", 40))
    found = check(view, [parse_budget(f"run_nanoseconds > {budget}")])
    assert len(found.breaches) == broken
    assert found.unchecked == ()


def test_the_page_of_the_module(tmp_path: Path) -> None:
    out = tmp_path / "out"
    base, head = side(tmp_path / "a", 10), side(tmp_path / "b", 40)
    compare(base, head, BuildOptions(out=out, jobs=1, html=False))
    page = (out / "site_src/m/module_0001.jit_f.md").read_text()
    assert "A run took 11 µs in the base and 41 µs in the head" in page
    assert "1 instruction slower outside noise" in page
    for name in ("times", "time-scopes"):
        assert read_stored_value(out / "site_src", f"m/module_0001.jit_f/{name}")["rows"]


def test_the_markdown_of_a_large_regression_is_under_60_lines(tmp_path: Path) -> None:
    base, head = tmp_path / "base", tmp_path / "head"
    for folder, size, lines in ((base, 64, 1), (head, 512, 40)):
        folder.mkdir()
        for number in range(40):
            dots = "".join(
                f"  dot.{line} = f32[{size},{size}]{{1,0}} dot(a, a), lhs_contracting_dims={{1}}, "
                "rhs_contracting_dims={0}\n"
                for line in range(lines)
            )
            text = (
                f"HloModule jit_f{number}, is_scheduled=true\n\nENTRY main {{\n"
                f"  a = f32[{size},{size}]{{1,0}} parameter(0)\n{dots}"
                f"  ROOT t = f32[{size},{size}]{{1,0}} tanh(dot.0)\n}}\n"
            )
            name = f"module_{number:04d}.jit_f{number}"
            (folder / f"{name}.before_optimizations.txt").write_text(text)
            (folder / f"{name}.cpu_after_optimizations.txt").write_text(text)
            flags = "".join(f"xla_flag_{each}: true\n" for each in range(30 * (folder == head) + 1))
            (folder / f"{name}.debug_options").write_text(flags)
    view = compared(base, head)
    broken = check(view, tuple(parse_budget(f"flops > +{each}%") for each in range(1, 30)))
    lines_of_text = markdown(replace(view, breaches=broken.breaches)).splitlines()
    assert len(view.causes) > 20
    assert len(broken.breaches) > 20
    assert 20 < len(lines_of_text) < 60


def test_dumps_have_the_main_program_of_their_reports(tmp_path: Path) -> None:
    """Two programs that only their steps tell apart: the compiler changed the second one."""
    dump = tmp_path / "dump"
    dump.mkdir()
    before = HLO.replace(
        "dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "add(a, a)"
    )
    for number, name, first in ((1, "jit_f", HLO), (2, "jit_g", before)):
        for stage, text in (("before_optimizations", first), ("cpu_after_optimizations", HLO)):
            path = dump / f"module_{number:04d}.{name}.{stage}.txt"
            path.write_text(text.replace("jit_f", name))
    options = BuildOptions(jobs=1)
    reported = read_report(dump, options).main
    assert reported is not None
    assert reported.module == "module_0002.jit_g"
    view = compared(dump, dump)
    assert view.main is not None
    assert view.main.head == reported.module
    assert {member.module for member in compare_many([dump] * 2, options, site=False)} == {"jit_g"}
    with Report(dump) as report:
        assert report.main.key == reported.module


def test_a_donation_that_only_the_header_has_is_a_cause(tmp_path: Path) -> None:
    final = HLO.replace("a, a)", "c, a)").replace("  ROOT", "  c = f32[64,64]{1,0} copy(a)\n  ROOT")
    alias = "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }"
    donor = HLO.replace("is_scheduled=true", "buffer_donor={ (0, {}) }")
    for name, before, after in (
        ("a", donor, HLO.replace("is_scheduled=true", alias)),
        ("b", HLO.replace(", is_scheduled=true", ""), final),
    ):
        (tmp_path / name).mkdir()
        for stage, text in (("before", before), ("cpu_after", after)):
            path = tmp_path / name / f"module_0001.jit_f.{stage}_optimizations.txt"
            path.write_text(text)
        options = tmp_path / name / "module_0001.jit_f.debug_options"
        options.write_text("xla_dump_hlo_as_text: true\n")
    view = compared(tmp_path / "a", tmp_path / "b")
    assert view.main is not None
    assert view.main.divergence.where == "pass"
    assert [cause.kind for cause in view.causes] == ["donation", "pass"]
    assert view.causes[0].sentence.startswith(
        "1 argument is no longer donated (16.0 KiB per device)"
    )
    assert view.causes[0].grade == "exact"


@pytest.mark.parametrize(
    ("dot", "where", "changed"),
    [
        (
            "dot(a, a), lhs",
            "header",
            (
                "The donation of arguments (the instructions of the program are the same); no "
                "change of options, device or compiler was found."
            ),
        ),
        (
            "dot(a, a), operand_precision={high,high}, lhs",
            "input",
            "The program (its input HLO); no change of options, device or compiler was found.",
        ),
    ],
)
def test_a_program_whose_header_alone_differs_is_no_other_model(
    dot: str, where: str, changed: str, tmp_path: Path
) -> None:
    """`input_output_alias` before optimizations is donation; the program does the same work."""
    final = HLO.replace("a, a)", "c, a)").replace("  ROOT", "  c = f32[64,64]{1,0} copy(a)\n  ROOT")
    alias = "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }"
    aliased = HLO.replace("is_scheduled=true", alias)
    given = HLO.replace(", is_scheduled=true", "").replace("dot(a, a), lhs", dot)
    for name, first, last in (
        ("a", aliased.replace("is_scheduled=true, ", ""), aliased),
        ("b", given, final),
    ):
        (tmp_path / name).mkdir()
        for stage, text in (("before", first), ("cpu_after", last)):
            path = tmp_path / name / f"module_0001.jit_f.{stage}_optimizations.txt"
            path.write_text(text)
    view = compared(tmp_path / "a", tmp_path / "b")
    assert view.main is not None
    assert view.main.divergence.where == where
    page = compare_page(view)
    assert page.changed == changed
    assert ("same work" in page.regression) == (where == "input")
    if where == "header":
        assert view.main.divergence.sentence == (
            "The instructions of the input HLO are the same; its header differs in "
            "`input_output_alias`."
        )
