"""Advice on asynchronous collectives of TPUs follows the flags of the dump."""

import re

import msgspec
import pytest
from tests.analysis.collectives.overlaps import overlap

from xlareport.analysis.collectives.async_options import (
    TPU_LIMITS,
    TPU_OPTIONS,
    advise_async,
    advise_options,
)
from xlareport.analysis.collectives.schedule import WaitReason
from xlareport.knowledge.tpu_defaults import all_releases

REDUCE, FUSE = TPU_OPTIONS["all-reduce"]
PERMUTES = TPU_LIMITS["collective-permute"]


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
