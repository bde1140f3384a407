"""What the report advises fits the cause and the reason."""

import re

import msgspec
import pytest
from tests.analysis.collectives.overlaps import overlap
from tests.fixtures.dumps import Unpack

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.remedies import (
    TPU_LIMITS,
    TPU_OPTIONS,
    advise_async,
    advise_options,
    advise_scheduling,
    find_remedy,
    find_sync_step,
)
from xlareport.analysis.collectives.schedule import WaitReason
from xlareport.knowledge.tpu_defaults import all_releases
from xlareport.report import BuildOptions, read_one_module

REDUCE, FUSE = TPU_OPTIONS["all-reduce"]
PERMUTES = TPU_LIMITS["collective-permute"]
QUEUED = msgspec.structs.replace(overlap(WaitReason.SCHEDULER), queued=("other",))
COMBINED = msgspec.structs.replace(overlap(WaitReason.SCHEDULER), early=2, last="product")


@pytest.mark.parametrize(
    ("cause", "reason", "backend", "words"),
    [
        (CauseKind.HALO, WaitReason.DEPENDENCE, "gpu", "window"),
        (CauseKind.PARTIAL_SUM, WaitReason.SCHEDULER, "gpu", "latency-hiding scheduler"),
        (CauseKind.RESHARDING, WaitReason.IS_SYNC, "tpu", "xla_enable_async_all_gather"),
        (CauseKind.RESHARDING, WaitReason.IS_SYNC, None, "between start and done"),
        (None, WaitReason.NO_WORK, "gpu", "together with other work"),
        (CauseKind.USER, WaitReason.DEPENDENCE, "gpu", "into pieces"),
    ],
)
def test_a_remedy_for_each_reason(
    cause: CauseKind | None, reason: WaitReason, backend: str | None, words: str
) -> None:
    assert words in find_remedy(cause, overlap(reason), "all-gather", backend)


def test_nothing_to_gain_needs_no_remedy() -> None:
    hidden = overlap(None, exposed=0.0)
    assert find_remedy(CauseKind.HALO, hidden, "all-gather", "gpu") == ""


def test_a_reduce_scatter_is_not_told_to_become_one() -> None:
    for reason in (WaitReason.DEPENDENCE, WaitReason.IS_SYNC, WaitReason.NO_WORK):
        of_all = find_remedy(CauseKind.PARTIAL_SUM, overlap(reason), "all-reduce", "gpu")
        of_part = find_remedy(CauseKind.PARTIAL_SUM, overlap(reason), "reduce-scatter", "gpu")
        assert "half of an all-reduce" in of_all
        assert "all-reduce" not in of_part
        assert "Shard a dimension that is not contracted." in of_part


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("0153", "The latency-hiding scheduler ran (step 0153): check --xla_gpu_disable_async"),
        ("", "Turn on the latency-hiding scheduler, which did not run"),
        (None, "Check that the latency-hiding scheduler runs"),
    ],
)
def test_what_the_dump_says_of_the_scheduler(step: str | None, words: str) -> None:
    synchronous = overlap(WaitReason.IS_SYNC)
    assert find_remedy(None, synchronous, "all-reduce", "gpu", step).startswith(words)


def test_what_a_pass_made_synchronous_needs_no_other_option() -> None:
    def said(reason: WaitReason) -> str:
        return find_remedy(None, overlap(reason), "all-reduce", "gpu", "", sync_step="0156")

    assert "(step 0156) made it synchronous" in said(WaitReason.IS_SYNC)
    assert "disable_async" not in said(WaitReason.IS_SYNC)
    assert "disable_async" not in said(WaitReason.SCHEDULER)  # it is asynchronous
    unknown = find_remedy(None, overlap(WaitReason.IS_SYNC), "all-reduce", "gpu")
    assert "disable_async" in unknown


def test_a_combined_collective_that_was_made_synchronous_has_its_threshold() -> None:
    def said(kind: str, step: str = "0156", operands: int = 2) -> str:
        waiting = msgspec.structs.replace(overlap(WaitReason.IS_SYNC), operands=operands)
        return find_remedy(None, waiting, kind, "gpu", "", sync_step=step)

    assert "--xla_gpu_all_gather_combine_threshold_bytes combines fewer" in said("all-gather")
    assert "combine_threshold" not in said("all-gather", operands=1)
    assert "combine_threshold" not in said("all-gather", "")
    assert "combine_threshold" not in said("all-to-all")


def test_the_limit_is_for_collectives_that_wait_for_another_in_flight() -> None:
    limit = "overlap_limit (how many collectives may be in flight at once"
    said = advise_scheduling("gpu", "0153", "all-gather", is_async=True, overlaps=[QUEUED])
    assert f"check --xla_gpu_experimental_parallel_collective_{limit})." in said
    some = [QUEUED, overlap(WaitReason.SCHEDULER)]
    said = advise_scheduling("gpu", "0153", "all-gather", is_async=True, overlaps=some)
    assert f"{limit}; 1 of 2 wait for others)." in said
    said = advise_scheduling("gpu", "0153", "all-gather", is_async=True, overlaps=some[1:])
    assert "overlap_limit" not in said
    assert "JAX_ENABLE_PGLE" in said


def test_combined_operands_that_are_ready_early_have_the_threshold() -> None:
    said = find_remedy(None, COMBINED, "all-gather", "gpu", "0153")
    assert (
        "2 operands of the all-gather of `product` could be sent long before that is computed"
        in said
    )
    assert "a lower --xla_gpu_all_gather_combine_threshold_bytes" in said
    assert "threshold" not in find_remedy(None, COMBINED, "all-to-all", "gpu", "0153")


def test_the_step_that_made_collectives_synchronous(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("overlapped-gpu"), "jit_accumulated", BuildOptions(jobs=1))
    assert find_sync_step(module.snapshots) == "0008"
    assert find_sync_step(module.snapshots[-1:]) == ""


def test_a_tpu_has_the_options_of_the_kind_alone() -> None:
    synchronous = overlap(WaitReason.IS_SYNC)
    said = find_remedy(None, synchronous, "all-reduce", "tpu")
    assert "--xla_enable_async_all_reduce" in said
    assert "all_gather" not in said
    assert "all_to_all" not in said
    assert "--xla" not in find_remedy(None, synchronous, "collective-broadcast", "tpu")


def test_a_tpu_collective_that_is_asynchronous_needs_no_option_for_that() -> None:
    said = find_remedy(None, overlap(WaitReason.SCHEDULER), "collective-permute", "tpu", "0205")
    assert "xla_enable_async_collective_permute" not in said
    assert "step 0205" in said


def test_an_option_that_is_off_in_the_dump_is_said_to_be() -> None:
    flags = {"xla_tpu_enable_async_all_to_all": "false"}
    said = find_remedy(None, overlap(WaitReason.IS_SYNC), "all-to-all", "tpu", flags=flags)
    assert "--xla_tpu_enable_async_all_to_all (false) is off in this dump." in said


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        ("tpu", "--xla_tpu_enable_windowed_einsum_for_all_gather"),
        ("gpu", "--xla_gpu_threshold_for_windowed_einsum_mib"),
        (None, "it is a single collective."),
    ],
)
def test_a_collective_matmul_is_in_pieces_already(backend: str | None, words: str) -> None:
    waiting = overlap(WaitReason.DEPENDENCE)
    said = find_remedy(CauseKind.WINDOWED, waiting, "collective-permute", backend)
    assert "Compare with windowed einsums off" in said
    assert words in said
    assert "into pieces" not in said


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({}, f"Check that this kind may run asynchronously (--{REDUCE}, --{FUSE})."),
        (
            {REDUCE: "'false'", FUSE: "true"},
            f"Let this kind run asynchronously: --{REDUCE} (false) is off in this dump.",
        ),
        (
            {REDUCE: "DISABLED", FUSE: "false"},
            (
                f"Let this kind run asynchronously: --{REDUCE} (DISABLED) and --{FUSE} (false) are "
                "off in this dump."
            ),
        ),
        (
            {REDUCE: "auto", FUSE: "true"},
            (
                f"This kind may run asynchronously (--{REDUCE}=auto, --{FUSE}=true in this dump), "
                "but these do not. Set what is auto to true, to compare."
            ),
        ),
    ],
)
def test_advice_has_the_values_of_the_dump(flags: dict[str, str], words: str) -> None:
    assert advise_options("all-reduce", flags) == words


def test_what_is_asynchronous_is_not_to_be_made_so() -> None:
    free = overlap(WaitReason.SCHEDULER)
    said = advise_async("collective-permute", "0205", [free], {})
    assert said.startswith("It is asynchronous. The latency-hiding scheduler ran (step 0205)")
    queued = msgspec.structs.replace(free, queued=("other",))
    said = advise_async("collective-permute", "0205", [free, queued], {PERMUTES: "5"})
    assert said == f"Raise --{PERMUTES} (5 in this dump): 1 of 2 waits for others in flight."


def test_the_options_of_a_tpu_exist() -> None:
    known = {name for release in all_releases() for name in release.values}
    assert {name for names in TPU_OPTIONS.values() for name in names} <= known
    assert set(TPU_LIMITS.values()) <= known
    assert all(re.fullmatch(r"xla_\w+", name) for name in known)
