"""All steps taken together: growth, numbers that may change, circles, idle passes, times."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from xlareport.analysis.cost.work import Costs
from xlareport.analysis.matching.pairing import Grade
from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.passes.busiest import rank_busiest
from xlareport.analysis.passes.growth import measure_growth
from xlareport.analysis.passes.idle import find_idle_passes
from xlareport.analysis.passes.oscillation import Again, find_oscillations
from xlareport.analysis.passes.overview import summarize_passes
from xlareport.analysis.passes.times import (
    StepTime,
    pass_times,
    pipelines_of,
    refine_boundaries,
    step_times,
)
from xlareport.analysis.steps.boundaries import boundaries
from xlareport.analysis.steps.numbers_changed import ORDER, PRECISION, TYPE, numbers_changed
from xlareport.analysis.steps.step import step
from xlareport.dump.classify import classify
from xlareport.dump.modules import Artifact, SnapshotFiles, group
from xlareport.dump.source import Entry
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.readers.pass_metadata import ModuleMetadata, read_pass_metadata
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]

FILES = (
    "module_0001.f.0000.p.after_pipeline-start.before_a.txt",
    "module_0001.f.0001.p.after_a.before_b.txt",
    "module_0001.f.0002.p.after_b.before_pipeline-end.txt",
)


def modules(*bodies: str) -> list[HloModule]:
    reader = TextReader()
    found = []
    for body in bodies:
        text = (
            "HloModule m\n\nENTRY %main (x: f32[8,4]) -> f32[8] {\n"
            f"  %x = f32[8,4]{{1,0}} parameter(0)\n{body}\n}}\n"
        )
        read = reader.read(text.encode(), "m.txt")
        assert read is not None
        found.append(read)
    return found


def dot(attributes: str = "", kind: str = "f32") -> str:
    dims = "lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}"
    return f"  ROOT %d = {kind}[] dot(%x, %x), {dims}{attributes}"


def stages() -> tuple[SnapshotFiles, ...]:
    names = classify(FILES)
    found = group(
        [Artifact(Entry(p, 9, None, Path(p)), n) for p, n in zip(FILES, names, strict=True)]
    )
    return found.modules[0].stages


def metadata() -> ModuleMetadata:
    runs = (
        ("pipeline-start", "p", 10, 20, FILES[0], ""),
        ("a", "p", 20, 30, FILES[1], "module_changed: true"),
        ("quiet", "p", 30, 31, None, ""),
        ("inner", "p", 31, 50, None, "module_changed: true"),
        ("b", "inner", 35, 45, FILES[2], "module_changed: true"),
        ("quiet", "p", 50, 52, None, ""),
    )
    text = "".join(
        f'pass_metadata {{\n  pass_id: {number}\n  pass_name: "{name}"\n'
        f'  pipeline_name: "{pipeline}"\n  start_timestamp_usec: {start}\n'
        f"  end_timestamp_usec: {end}\n  {changed}\n"
        + (f'  dump_filenames: "/dump/{file}"\n' if file else "")
        + "}\n"
        for number, (name, pipeline, start, end, file, changed) in enumerate(runs, 1)
    )
    read, problems = read_pass_metadata(text.encode(), "module_0001.metadata.textproto")
    assert read is not None
    assert problems == []
    return read


def test_a_precision_and_a_type_are_told() -> None:
    before, precise, narrow = modules(
        dot(), dot(", operand_precision={high,high}"), dot("", "bf16")
    )
    (found,) = numbers_changed(step(before, precise))
    assert (found.what, found.count) == (PRECISION, 1)
    assert found.grade is not Grade.GUESSED
    assert "operand_precision: none → {high,high}" in found.example
    (found,) = numbers_changed(step(before, narrow))
    assert found.what == TYPE
    assert found.example == "`%d` in `main`: f32 → bf16"


def test_a_sum_in_another_order_is_told_and_integers_are_not() -> None:
    def over(dims: str, kind: str = "f32") -> str:
        return f"  %y = {kind}[8,4]{{1,0}} convert(%x)\n  ROOT %d = {kind}[] dot(%y, %y), {dims}"

    one = "lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}"
    other = "lhs_contracting_dims={1,0}, rhs_contracting_dims={1,0}"
    before, after = modules(over(one), over(other))
    (found,) = numbers_changed(step(before, after))
    assert found.what == ORDER
    assert numbers_changed(step(*modules(over(one, "s32"), over(other, "s32")))) == ()
    assert numbers_changed(step(before, before)) == ()


def test_a_snapshot_that_is_back_is_seen_and_one_that_stays_is_not() -> None:
    there = "  %n = f32[8,4]{1,0} negate(%x)\n  ROOT %r = f32[8,4]{1,0} add(%x, %n)"
    back = "  ROOT %r = f32[8,4]{1,0} subtract(%x, %x)"
    first, second = modules(there, back)
    assert find_oscillations([first, first, second]) == ()
    assert find_oscillations([first, first, second, second, first]) == (Again(4, 1, None),)


def test_a_computation_that_is_back_in_another_module_is_seen() -> None:
    called = (
        "%g (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n"
        "  %q = f32[8]{0} OP(%p)\n  ROOT %s = f32[8]{0} add(%p, %q)\n}\n"
    )
    entry = (
        "ENTRY %main (x: f32[8]) -> f32[8] {\n  %x = f32[8]{0} parameter(0)\n"
        "  ROOT %NAME = f32[8]{0} call(%x), to_apply=%g\n}\n"
    )
    reader = TextReader()
    found = []
    for opcode, name in (("negate", "a"), ("cosine", "b"), ("negate", "c")):
        text = f"HloModule m\n\n{called.replace('OP', opcode)}\n{entry.replace('NAME', name)}"
        read = reader.read(text.encode(), "m.txt")
        assert read is not None
        found.append(read)
    assert find_oscillations(found) == (Again(2, 0, "g"),)


def test_growth_counts_each_snapshot() -> None:
    small, large = measure_growth(
        modules(dot(), "  %n = f32[8,4]{1,0} negate(%x)\n" + dot()), Costs()
    )
    assert (small.instructions, large.instructions) == (2, 3)
    assert small.flops is not None
    assert large.flops == small.flops + 32


def test_the_ends_are_counted_however_large_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlareport.analysis.passes.growth._BUDGET", 0)
    lines = [f"  %n{number} = f32[8,4]{{1,0}} negate(%x)\n" for number in range(3)]
    grown = modules(*("".join(lines[:count]) + dot() for count in range(4)))
    found = measure_growth(grown, Costs())
    assert [one.flops is not None for one in found] == [True, False, False, True]


def test_what_a_fusion_takes_in_keeps_its_numbers() -> None:
    apart = "  %n = f32[8,4]{1,0} negate(%x)\n  ROOT %c = bf16[8,4]{1,0} convert(%n)"
    called = (
        "%f (p: f32[8,4]) -> bf16[8,4] {\n  %p = f32[8,4]{1,0} parameter(0)\n"
        "  %n = f32[8,4]{1,0} negate(%p)\n  ROOT %c = bf16[8,4]{1,0} convert(%n)\n}\n\n"
    )
    (before,) = modules(apart)
    read = TextReader().read(
        f"HloModule m\n\n{called}ENTRY %main (x: f32[8,4]) -> bf16[8,4] {{\n"
        "  %x = f32[8,4]{1,0} parameter(0)\n"
        "  ROOT %fusion = bf16[8,4]{1,0} fusion(%x), kind=kLoop, calls=%f\n}\n".encode(),
        "m.txt",
    )
    assert read is not None
    assert numbers_changed(step(before, read)) == ()


def _done(added: int, removed: int, modified: int, weight: float) -> StepSummary:
    return StepSummary(
        changed=True, added=added, removed=removed, modified=modified, headline="", weight=weight
    )


def test_the_passes_that_changed_what_is_heavy_come_first_and_nobodys_changes_are_kept() -> None:
    between = boundaries(stages(), [False, False])
    steps = [None, _done(5, 0, 4, 1.0), _done(1, 2, 0, 40.0)]
    first, second = rank_busiest(between, steps)
    assert (first.name, first.steps, first.certain, first.changes) == ("b", 1, 1, 3)
    assert (second.name, second.added, second.removed) == ("a", 5, 0)
    unnamed = [replace(one, ran=None) for one in between]
    (nobody,) = rank_busiest(unnamed, steps)
    assert (nobody.name, nobody.steps) == (None, 2)


def test_the_time_of_a_step_is_that_of_its_passes_or_lies_between_its_files() -> None:
    measured = step_times(stages(), metadata())
    assert [one and one.measured for one in measured[1:]] == [True, True]
    own = sum(timed.self_time or 0 for timed in metadata().timed())
    assert sum(one.seconds for one in measured if one) <= own / 1e6
    dated = [
        replace(one, artifacts=(replace(one.artifacts[0], entry=Entry("x", 9, float(at), Path())),))
        for at, one in zip((3, 3, 5), stages(), strict=True)
    ]
    assert step_times(dated, None) == (None, None, StepTime(2.0, measured=False))
    assert step_times([], None) == ()


def test_own_times_sum_to_the_span_at_most_and_name_the_idle() -> None:
    read = metadata()
    times = {one.name: one for one in pass_times(read)}
    assert (times["inner"].self_microseconds, times["b"].self_microseconds) == (9, 10)
    assert (times["quiet"].runs, times["quiet"].changed) == (2, 0)
    assert sum(one.self_microseconds or 0 for one in times.values()) <= (read.span or 0)
    assert pipelines_of(read) == {"inner"}
    found = find_idle_passes(stages(), boundaries(stages(), [False, False]), read)
    assert found.passes == (("quiet", 2),)
    assert find_idle_passes(stages(), boundaries(stages(), [False, True]), None).passes == ()


def test_metadata_makes_it_certain_what_ran_inside_a_step() -> None:
    known = boundaries(stages(), [False, False])
    first, second = refine_boundaries(known, stages(), metadata())
    assert (first.ran, first.certain) == ("a", True)
    assert (second.ran, second.certain, second.actor) == ("b", True, "`b`")
    assert "exactly 2 passes ran here: `quiet`, `b`; `b` reported a change" in second.note


def test_a_pass_that_was_at_work_around_the_files_made_what_nobody_reported() -> None:
    runs = (
        ("pipeline-start", 10, 20, FILES[0]),
        ("spmd", 30, 90, None),
        ("pipeline-start", 40, 50, FILES[1]),
    )
    text = "".join(
        f'pass_metadata {{\n  pass_name: "{name}"\n  pipeline_name: "p"\n'
        f"  start_timestamp_usec: {start}\n  end_timestamp_usec: {end}\n"
        + (f'  dump_filenames: "/dump/{file}"\n' if file else "")
        + "}\n"
        for name, start, end, file in runs
    )
    read, _ = read_pass_metadata(text.encode(), "module_0001.metadata.textproto")
    assert read is not None
    (found, _) = refine_boundaries(boundaries(stages(), [False, False]), stages(), read)
    assert (found.ran, found.certain, found.actor) == ("spmd", True, "`spmd`")
    assert found.note.endswith("`spmd` was still at work when the file was written.")


def test_who_may_have_changed_something_unreported_is_not_called_idle() -> None:
    silent = ModuleMetadata(1, tuple(replace(run, changed=False) for run in metadata().runs))
    assert ("quiet", 2) in find_idle_passes(
        stages(), refine_boundaries(boundaries(stages(), [False, True]), stages(), silent), silent
    ).passes
    between = [
        replace(one, ran=None)
        for one in refine_boundaries(boundaries(stages(), [False, False]), stages(), silent)
    ]
    assert find_idle_passes(stages(), between, silent).passes == ()


def test_every_pass_of_a_step_is_listed_with_what_it_reported() -> None:
    _, second = refine_boundaries(boundaries(stages(), [False, False]), stages(), metadata())
    assert second.inside == (("quiet", False), ("b", True))


def test_a_real_module_at_a_glance(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_train_step", BuildOptions())
    found = summarize_passes(module, (), ())
    assert len(found.growth) == len(module.snapshots)
    assert found.growth[-1].fusions > found.growth[0].fusions == 0
    assert None not in [one.flops for one in found.growth]
    assert (found.passes, found.span) == ((), None)
    assert "no record" in found.idle.proof
