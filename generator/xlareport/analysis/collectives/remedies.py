"""What could be tried about a collective that is not hidden."""

from xlareport.analysis.collectives.origin import CauseKind
from xlareport.analysis.collectives.schedule import Overlap, WaitReason

_BY_CAUSE = {
    CauseKind.RESHARDING: (
        "Give the value the sharding that its consumer wants where it is made, for example with "
        "with_sharding_constraint, or keep one sharding along the way."
    ),
    CauseKind.HALO: (
        "Shard another dimension than the one over which the window moves, such as the batch, or "
        "fewer parts: each sends its edge whatever its size."
    ),
    CauseKind.PARTIAL_SUM: (
        "Shard a dimension that is not contracted, or leave the result sharded so that a "
        "reduce-scatter does: it sends half of an all-reduce."
    ),
    CauseKind.PARTIAL_REDUCTION: (
        "Reduce over a dimension that is not sharded, or reduce once for several values."
    ),
    CauseKind.PARTIAL_RESULT: (
        "Shard the operand along another dimension, or replicate it where it is small."
    ),
}


def find_remedy(cause: CauseKind | None, overlap: Overlap, kind: str, backend: str | None) -> str:
    """Return what to try; empty where nothing of it is exposed, or that is not known."""
    if not overlap.exposed_seconds or overlap.reason is None:
        return ""
    by_cause = _by_cause(cause, kind)
    if overlap.reason in (WaitReason.IS_SYNC, WaitReason.SCHEDULER):
        return f"{_SCHEDULING.get(backend or '', _ANY)} {by_cause}".strip()
    if overlap.reason is WaitReason.DEPENDENCE:
        pieces = f"Cut the {kind} and what needs it into pieces, and send one while another runs."
        return f"{by_cause} {pieces}".strip()
    return by_cause or "Do it together with other work, or less often: nothing is there to hide it."


def _by_cause(cause: CauseKind | None, kind: str) -> str:
    if cause is CauseKind.PARTIAL_SUM and kind == "reduce-scatter":
        return "Shard a dimension that is not contracted."
    return _BY_CAUSE.get(cause, "") if cause is not None else ""


_ANY = "Let the scheduler place the independent work between start and done."
_SCHEDULING = {
    "gpu": (
        "Turn on the latency-hiding scheduler (--xla_gpu_enable_latency_hiding_scheduler=true), "
        "and check --xla_gpu_disable_async_collectives and "
        "--xla_gpu_experimental_parallel_collective_overlap_limit."
    ),
    "tpu": (
        "Check that this kind may run asynchronously (--xla_tpu_enable_async_collective_fusion, "
        "--xla_enable_async_all_gather, --xla_tpu_enable_async_all_to_all)."
    ),
}
