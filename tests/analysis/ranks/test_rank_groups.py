"""Whole dumps of ranks: what differs is named exactly, what is equal is read once."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.analysis import texts
from tests.analysis.conftest import Compile
from tests.analysis.ranks.program import KEY, STAGES, Edit, replaced, swapped, write_ranks

from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.ranks.members import list_ranks
from xlareport.analysis.ranks.rank_groups import RankGroup, group_ranks
from xlareport.analysis.ranks.verdicts import RankDifference
from xlareport.dump.grouping import group
from xlareport.records.report import ReportRecord
from xlareport.report import BuildOptions, read_report
from xlareport.runtime.worker_pool import InlineExecutor

BEFORE, FUSED, AFTER = STAGES


def report_of(root: Path, edits: dict[int, dict[str, Edit]], ranks: int = 4) -> ReportRecord:
    report = read_report(write_ranks(root, ranks, edits), BuildOptions())
    assert report.problems == ()
    return report


def only_group(report: ReportRecord) -> RankGroup:
    (found,) = report.rank_groups
    return found


def difference(root: Path, edit: Edit, *stages: str) -> RankDifference:
    report = report_of(root, {2: dict.fromkeys(stages, edit)})
    found = only_group(report)
    assert [*map(str, found.ranks)] == ["1-2,4", "3"]
    assert found.first is not None
    assert found.verdict is found.first.verdict
    assert found.first.ranks == ("rank_2",)
    assert found.first.module == found.modules[1]
    return found.first


def test_equal_ranks_are_one_module(tmp_path: Path) -> None:
    report = report_of(tmp_path, {}, ranks=12)
    assert [module.key for module in report.modules] == [KEY]
    assert str(report.modules[0].ranks) == "1-12"
    assert report.processes == 12
    assert report.ranks[:3] == ("rank_0", "rank_1", "rank_2")
    assert report.dump.files == 12 * 4
    found = only_group(report)
    assert ([*map(str, found.ranks)], found.verdict, found.first, found.collectives) == (
        ["1-12"],
        "same",
        None,
        2,
    )


def test_an_id_of_a_callback_is_harmless(tmp_path: Path) -> None:
    found = difference(tmp_path, replaced("index = 12", "index = 13"), *STAGES)
    assert (found.verdict, found.kind, found.step) == ("harmless", "ids", "before optimizations")
    assert (found.computation, found.instruction, found.attribute) == (
        "main",
        "call",
        "backend_config",
    )
    assert (found.value, found.reference_value) == ("{index = 13 : ui64}", "{index = 12 : ui64}")


@pytest.mark.parametrize(
    ("old", "new", "kind", "attribute"),
    [
        ("%call", "%call.77", "names", "name"),
        ('op_name="jit(step)/psum"', 'op_name="jit(step)/other"', "metadata", "metadata"),
        ("channel_id=2", "channel_id=9", "ids", "channel_id"),
        ("%fused", "%fused.clone", "names", "calls"),
    ],
)
def test_names_and_notes_are_harmless(
    tmp_path: Path, old: str, new: str, kind: str, attribute: str
) -> None:
    found = difference(tmp_path, replaced(old, new), FUSED, AFTER)
    assert (found.verdict, found.kind, found.attribute) == ("harmless", kind, attribute)
    assert found.step == "0002 fusion: after fusion, before dce"


DECISIONS = """fusion_steps {
  fusion {
    fusion_name: "fusion.1"
    producer_name: "call"
    consumer_name: "reduce"
  }
}
"""


def with_decisions(root: Path, edit: Edit, *stages: str) -> RankDifference:
    write_ranks(root, 4, {2: dict.fromkeys(stages, edit)})
    for rank in range(4):
        place = root / f"rank_{rank}" / f"{KEY}.priority_fusion_dump.txt"
        place.write_text(edit(DECISIONS) if rank == 2 else DECISIONS)
    found = only_group(read_report(root, BuildOptions())).first
    assert found is not None
    return found


def test_a_name_that_other_files_have_as_well_is_harmless(tmp_path: Path) -> None:
    def edit(text: str) -> str:
        return text.replace("%call", "%call.7").replace('"call"', '"call.7"')

    renamed = with_decisions(tmp_path, edit, *STAGES)
    assert (renamed.verdict, renamed.kind, renamed.instruction) == ("harmless", "names", "call.7")
    assert renamed.decision == ""


def test_a_decision_of_the_fusion_pass_alone_is_told(tmp_path: Path) -> None:
    found = with_decisions(tmp_path, lambda text: text.replace('"call"', '"gather"'))
    assert (found.verdict, found.kind, found.instruction) == ("numbers", "fusion", "gather")
    assert found.decision.startswith("decision 1: fusion of gather into reduce; most ranks:")


RESULTS = """version: 3
results {
  device: "CUDA: 9.0"
  hlo: "(f32[64]) dot"
  result {
    run_time {
      nanos: 7000
    }
    triton {
      block_m: 64
      block_n: 32
    }
  }
}
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("block_n: 32", "block_n: 128", ("numbers", "autotuning")),
        ("nanos: 7000", "nanos: 7133", ("harmless", "times")),
        ("  result {", "  result { [", ("numbers", "autotuning")),
    ],
)
def test_choices_of_the_autotuner_are_compared_not_times(
    tmp_path: Path, old: str, new: str, told: tuple[str, str]
) -> None:
    write_ranks(tmp_path, 4, {})
    for rank in range(4):
        text = RESULTS.replace(old, new) if rank == 2 else RESULTS
        (tmp_path / f"rank_{rank}" / f"{KEY}.autotune_results.pbtxt").write_text(text)
    found = only_group(read_report(tmp_path, BuildOptions())).first
    assert found is not None
    assert (found.verdict, found.kind, found.ranks) == (*told, ("rank_2",))
    if new == "block_n: 128":
        assert found.decision == (
            "Triton block_m=64 block_n=128 for (f32[64]) dot; "
            "most ranks: Triton block_m=64 block_n=32"
        )


@pytest.mark.parametrize("mark", ["rank{}_", "node-{}.", "{}-"])
def test_ranks_whose_files_have_a_prefix_in_one_folder(tmp_path: Path, mark: str) -> None:
    write_ranks(tmp_path / "apart", 4, {2: {AFTER: swapped}})
    together = tmp_path / "together"
    together.mkdir()
    for file in (tmp_path / "apart").rglob("*.*"):
        file.rename(together / f"{mark.format(file.parent.name[-1])}{file.name}")
    report = read_report(together, BuildOptions())
    assert report.problems == ()
    found = only_group(report)
    assert ([*map(str, found.ranks)], found.verdict) == (["1-2,4", "3"], "dangerous")
    assert found.first is not None
    assert found.first.ranks == (mark.format(2)[:-1],)
    assert report.processes == 4


def test_links_of_a_module_that_one_rank_alone_has(tmp_path: Path) -> None:
    programs = {
        0: ("init", texts.INIT),
        2: ("train", texts.train()),
        4: ("eval", texts.evaluate()),
    }
    for rank in range(3):
        folder = tmp_path / f"rank_{rank}"
        folder.mkdir()
        for at, (name, body) in programs.items():
            if name == "eval" and rank != 1:
                continue
            text = f"HloModule jit_{name}\n\nENTRY %main {{\n{body}\n}}\n"
            number = at + 6 * rank  # a rank that logs something has other numbers
            file = f"module_{number:04d}.jit_{name}.before_optimizations.txt"
            (folder / file).write_text(text)
    report = read_report(tmp_path, BuildOptions())
    pairs = [(link.source.split(".")[1], link.target.split(".")[1]) for link in report.links]
    assert ("jit_train", "jit_eval") in pairs
    assert pairs.count(("jit_init", "jit_train")) == 1
    ranks = {module.name: str(module.ranks) for module in report.modules}
    assert (ranks["jit_train"], ranks["jit_eval"]) == ("1-3", "2")


def test_a_constant_of_a_rank_is_device_local(tmp_path: Path) -> None:
    found = difference(tmp_path, replaced("constant(3)", "constant(5)"), *STAGES)
    assert (found.verdict, found.instruction, found.value) == ("device-local", "rank", "5")


def test_another_order_of_collectives_is_dangerous(tmp_path: Path) -> None:
    found = difference(tmp_path, swapped, AFTER)
    assert (found.verdict, found.kind, found.step) == (
        "dangerous",
        "collectives",
        "after optimizations",
    )
    assert (found.instruction, found.reference_instruction) == ("gather", "reduce")
    assert found.attribute == "collective 1 in order"


def test_an_order_that_scheduling_mends_is_not_dangerous(tmp_path: Path) -> None:
    found = difference(tmp_path, swapped, BEFORE)
    assert (found.verdict, found.kind) == ("numbers", "program")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("replica_groups=[2,4]<=[8]", "replica_groups=[4,2]<=[8]"),
        ("f32[64]{0} all-reduce(%fusion.1)", "f16[64]{0} all-reduce(%fusion.1)"),
        ("all-gather(%x)", "all-to-all(%x)"),
    ],
)
def test_other_groups_types_and_kinds_are_dangerous(tmp_path: Path, old: str, new: str) -> None:
    assert difference(tmp_path, replaced(old, new), AFTER).verdict == "dangerous"


def test_groups_in_another_notation_are_the_same_groups(tmp_path: Path) -> None:
    edit = replaced("replica_groups=[2,4]<=[8]", "replica_groups={{0,1,2,3},{4,5,6,7}}")
    assert difference(tmp_path, edit, AFTER).verdict == "numbers"


def test_another_fusion_is_a_matter_of_numbers_and_speed(tmp_path: Path) -> None:
    found = difference(tmp_path, replaced("tanh(%p)", "exponential(%p)"), FUSED, AFTER)
    assert (found.verdict, found.kind, found.computation) == ("numbers", "fusion", "fused")
    assert (found.instruction, found.attribute, found.value) == ("t", "opcode", "exponential")
    assert found.step == "0002 fusion: after fusion, before dce"


def test_another_layout_is_a_matter_of_numbers_and_speed(tmp_path: Path) -> None:
    found = difference(tmp_path, replaced("f32[128]{0} all", "f32[128]{0:T(128)} all"), AFTER)
    assert (found.verdict, found.kind, found.instruction) == ("numbers", "layout", "gather")


def test_stages_of_a_pipeline_do_not_differ(tmp_path: Path) -> None:
    """The same function over other devices, and other operations: programs of their own."""

    def stage(text: str) -> str:
        text = text.replace("[2,4]<=[8]", "{{8,9},{10,11}}").replace("tanh", "exponential")
        return text.replace("{{0,1},{2,3},{4,5},{6,7}}", "{{8,9},{10,11}}")

    report = report_of(tmp_path, dict.fromkeys((2, 3), dict.fromkeys(STAGES, stage)))
    assert [found.verdict for found in report.rank_groups] == ["same", "same"]
    assert [[*map(str, found.ranks)] for found in report.rank_groups] == [["1-2"], ["3-4"]]
    assert not any(found.missing for found in report.rank_groups)


def test_ranks_with_missing_modules_are_told(tmp_path: Path) -> None:
    root = write_ranks(tmp_path, 8, {})
    for rank in range(8):
        for stage in STAGES:
            other = root / f"rank_{rank}" / f"module_0003.jit_eval.{stage}.txt"
            if rank not in (3, 5):
                text = (root / "rank_0" / f"{KEY}.{stage}.txt").read_text()
                other.write_text(text.replace("jit_step", "jit_eval").replace("tanh", "log"))
    found = {each.name: each for each in read_report(root, BuildOptions()).rank_groups}
    step, evaluation = found["jit_step"], found["jit_eval"]
    assert (str(step.missing), [*map(str, step.ranks)]) == ("", ["1-8"])
    assert (str(evaluation.missing), [*map(str, evaluation.ranks)]) == ("4,6", ["1-3,5,7-8"])


def test_a_module_that_cannot_be_compared_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("xlareport.analysis.ranks.difference.list_differences", broken)
    # a worker would not have the broken function
    monkeypatch.setattr("xlareport.runtime.worker_pool._pool", lambda _: InlineExecutor())
    root = write_ranks(tmp_path, 2, {1: {AFTER: replaced("tanh", "log")}})
    report = read_report(root, BuildOptions())
    assert [found.verdict for found in report.rank_groups] == ["unknown"]
    assert any("could not be compared" in problem.message for problem in report.problems)


REDUCE = """\
  %x = f32[8]{0} parameter(0)
  %a = f32[8]{0} all-reduce(%x), replica_groups={{0,1}}, to_apply=%sum
  %g = f32[16]{0} all-gather(%x), replica_groups={{0,1}}, dimensions={0}
  ROOT %both = (f32[8]{0}, f32[16]{0}) tuple(%a, %g)"""


def other_process(one: ModuleSummary, *, turned: bool) -> ModuleSummary:
    calls = one.features.collectives[:: -1 if turned else 1]
    files = replace(one.files, key=f"{one.files.key}~2", folder="other")
    return replace(one, files=files, features=replace(one.features, collectives=calls))


@pytest.mark.parametrize("turned", [False, True])
def test_the_order_of_collectives_is_compared_first(compiled: Compile, *, turned: bool) -> None:
    (one,) = compiled({"module_0000.jit_step.before_optimizations.txt": REDUCE})
    both = [one, other_process(one, turned=turned)]
    (rank,) = group_ranks(both, list_ranks(both, group([])))
    assert len(rank.modules) == 2
    assert rank.verdict == "unknown"
    assert [each.what for each in rank.differences] == (
        ["collective 1 in order", "collective 2 in order"] if turned else []
    )


def test_one_process_has_no_ranks(compiled: Compile) -> None:
    files = {f"module_000{at}.jit_step.before_optimizations.txt": REDUCE for at in (0, 2)}
    found = compiled(files)
    assert group_ranks(found, list_ranks(found, group([]))) == ()


def test_modules_extracted_for_autotuning_are_not_paired_by_their_numbers(tmp_path: Path) -> None:
    body = "ENTRY %main {\n  %a = f32[8] parameter(0)\n  ROOT %b = f32[8] OPCODE(%a)\n}\n"
    for rank, opcode in enumerate(("negate", "tanh")):
        folder = tmp_path / f"rank_{rank}"
        folder.mkdir()
        whole = f"HloModule jit_f\n\n{body.replace('OPCODE', 'sine')}"
        piece = f"HloModule fused_reduce\n\n{body.replace('OPCODE', opcode)}"
        (folder / "module_0001.jit_f.before_optimizations.txt").write_text(whole)
        (folder / "module_0002.fused_reduce.0000.p.after_a.before_b.txt").write_text(piece)
    report = read_report(tmp_path, BuildOptions())
    assert [group.name for group in report.rank_groups] == ["jit_f"]
