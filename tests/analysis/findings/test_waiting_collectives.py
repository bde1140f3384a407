"""Which collectives of a kind the finding means."""

from collections.abc import Callable

import pytest

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.waiting_collectives import waiting_collectives

_GROUPS = "dimensions={0}, replica_groups=[1,4]<=[4], use_global_device_ids=true"
TEXT = f"""HloModule m, is_scheduled=true, num_partitions=4

ENTRY e {{
  a = f32[1024,1024] parameter(0)
  b = f32[1024,1024] parameter(1)
  g = f32[4096,1024] all-gather(a), channel_id=1, {_GROUPS}
  h = f32[4096,1024] all-gather(b), channel_id=2, {_GROUPS}
  m = f32[4096,1024] exponential(h)
  ROOT t = (f32[4096,1024], f32[4096,1024]) tuple(g, m)
}}
"""
STARTED = TEXT.replace(
    f"h = f32[4096,1024] all-gather(b), channel_id=2, {_GROUPS}",
    "s = (f32[1024,1024], f32[4096,1024]) all-gather-start(b), channel_id=2, "
    f"{_GROUPS}\n  h = f32[4096,1024] all-gather-done(s)",
)

_ONE = "1 of 2 all-gathers runs synchronously although independent work could overlap it"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            TEXT,
            f"{_ONE} (all 2 are synchronous): ",
        ),
        (
            STARTED,
            f"{_ONE}: ",
        ),
        (
            TEXT.replace("exponential(h)", "exponential(c)").replace(
                "  g =", "  c = f32[4096,1024] parameter(2)\n  g ="
            ),
            "2 all-gathers run synchronously although independent work could overlap them: ",
        ),
    ],
)
def test_some_of_a_kind_are_those_that_could_overlap(
    case_of: Callable[..., Case], text: str, words: str
) -> None:
    (finding,) = waiting_collectives(case_of(text))
    assert finding.evidence.startswith(words)
