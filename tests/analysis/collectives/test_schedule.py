"""What hides a collective, and the four reasons why nothing does, in seeded programs."""

from collections.abc import Callable
from itertools import permutations

import pytest

from xlareport.analysis.collectives.collective_figures import CollectiveFigures, sum_hideable
from xlareport.analysis.collectives.collective_rows import CollectiveRow
from xlareport.analysis.collectives.schedule import Schedule, WaitReason
from xlareport.analysis.cost.work import count_cost
from xlareport.hlo.model import HloModule
from xlareport.knowledge.devices import devices

ReadText = Callable[[str], HloModule]
Rows = Callable[[str, str], dict[str, CollectiveRow]]
Measure = Callable[[HloModule, str], dict[str, CollectiveFigures]]

ADD = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"
ALL = "replica_groups={{0,1,2,3,4,5,6,7}}, channel_id=1, use_global_device_ids=true, to_apply=add"
BIG = "f32[4096,4096]"
DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
SYNC = 'backend_config={"collective_backend_config":{"is_sync":true}}'


def entry(*lines: str) -> str:
    body = "\n  ".join([f"a = {BIG} parameter(0)", f"b = {BIG} parameter(1)", *lines])
    return f"{ADD}\nENTRY e {{\n  {body}\n}}"


DEPENDENCE = entry(
    f"c = {BIG} dot(a, b), {DOT}",
    f"s = {BIG} all-reduce-start(c), {ALL}",
    f"d = {BIG} all-reduce-done(s)",
    f"ROOT r = {BIG} dot(d, b), {DOT}",
)
IS_SYNC = entry(
    f"s = {BIG} all-reduce-start(a), {ALL}, {SYNC}",
    f"d = {BIG} all-reduce-done(s)",
    f"c = {BIG} dot(b, b), {DOT}",
    f"ROOT r = ({BIG}, {BIG}) tuple(d, c)",
)
SCHEDULER = entry(
    f"c = {BIG} dot(b, b), {DOT}",
    f"s = {BIG} all-reduce-start(a), {ALL}",
    f"d = {BIG} all-reduce-done(s)",
    f"ROOT r = ({BIG}, {BIG}) tuple(d, c)",
)
NO_WORK = entry(
    f"s = {BIG} all-reduce-start(a), {ALL}",
    f"ROOT d = {BIG} all-reduce-done(s)",
)
HIDDEN = entry(
    f"s = {BIG} all-reduce-start(a), {ALL}",
    f"c = {BIG} dot(b, b), {DOT}",
    f"d = {BIG} all-reduce-done(s)",
    f"ROOT r = ({BIG}, {BIG}) tuple(d, c)",
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DEPENDENCE, WaitReason.DEPENDENCE),
        (IS_SYNC, WaitReason.IS_SYNC),
        (SCHEDULER, WaitReason.SCHEDULER),
        (NO_WORK, WaitReason.NO_WORK),
    ],
)
def test_why_nothing_hides_it(
    text: str, reason: WaitReason, read_text: ReadText, measured: Measure
) -> None:
    (only,) = measured(read_text(text), "nvidia-h100").values()
    assert only.overlap.reason is reason
    assert only.overlap.reason_detail
    assert only.overlap.work_seconds == 0
    assert only.overlap.exposed_seconds == only.time.seconds


SMALL = "f32[64,64]"
SHORT = entry(
    f"e = {SMALL} parameter(2)",
    f"c = {SMALL} dot(e, e), {DOT}",
    f"s = {BIG} all-reduce-start(a), {ALL}",
    f"d = {BIG} all-reduce-done(s)",
    f"ROOT r = ({BIG}, {SMALL}) tuple(d, c)",
)


@pytest.mark.parametrize("text", [SHORT, SCHEDULER, NO_WORK, HIDDEN])
def test_no_more_is_hidden_than_there_is_independent_work(
    text: str, read_text: ReadText, measured: Measure
) -> None:
    """HIDDEN has no more than what already runs meanwhile."""
    module = read_text(text)
    (only,) = measured(module, "nvidia-h100").values()
    schedule = Schedule(module, count_cost(module), devices()["nvidia-h100"])
    work = 0.0
    if text not in (NO_WORK, HIDDEN):
        work = schedule.seconds(module.by_name["e"], "c")
        assert work
    exposed = only.overlap.exposed_seconds
    assert exposed is not None
    assert only.overlap.hideable_seconds == min(exposed, work)


def test_the_time_of_a_call_does_not_depend_on_the_order_of_what_it_runs(
    read_text: ReadText, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums of floats do: equal loops had other times from run to run, and lists another order."""
    sizes = (1000, 7000, 13000, 29000, 31000, 37000)
    callees = "".join(
        f"c{size} {{\n  p = f32[] parameter(0)\n  b = f32[{size}] broadcast(p), dimensions={{}}\n"
        f"  n = f32[{size}] exponential(b)\n  ROOT r = f32[] negate(p)\n}}\n\n"
        for size in sizes
    )
    names = [f"c{size}" for size in sizes]
    calls = "".join(f"  x{n} = f32[] call(p), to_apply={name}\n" for n, name in enumerate(names))
    text = (
        f"{callees}all {{\n  p = f32[] parameter(0)\n{calls}  ROOT s = f32[] add(x0, x1)\n}}\n\n"
        "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT c = f32[] call(p), to_apply=all\n}"
    )
    module = read_text(text)
    cost, times = count_cost(module), set()
    for order in permutations(names):
        monkeypatch.setattr(
            "xlareport.analysis.collectives.schedule.called_computations",
            lambda *_, order=order: ["all", *order],
        )
        schedule = Schedule(module, cost, devices()["nvidia-h100"])
        times.add(schedule.seconds(module.by_name["e"], "c"))
    assert len(times) == 1
    assert times.pop()


def test_work_beside_several_collectives_counts_once(
    read_text: ReadText, measured: Measure
) -> None:
    text = entry(
        f"e = {SMALL} parameter(2)",
        f"c = {SMALL} dot(e, e), {DOT}",
        f"x = {BIG} all-reduce(a), {ALL}",
        f"y = {BIG} all-reduce(b), {ALL}",
        f"ROOT r = ({BIG}, {BIG}, {SMALL}) tuple(x, y, c)",
    )
    module = read_text(text)
    both = measured(module, "nvidia-h100")
    schedule = Schedule(module, count_cost(module), devices()["nvidia-h100"])
    work = schedule.seconds(module.by_name["e"], "c")
    assert [figures.hideable_seconds for figures in both.values()] == [work, work]
    assert sum_hideable(schedule, both.values()) == work


@pytest.mark.parametrize("operands", [1, 2])
def test_a_combined_collective_has_several_operands(
    read_text: ReadText, measured: Measure, operands: int
) -> None:
    result, given = (BIG, "a") if operands == 1 else (f"({BIG}, {BIG})", "a, b")
    text = entry(f"x = {result} all-reduce({given}), {ALL}", f"ROOT r = ({BIG}) tuple(a)")
    (figures,) = measured(read_text(text), "nvidia-h100").values()
    assert figures.overlap.operands == operands


def test_work_that_feeds_the_other_of_two_collectives_hides_only_the_first(
    read_text: ReadText, measured: Measure
) -> None:
    text = entry(
        f"e = {SMALL} parameter(2)",
        f"g = {SMALL} dot(e, e), {DOT}",
        f"h = {SMALL} dot(e, e), {DOT}",
        f"x = {SMALL} all-reduce(g), {ALL}",
        f"y = {SMALL} all-reduce(h), {ALL}",
        f"ROOT r = ({SMALL}, {SMALL}) tuple(x, y)",
    )
    module = read_text(text)
    both = measured(module, "nvidia-h100")
    schedule = Schedule(module, count_cost(module), devices()["nvidia-h100"])
    work = schedule.seconds(module.by_name["e"], "g")
    assert [figures.overlap.apart for figures in both.values()] == [("h",), ("g",)]
    assert sum_hideable(schedule, both.values()) == work


def test_short_work_that_is_independent_is_told(read_text: ReadText, measured: Measure) -> None:
    """Work under a tenth of its time is no reason, and is not told as if it were not there."""
    small = "i = f32[1048576] iota(), iota_dimension=0"
    last = f"ROOT r = ({BIG}, f32[1048576]) tuple(d, i)"
    alone = entry(
        small, f"s = {BIG} all-reduce-start(a), {ALL}", f"d = {BIG} all-reduce-done(s)", last
    )
    (overlap,) = [rows.overlap for rows in measured(read_text(alone), "nvidia-h100").values()]
    assert overlap.reason is WaitReason.NO_WORK
    assert "other compute of its computation takes 1.25 µs, under 10%" in overlap.reason_detail
    needed = DEPENDENCE.replace(f"c = {BIG} dot", f"{small}\n  c = {BIG} dot")
    (overlap,) = [rows.overlap for rows in measured(read_text(needed), "nvidia-h100").values()]
    assert overlap.reason is WaitReason.DEPENDENCE
    assert "neither feeds it nor needs its result takes 1.25 µs" in overlap.reason_detail
    (overlap,) = [rows.overlap for rows in measured(read_text(DEPENDENCE), "nvidia-h100").values()]
    assert overlap.reason_detail.startswith("All compute of its computation feeds it")


def test_what_runs_meanwhile_is_not_told_as_elsewhere(
    read_text: ReadText, measured: Measure
) -> None:
    small = "f32[2048,2048]"
    text = entry(
        f"e = {small} slice(b), slice={{[0:2048], [0:2048]}}",
        f"x = {small} dot(e, e), {DOT}",
        f"s = {BIG} all-reduce-start(a), {ALL}",
        f"m = {BIG} add(b, b)",
        f"d = {BIG} all-reduce-done(s)",
        f"ROOT r = ({BIG}, {BIG}, {small}) tuple(d, m, x)",
    )
    (only,) = measured(read_text(text), "nvidia-h100").values()
    assert only.overlap.independent[0] == "m"
    assert only.overlap.reason is WaitReason.SCHEDULER
    assert only.overlap.reason_detail.endswith("elsewhere: `x`, `e`.")


def test_scalars_are_no_independent_work(read_text: ReadText, measured: Measure) -> None:
    tiles = "s32[]{:T(128)}"  # of which 512 bytes are read: nanoseconds on a TPU
    counter = f"k = {tiles} constant(1)\n  j = {tiles} add(k, k)"
    last = f"ROOT r = ({BIG}, s32[]) tuple(d, j)"
    text = entry(
        counter, f"s = {BIG} all-reduce-start(a), {ALL}", f"d = {BIG} all-reduce-done(s)", last
    )
    for device in ("nvidia-h100", "tpu-v5e"):
        (only,) = measured(read_text(text), device).values()
        assert only.overlap.independent == ()
    counted = DEPENDENCE.replace(f"c = {BIG} dot", f"{counter}\n  c = {BIG} dot")
    (only,) = measured(read_text(counted), "tpu-v5e").values()
    assert only.overlap.reason_detail.startswith("All compute of its computation feeds it")


def test_work_in_between_hides_it(read_text: ReadText, measured: Measure) -> None:
    (only,) = measured(read_text(HIDDEN), "nvidia-h100").values()
    flops = 2 * 4096**3
    assert only.overlap.between == ("c",)
    assert only.overlap.work_seconds == pytest.approx(flops / 495e12)
    wire = 4096 * 4096 * 4 * 2 * 7 / 8
    assert only.time.seconds == pytest.approx(wire / 450e9)
    expected = max(0.0, wire / 450e9 - flops / 495e12)
    assert only.overlap.exposed_seconds == pytest.approx(expected)
    assert only.overlap.independent == ("c",)


PREFETCHED = f"""{ADD}
wrapped {{
  p = {BIG} parameter(0)
  ROOT r = {BIG} all-reduce(p), {ALL}
}}

ENTRY e {{
  a = {BIG} parameter(0)
  b = {BIG} parameter(1)
  s = ((), (), s32[]) async-start(), calls=wrapped
  early = {BIG} dot(b, b), {DOT}
  fed = {BIG} dot(a, b), {DOT}
  u = (({BIG}), {BIG}, s32[]) async-update(s, fed)
  c = {BIG} dot(b, b), {DOT}
  d = {BIG} async-done(u)
  ROOT r = ({BIG}, {BIG}, {BIG}) tuple(d, c, early)
}}"""


def test_what_feeds_a_later_part_of_a_chain_hides_nothing(
    read_text: ReadText, measured: Measure
) -> None:
    (only,) = measured(read_text(PREFETCHED), "nvidia-h100").values()
    assert only.overlap.between == ("c",)
    assert only.overlap.independent == ("c", "early")
    assert only.overlap.apart == ("early",)
    alone = PREFETCHED.replace(f"  c = {BIG} dot(b, b), {DOT}\n", "").replace(
        "d, c, early", "d, d, d"
    )
    alone = alone.replace(f"  early = {BIG} dot(b, b), {DOT}\n", "")
    (only,) = measured(read_text(alone), "nvidia-h100").values()
    assert only.overlap.exposed_seconds == only.time.seconds
    assert only.overlap.reason is WaitReason.DEPENDENCE
    assert only.overlap.reason_detail.endswith("the longest, `fed`, feeds it.")


def test_what_feeds_a_part_after_the_first_data_hides_nothing(
    read_text: ReadText, measured: Measure
) -> None:
    text = PREFETCHED.replace("async-start()", "async-start(a)")
    (only,) = measured(read_text(text), "nvidia-h100").values()
    assert only.overlap.between == ("c",)


def test_is_sync_is_fully_exposed_whatever_stands_between(
    read_text: ReadText, measured: Measure
) -> None:
    text = HIDDEN.replace(f"all-reduce-start(a), {ALL}", f"all-reduce-start(a), {ALL}, {SYNC}")
    (only,) = measured(read_text(text), "nvidia-h100").values()
    assert only.overlap.exposed_seconds == only.time.seconds
    assert only.overlap.between is None


def test_the_order_of_an_unscheduled_module_means_nothing(
    read_text: ReadText, measured: Measure
) -> None:
    module = read_text(NO_WORK)
    bare = HloModule(module.name, ", num_partitions=8", module.computations)
    (only,) = measured(bare, "nvidia-h100").values()
    assert only.overlap.reason is None


def test_two_under_way_together_name_each_other(read_text: ReadText, measured: Measure) -> None:
    text = entry(
        f"s = {BIG} all-reduce-start(a), {ALL}",
        f"t = {BIG} all-reduce-start(b), {ALL}",
        f"d = {BIG} all-reduce-done(s)",
        f"f = {BIG} all-reduce-done(t)",
        f"ROOT r = ({BIG}, {BIG}) tuple(d, f)",
    )
    both = measured(read_text(text), "nvidia-h100")
    assert both["s"].overlap.together == ("t",)
    assert both["s"].overlap.between == ()


@pytest.mark.parametrize(
    ("name", "reason", "told"),
    [
        ("jit_dependent", WaitReason.DEPENDENCE, "`gemm_fusion_dot_general.7`, needs its result"),
        ("jit_synchronous", WaitReason.IS_SYNC, "independent of it: `gemm_fusion_dot_general.3`"),
        ("jit_limited", WaitReason.SCHEDULER, "work elsewhere: `copy.12`"),
        ("jit_alone", WaitReason.NO_WORK, "no other compute"),
    ],
)
def test_why_nothing_hides_it_in_programs_that_xla_compiled(
    name: str, reason: WaitReason, told: str, rows_of: Rows
) -> None:
    overlap = rows_of("overlapped-gpu", name)["all-reduce-start"].figures.overlap
    assert overlap.reason is reason
    assert told in overlap.reason_detail
    assert overlap.exposed_seconds


def test_a_product_beside_a_sum_hides_it(rows_of: Rows) -> None:
    overlap = rows_of("overlapped-gpu", "jit_independent")["all-reduce-start"].figures.overlap
    assert (overlap.between, overlap.exposed_seconds) == (("gemm_fusion_dot_general.3",), 0)
    assert overlap.reason is None


def test_what_hides_a_part_is_told_where_nothing_more_is_there(rows_of: Rows) -> None:
    (row,) = rows_of("overlapped-tpu", "jit_independent").values()
    overlap = row.figures.overlap
    assert overlap.between == ("convolution_tanh_fusion",)
    assert 0 < overlap.work_seconds < (row.figures.time.seconds or 0)
    assert overlap.reason is WaitReason.NO_WORK
    assert overlap.reason_detail.startswith("Independent work already runs meanwhile")


@pytest.mark.parametrize(
    ("begin", "queued"), [("c = {} dot(b, b), {}", ("s",)), ("c = {} dot(d, b), {}", ())]
)
def test_a_collective_waits_for_another_only_if_its_operand_is_ready(
    begin: str, queued: tuple[str, ...], read_text: ReadText, measured: Measure
) -> None:
    lines = (
        f"e = {BIG} dot(b, a), {DOT}",
        begin.format(BIG, DOT),
        f"s = {BIG} all-reduce-start(a), {ALL}",
        f"d = {BIG} all-reduce-done(s)",
        f"t = {BIG} all-reduce-start(c), {ALL}",
        f"u = {BIG} all-reduce-done(t)",
        f"ROOT r = ({BIG}, {BIG}, {BIG}) tuple(d, e, u)",
    )
    if "dot(d" in begin:
        lines = (lines[0], lines[2], lines[3], lines[1], *lines[4:])
    found = measured(read_text(entry(*lines)), "nvidia-h100")
    assert found["t"].overlap.queued == queued


def test_operands_that_are_ready_long_before_the_last_are_counted(
    read_text: ReadText, measured: Measure
) -> None:
    text = entry(
        f"c = {BIG} dot(b, b), {DOT}",
        f"v = {BIG} bitcast(c)",
        f"e = {BIG} dot(b, a), {DOT}",
        f"s = ({BIG}, {BIG}) all-reduce-start(a, v), {ALL}",
        f"d = ({BIG}, {BIG}) all-reduce-done(s)",
        f"ROOT r = (({BIG}, {BIG}), {BIG}) tuple(d, e)",
    )
    overlap = measured(read_text(text), "nvidia-h100")["s"].overlap
    assert (overlap.early, overlap.last) == (1, "c")
    alike = measured(read_text(text.replace("(a, v)", "(a, b)")), "nvidia-h100")["s"].overlap
    assert (alike.early, alike.last) == (0, "")
