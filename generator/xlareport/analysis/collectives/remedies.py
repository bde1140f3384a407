"""Suggestions for a collective that is not hidden."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.schedule import Overlap, WaitReason
from xlareport.hlo.model import HloModule
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES
from xlareport.runtime import english, units
from xlareport.snapshots import ParsedSnapshot, list_pass_steps

_FUSION = "xla_tpu_enable_async_collective_fusion"
TPU_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "all-gather": ("xla_enable_async_all_gather", f"{_FUSION}_fuse_all_gather"),
    "all-reduce": ("xla_enable_async_all_reduce", f"{_FUSION}_fuse_all_reduce"),
    "reduce-scatter": (
        "xla_enable_async_reduce_scatter_fusion",
        f"{_FUSION}_fuse_reduce_scatter",
    ),
    "all-to-all": ("xla_tpu_enable_async_all_to_all",),
    "ragged-all-to-all": ("xla_tpu_enable_async_ragged_all_to_all",),
    "collective-permute": ("xla_enable_async_collective_permute",),
}
"""The options of libtpu that decide whether a kind of collective may run asynchronously."""
TPU_LIMITS: Mapping[str, str] = {
    "all-gather": "xla_max_concurrent_async_all_gathers",
    "all-reduce": "xla_max_concurrent_async_all_reduces",
    "reduce-scatter": "xla_max_concurrent_async_reduce_scatters",
    "collective-permute": "xla_max_concurrent_async_collective_permutes",
}
"""The options of libtpu that limit how many collectives of a kind are in flight at once."""
_OFF = frozenset({"false", "disabled", "0"})
_BY_CAUSE = {
    CauseKind.RESHARDING: (
        "Give the value the sharding that its consumer wants where it is made, for example with "
        "with_sharding_constraint, or keep one sharding along the way."
    ),
    CauseKind.HALO: (
        "Shard another dimension than the one over which the window moves, or the values are "
        "shifted, such as the batch, or fewer parts: each sends its edge whatever its size."
    ),
    CauseKind.SPLIT_WINDOW: (
        "Give the result the sharding of the operand along the dimension over which the window "
        "moves, with with_sharding_constraint: then each device computes its own positions, and "
        "receives at most an edge."
    ),
    CauseKind.PARTIAL_SUM: (
        "Shard a dimension that is not contracted, or leave the result sharded so that a "
        "reduce-scatter does: it sends half of an all-reduce."
    ),
    CauseKind.PARTIAL_REDUCTION: (
        "Reduce over a dimension that is not sharded, or reduce once for several values."
    ),
    CauseKind.PARTIAL_RESULT: (
        "Shard the operand, and of a scatter the updates, along a dimension that is not indexed, "
        "replicate what is small, or index each device's own part in a shard_map."
    ),
}

TO_SYNC = "gpu-convert-async-collectives-to-sync"
_WITHOUT_RING = "Compare with windowed einsums off: then it is a single collective{option}."
_RING_OPTIONS = {
    "gpu": " (a higher --xla_gpu_threshold_for_windowed_einsum_mib)",
    "tpu": " (--xla_tpu_enable_windowed_einsum_for_all_gather, _for_reduce_scatter)",
}
_NO_OPTION = ""
_NO_FLAGS: Mapping[str, str] = MappingProxyType({})
_SCHEDULER = "latency-hiding-scheduler"


def find_scheduler_step(snapshots: Sequence[ParsedSnapshot]) -> str | None:
    """Return the number of the latency-hiding scheduler's step; empty if it did not run.

    None if the dump has no snapshots of passes, so that this is not known.
    """
    stages = [snapshot.stage for snapshot in snapshots if snapshot.stage.name == "pass"]
    if not stages:
        return None
    ran = (stage for stage in stages if stage.after == _SCHEDULER and stage.sequence is not None)
    return next((stage.key for stage in ran), "")


def find_sync_step(snapshots: Sequence[ParsedSnapshot]) -> str:
    """Return the number of the step that made asynchronous collectives synchronous; else empty.

    On GPUs a pass after scheduling does that where nothing is scheduled between start and done.
    """
    for step, before, after in list_pass_steps(snapshots):
        if step.name == TO_SYNC:
            return step.number if _count_sync(after) > _count_sync(before) else ""
    return ""


def _count_sync(module: HloModule) -> int:
    return sum(collective.is_sync is True for collective in find_collectives(module))


def find_remedy(
    cause: CauseKind | None,
    overlap: Overlap,
    kind: str,
    backend: str | None,
    scheduler_step: str | None = None,
    *,
    sync_step: str = "",
    flags: Mapping[str, str] = _NO_FLAGS,
) -> str:
    """Return a suggestion; empty if no time is exposed or the exposed time is unknown.

    `scheduler_step` is the result of `find_scheduler_step`.
    """
    if not overlap.exposed_seconds or overlap.reason is None:
        return ""
    by_cause = _by_cause(cause, kind, backend)
    if overlap.reason in (WaitReason.IS_SYNC, WaitReason.SCHEDULER):
        is_async = overlap.reason is WaitReason.SCHEDULER
        made_sync = "" if is_async else sync_step
        advice = advise_scheduling(
            *(backend, scheduler_step, kind, made_sync),
            is_async=is_async,
            overlaps=(overlap,),
            flags=flags,
        )
        return f"{advice} {by_cause}".strip()
    if overlap.reason is WaitReason.DEPENDENCE and cause is not CauseKind.WINDOWED:
        pieces = f"Cut the {kind} and what needs it into pieces, and send one while another runs."
        return f"{by_cause} {pieces}".strip()
    return by_cause or "Do it together with other work, or less often: nothing is there to hide it."


def _by_cause(cause: CauseKind | None, kind: str, backend: str | None) -> str:
    if cause is CauseKind.WINDOWED:
        return _WITHOUT_RING.format(option=_RING_OPTIONS.get(backend or "", _NO_OPTION))
    if cause is CauseKind.PARTIAL_SUM and kind == "reduce-scatter":
        return "Shard a dimension that is not contracted."
    return _BY_CAUSE.get(cause, "") if cause is not None else ""


def advise_scheduling(
    backend: str | None,
    scheduler_step: str | None,
    kind: str,
    sync_step: str = "",
    *,
    is_async: bool = False,
    overlaps: Sequence[Overlap] = (),
    flags: Mapping[str, str] = _NO_FLAGS,
) -> str:
    """Return advice for independent work that is not scheduled between start and done.

    `sync_step` is the step that made the collective synchronous, empty where none is known to. One
    that is asynchronous in the end needs no option for that. `flags` are those of the dump.
    """
    if backend == "tpu":
        if is_async:
            return advise_async(kind, scheduler_step, overlaps, flags)
        return advise_options(kind, flags) or _ANY
    if backend != "gpu":
        return _ANY
    checks = [] if sync_step or is_async else [_GPU_ASYNC]
    checks += _limit_words(overlaps)
    reason = f"{_MADE_SYNC.format(step=sync_step)} " if sync_step else ""
    fewer = _combiner_words(kind, overlaps, is_made_sync=bool(sync_step))
    if scheduler_step:
        ran = f"The latency-hiding scheduler ran (step {scheduler_step})"
        check = f"check {' and '.join(checks)}." if checks else _ESTIMATES
        return f"{reason}{ran}: {check}{fewer}"
    verb = "Check that the latency-hiding scheduler runs"
    if scheduler_step is not None:
        verb = "Turn on the latency-hiding scheduler, which did not run"
    and_check = f", and check {' and '.join(checks)}" if checks else ""
    return f"{reason}{verb} ({_GPU_OPTION}){and_check}.{fewer}"


def _limit_words(overlaps: Sequence[Overlap]) -> list[str]:
    """Return the limit of collectives in flight, if it can be why one of these waits."""
    waiting = sum(bool(overlap.queued) for overlap in overlaps)
    if not waiting:
        return []
    some = f"; {waiting} of {len(overlaps)} wait for others" if waiting < len(overlaps) else ""
    return [f"{_GPU_OVERLAP} (how many collectives may be in flight at once{some})"]


def _combiner_words(kind: str, overlaps: Sequence[Overlap], *, is_made_sync: bool) -> str:
    """Return a sentence on the combiner, where a combined collective waits or is synchronous."""
    if kind not in COMBINED_COLLECTIVES:
        return ""
    flag = combiner_option("gpu", kind)
    early = next((overlap for overlap in overlaps if overlap.early), None)
    if early is not None:
        return (
            f" {units.plural(early.early, 'operand')} of the {kind} of `{early.last}` could be "
            f"sent long before that is computed, and {'waits' if early.early == 1 else 'wait'} "
            f"because XLA combined them: a lower {flag} combines fewer."
        )
    if is_made_sync and any(overlap.operands > 1 for overlap in overlaps):
        return f" A lower {flag} combines fewer, which leaves more compute between them."
    return ""


def combiner_option(backend: str, kind: str) -> str:
    """Return the option that limits what a backend combines; empty where none is known."""
    if backend == "gpu":
        return f"--xla_gpu_{kind.replace('-', '_')}_combine_threshold_bytes"
    return _TPU_COMBINERS.get(kind, "")


_TPU_COMBINERS = {
    "all-gather": "--xla_all_gather_combiner_threshold_count",
    "all-reduce": "--xla_jf_crs_combiner_threshold_count",
}
"""Those of libtpu's flag files; none is known for reduce-scatters."""
_ANY = "Let the scheduler place the independent work between start and done."
_GPU_OPTION = "--xla_gpu_enable_latency_hiding_scheduler=true"
_GPU_ASYNC = "--xla_gpu_disable_async_collectives"
_GPU_OVERLAP = "--xla_gpu_experimental_parallel_collective_overlap_limit"
_ESTIMATES = (
    "it goes by estimated times, which a profile corrects (JAX_ENABLE_PGLE=true), and by the "
    "memory that values in flight take."
)
_MADE_SYNC = (
    f"{TO_SYNC} (step {{step}}) made it synchronous, as nothing was scheduled between start and "
    "done."
)


def advise_options(kind: str, flags: Mapping[str, str]) -> str:
    """Return the options that would make a synchronous kind asynchronous; empty if none is known.

    `flags` are the values in the dump; empty where it has none.
    """
    names = TPU_OPTIONS.get(kind, ())
    if not names:
        return ""
    values_of = {name: flags[name].strip("'\"") for name in names if name in flags}
    off = [f"--{name} ({value})" for name, value in values_of.items() if value.lower() in _OFF]
    if off:
        are = "are" if len(off) > 1 else "is"
        return f"Let this kind run asynchronously: {english.listing(off)} {are} off in this dump."
    if len(values_of) < len(names):
        options = ", ".join(f"--{name}" for name in names)
        return f"Check that this kind may run asynchronously ({options})."
    values = ", ".join(f"--{name}={value}" for name, value in values_of.items())
    force = " Set what is auto to true, to compare." if "auto" in values_of.values() else ""
    return f"This kind may run asynchronously ({values} in this dump), but these do not.{force}"


def advise_async(
    kind: str,
    scheduler_step: str | None,
    overlaps: Sequence[Overlap],
    flags: Mapping[str, str],
) -> str:
    """Return what to do where a collective is asynchronous, but little is scheduled meanwhile."""
    limit = TPU_LIMITS.get(kind)
    waiting = sum(bool(overlap.queued) for overlap in overlaps)
    if limit and waiting:
        now = f" ({flags[limit]} in this dump)" if limit in flags else ""
        wait = "waits" if waiting == 1 else "wait"
        return f"Raise --{limit}{now}: {waiting} of {len(overlaps)} {wait} for others in flight."
    ran = f"ran (step {scheduler_step})" if scheduler_step else "places it"
    return (
        f"It is asynchronous. The latency-hiding scheduler {ran}: it goes by estimated times and "
        "by the memory that values in flight take."
    )
