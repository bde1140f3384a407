"""What the TPU compiler may run asynchronously: its options, and what a dump says of them."""

from collections.abc import Mapping, Sequence

from xlareport.analysis.collectives.schedule import Overlap
from xlareport.runtime import english

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


def advise_options(kind: str, flags: Mapping[str, str]) -> str:
    """Return what to do about a synchronous kind; empty where no option is known for it.

    `flags` are the values in the dump; empty where it has none.
    """
    names = TPU_OPTIONS.get(kind, ())
    if not names:
        return ""
    known = {name: flags[name].strip("'\"") for name in names if name in flags}
    off = [f"--{name} ({value})" for name, value in known.items() if value.lower() in _OFF]
    if off:
        are = "are" if len(off) > 1 else "is"
        return f"Let this kind run asynchronously: {english.listing(off)} {are} off in this dump."
    if len(known) < len(names):
        options = ", ".join(f"--{name}" for name in names)
        return f"Check that this kind may run asynchronously ({options})."
    values = ", ".join(f"--{name}={value}" for name, value in known.items())
    force = " Set what is auto to true, to compare." if "auto" in known.values() else ""
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
