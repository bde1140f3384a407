"""All steps taken together: growth, numbers that may change, circles, idle passes, times."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from tests.analysis.passes.three_steps import metadata, stages
from tests.analysis.small_modules import modules

from xlareport.analysis.modules.summary import StepSummary
from xlareport.analysis.passes.growth import Growth
from xlareport.analysis.passes.overview import (
    RepeatedState,
    bytes_share,
    find_idle_passes,
    find_oscillations,
    rank_busiest,
    summarize_passes,
    weigh_steps,
)
from xlareport.analysis.passes.pass_times import (
    find_pipelines,
    refine_boundaries,
    sum_pass_times,
)
from xlareport.analysis.steps.boundaries import boundaries
from xlareport.hlo.text import TextReader
from xlareport.readers.pass_metadata import ModuleMetadata
from xlareport.report import BuildOptions, read_one_module

STEP = StepSummary(changed=True, added=1, removed=0, modified=0, headline="", weight=7.0)


def test_a_snapshot_that_is_back_is_seen_and_one_that_stays_is_not() -> None:
    there = "  %n = f32[8,4]{1,0} negate(%x)\n  ROOT %r = f32[8,4]{1,0} add(%x, %n)"
    back = "  ROOT %r = f32[8,4]{1,0} subtract(%x, %x)"
    first, second = modules(there, back)
    assert find_oscillations([first, first, second]) == ()
    assert find_oscillations([first, first, second, second, first]) == (RepeatedState(4, 1, None),)


def test_annotations_that_come_and_go_are_no_change() -> None:
    plain = "  %n = f32[8,4]{1,0} negate(%x)\n  ROOT %r = f32[8,4]{1,0} add(%x, %n)"
    first, marked = modules(plain, plain.replace("(%x)", "(%x), sharding={replicated}"))
    assert find_oscillations([first, marked, marked, first]) == ()


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
    assert find_oscillations(found) == (RepeatedState(2, 0, "g"),)


def _done(added: int, removed: int, modified: int, weight: float) -> StepSummary:
    return StepSummary(
        changed=True, added=added, removed=removed, modified=modified, headline="", weight=weight
    )


def test_the_passes_that_changed_what_is_heavy_come_first_and_nobodys_changes_are_kept() -> None:
    between = boundaries(stages(), [False, False])
    steps = [None, _done(5, 0, 4, 1.0), _done(1, 2, 0, 40.0)]
    first, second = rank_busiest(between, steps, [0.0, 1.0, 40.0])
    assert (first.name, first.steps, first.certain, first.changes) == ("b", 1, 1, 3)
    assert (second.name, second.added, second.removed) == ("a", 5, 0)
    unnamed = [replace(boundary, ran=None) for boundary in between]
    (nobody,) = rank_busiest(unnamed, steps, [0.0, 1.0, 40.0])
    assert (nobody.name, nobody.steps) == (None, 2)


def test_own_times_sum_to_the_span_at_most_and_name_the_idle() -> None:
    read = metadata()
    times = {one.name: one for one in sum_pass_times(read)}
    assert (times["inner"].self_microseconds, times["b"].self_microseconds) == (9, 10)
    assert (times["quiet"].runs, times["quiet"].changed) == (2, 0)
    assert sum(time.self_microseconds or 0 for time in times.values()) <= (read.span or 0)
    assert find_pipelines(read) == {"inner"}
    idle_passes = find_idle_passes(stages(), boundaries(stages(), [False, False]), read)
    assert idle_passes.passes == (("quiet", 2),)
    assert find_idle_passes(stages(), boundaries(stages(), [False, True]), None).passes == ()


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


Unpack = Callable[[str], Path]


def test_a_real_module_at_a_glance(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_train_step", BuildOptions())
    found = summarize_passes(module, (), (), [None] * len(module.snapshots))
    assert len(found.growth) == len(module.snapshots)
    assert found.growth[-1].fusions > found.growth[0].fusions == 0
    assert None not in [one.flops for one in found.growth]
    assert (found.passes, found.span) == ((), None)
    assert "no record" in found.idle.proof


def growth(accessed: int | None, partitions: int = 1) -> Growth:
    return Growth(9, 1, 0, 1, accessed, partitions)


def test_bytes_that_other_devices_access_are_no_change() -> None:
    assert bytes_share(growth(1000), growth(250, 4)) == 0
    assert bytes_share(growth(None), growth(250)) == 0
    assert bytes_share(growth(100_000), growth(100_001)) == 0


def test_partitioning_weighs_as_much_as_twice_the_bytes() -> None:
    sides = [growth(1000), growth(250, 4), growth(500, 4), growth(5000, 4)]
    assert weigh_steps([None, STEP, STEP, STEP], sides) == (0.0, 100_007.0, 100_007.0, 100_007.0)


def test_bytes_that_the_next_step_takes_back_count_once() -> None:
    """Copies that copy insertion adds first, and mostly removes."""
    sides = [growth(1000), growth(5000), growth(5000), growth(1200)]
    assert weigh_steps([None, STEP, STEP, STEP], sides) == (0.0, 20_007.0, 7.0, 7.0)
    later = [growth(1020), *sides, growth(1100)]
    assert weigh_steps([None, *[STEP] * 4, STEP], later)[2:5] == (20_007.0, 7.0, 7.0)
    less = [growth(1000), growth(5000), growth(5000), growth(900)]
    assert weigh_steps([None, STEP, STEP, STEP], less) == (0.0, 7.0, 7.0, 10_007.0)


def test_steps_without_figures_and_without_change_weigh_what_they_touch() -> None:
    same = StepSummary(changed=False, added=0, removed=0, modified=0, headline="")
    assert weigh_steps([None, STEP], ()) == (0.0, 7.0)
    assert weigh_steps((), ()) == ()
    assert weigh_steps([None, same], [growth(1), growth(2)]) == (0.0, 0.0)
