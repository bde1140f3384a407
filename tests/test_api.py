"""The library does what the guide says: its examples run as they stand there."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import xlareport
from xlareport.analysis.history import instruction
from xlareport.report import BuildOptions, read_report
from xlareport.runtime.errors import UnknownNameError, UnreadableInputError
from xlareport.runtime.resources import find_resource

Unpack = Callable[[str], Path]


@pytest.fixture(scope="module")
def report(unpacked: Unpack) -> xlareport.Report:
    return xlareport.read(unpacked("jax-cpu-train"))


def test_the_examples_of_the_guide_run(
    unpacked: Unpack,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "dump").symlink_to(unpacked("jax-cpu-train"))
    monkeypatch.chdir(tmp_path)
    page = (find_resource("site_src") / "guide" / "library.md").read_text("utf-8")
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 8
    for example in examples:
        exec(compile(example, "library.md", "exec"), names)  # noqa: S102 - our own pages

    said = capsys.readouterr().out
    assert "of them temp" in said
    assert "HloModule jit_train_step." in said


def test_modules_are_found_by_name_and_key(report: xlareport.Report) -> None:
    assert report["jit_rollout"] is report["module_0006.jit_rollout"]
    assert report.main.name == "jit_train_step"
    with pytest.raises(UnknownNameError, match="jit_train_step"):
        report["jit_nope"]


def test_a_module_knows_its_snapshots(report: xlareport.Report) -> None:
    module = report["jit_train_step"]

    assert module.first.key == "before_optimizations"
    assert module.final.key == "after_optimizations"
    assert len(module.steps) == len(module.stages) - 1
    assert module.problems == ()
    assert {one.opcode for one in module.final.instructions(opcode="fusion")} == {"fusion"}
    assert module.final.instructions(op_name="^no such op$") == ()


def test_history_runs_from_birth_to_end(report: xlareport.Report) -> None:
    events = report["jit_train_step"].history("%ynn_fusion.2")

    assert [str(one.event) for one in events][-1] == "in the last snapshot"
    with pytest.raises(UnknownNameError):
        report["jit_train_step"].history("%nope")


def test_what_was_read_outlives_the_archive() -> None:
    packed = Path(__file__).parent / "data" / "tf-add-multiply.tar.zst"
    with xlareport.read(packed) as report:
        main = report.main
        count = len(main.final.instructions())

    assert count == len(main.final.instructions()) > 0


def test_what_is_no_dump_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError):
        xlareport.read(tmp_path / "nope")
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(UnreadableInputError, match="holds no module"):
        _ = xlareport.read(tmp_path).main


def test_an_instruction_knows_its_line_through_stack_frames(unpacked: Unpack) -> None:
    with xlareport.read(unpacked("jax-cpu-train")) as report:
        snapshot = report.main.final
        (place,) = {each.source for each in snapshot.instructions(op_name=r"jvp\(loss\)/mul$")}
        (first, *_) = snapshot.instructions(op_name=r"jvp\(loss\)/mul$")
        plain = snapshot.hlo.by_name[snapshot.table().columns["computation"][0]].instructions[0]

    assert place is not None
    assert (place.short, place.function) == ("jax_train.py:34", "loss_of")
    assert first.metadata.stack_frame_id is not None
    assert first.source == snapshot.source_of(first)
    assert first is snapshot.instructions(op_name=r"jvp\(loss\)/mul$")[0]
    assert not hasattr(plain, "source")


def test_reprs_are_short(report: xlareport.Report) -> None:
    module = report.main
    for value in (
        *(report, module, module.final, module.final.hlo, module.read, module.files),
        *(module.summary, module.steps[0], module.final.computations[0]),
        *(module.final.instructions()[0], *module.memory.top_buffers(3), module.memory),
    ):
        assert len(repr(value)) < 160, type(value)


def test_tables_have_every_module_step_and_instruction(report: xlareport.Report) -> None:
    modules, steps, instructions = (
        *(report.table(), report.main.steps_table()),
        report.main.final.table(),
    )

    assert list(modules.columns["module"]) == [module.key for module in report.modules]
    assert len(steps) == len(report.main.steps)
    assert len(instructions) == len(report.main.final.instructions())
    cost = report.main.final.cost
    unfused = [row for row in instructions if row["opcode"] != "fusion"]
    assert sum(int(row["flops"] or 0) for row in unfused) == cost.flops


def test_what_dir_lists_is_there_and_former_names_warn(report: xlareport.Report) -> None:
    assert all(getattr(xlareport, name) is not None for name in dir(xlareport))
    with pytest.warns(DeprecationWarning, match="called xlareport.Snapshot"):
        assert xlareport.Stage is xlareport.Snapshot
    with pytest.warns(DeprecationWarning, match=r"called memory\.top_buffers"):
        assert report.main.top_buffers(2) == report.main.memory.top_buffers(2)
    errors = [name for name in dir(xlareport) if name.endswith("Error")]
    assert all(issubclass(getattr(xlareport, name), xlareport.XlareportError) for name in errors)


def test_show_writes_one_file_and_says_where_it_is(
    report: xlareport.Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report.show(tmp_path / "report.html")
    assert capsys.readouterr().out == f"{tmp_path / 'report.html'}\n"
    assert "data-xr-single" in (tmp_path / "report.html").read_text("utf-8")


def test_a_module_is_matched_once_for_all_of_its_histories(
    unpacked: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with xlareport.read(unpacked("jax-cpu-train")) as report:
        module = report["jit_train_step"]
        first = module.history("%ynn_fusion.2")
        monkeypatch.setattr(instruction, "match", None)
        assert module.history("%ynn_fusion.2") == first
        assert module.history("%ynn_fusion.1")


def test_modules_and_main_program_are_those_of_the_report(unpacked: Unpack, tmp_path: Path) -> None:
    two_runs = unpacked("jax-cpu-two-runs")
    ranks = tmp_path / "ranks"
    for rank in range(2):
        shutil.copytree(two_runs, ranks / f"rank_{rank}")
    for dump in (two_runs, ranks, unpacked("traced")):
        written = read_report(dump, BuildOptions())
        with xlareport.read(dump) as report:
            assert [module.key for module in report.modules] == [
                module.key for module in written.modules
            ]
            assert written.main is not None
            assert report.main.key == written.main.module
            assert report.recompilations == tuple(written.retrace_groups)
            rows = [(row["module"], row["flops"]) for row in report.table()]
            assert rows == [(module.key, module.final.flops) for module in written.modules]
