"""Values that only sums and moves read; instructions that name themselves end the search."""

from collections.abc import Callable

import pytest
from tests.analysis.findings.texts import having

from xlareport.analysis.findings import linear_flow
from xlareport.analysis.findings.accumulated_reductions import accumulated_reductions
from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.linear_flow import Tracks, follow, is_plain

CYCLES = """HloModule m

inner {
  %p = f32[4] parameter(0)
  %a = f32[4] call(%p), to_apply=inner
  ROOT %b = f32[4] call(%a), to_apply=inner
}

ENTRY main {
  %c = f32[4] constant({1, 2, 3, 4})
  %d = f32[4] negate(%c)
  %e = f32[4] copy(%e)
  %p = f32[4] parameter(0)
  %s = f32[4] add(%p, %d)
  ROOT %r = f32[4] call(%s), to_apply=inner
}
"""


def test_a_copy_of_itself_is_no_constant(case_of: Callable[..., Case]) -> None:
    entry = case_of(CYCLES).module.by_name["main"]
    assert is_plain(entry, "d")
    assert not is_plain(entry, "e")


def test_calls_of_calls_end_at_the_limit(
    case_of: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear_flow, "_MOST_STEPS", 20)
    module = case_of(CYCLES).module
    tracks = Tracks(module)
    follow(module.by_name["main"], {"p": {(): frozenset({"p"})}}, tracks)
    assert tracks.spent == {"p"}
    assert tracks.steps < 60


NESTED = having("accumulated-reductions", "nested_by_hand")
SELECT = "begun = f32[1024,1024] select(each, nones, c)"


@pytest.mark.parametrize(
    ("begun", "saved"),
    [
        (SELECT, "66.0 MiB"),  # 11 of 12 iterations: both loops only sum
        ("begun = f32[1024,1024] copy(c)", "66.0 MiB"),
        ("begun = f32[1024,1024] multiply(c, c)", "54.0 MiB"),
        ("begun = f32[1024,1024] add(c, w)", "54.0 MiB"),
    ],
)
def test_a_sum_goes_on_through_an_inner_loop(
    begun: str, saved: str, case_of: Callable[..., Case]
) -> None:
    (finding,) = accumulated_reductions(case_of(NESTED.replace(SELECT, begun)))
    assert f"saves {saved} and" in finding.evidence


def test_a_sum_that_devices_reset_on_their_own_goes_on_no_further(
    case_of: Callable[..., Case],
) -> None:
    own = "first = pred[] compare(device, origin)"
    text = NESTED.replace(
        "  first = pred[] compare(j, origin)", f"  device = u32[] partition-id()\n  {own}"
    )
    (finding,) = accumulated_reductions(case_of(text))
    assert "saves 54.0 MiB and" in finding.evidence


@pytest.mark.parametrize(
    ("of_final", "of_program", "is_cast"),
    [
        ("f/while/body/psum_invariant", "", True),
        ("f/while/body/psum", "psum_invariant", False),
        ("", "mlp/psum_invariant", True),
        ("", "mlp/psum", False),
        ("", "", False),
    ],
)
def test_sums_of_a_differentiated_shard_map_have_the_remedy_of_their_own(
    of_final: str, of_program: str, case_of: Callable[..., Case], *, is_cast: bool
) -> None:
    def named(op_name: str) -> str:
        return NESTED.replace(
            "to_apply=add",
            f'to_apply=add, metadata={{op_name="{op_name}"}}' if op_name else "to_apply=add",
        )

    (finding,) = accumulated_reductions(case_of(named(of_final), named(of_program)))
    assert ("jax.lax.pcast" in finding.suggestion) is is_cast
    assert ("`psum` after it" in finding.suggestion) is not is_cast
    assert finding.suggestion.endswith("which is more where they were sharded.")


def test_each_loop_that_adds_up_the_results_is_named(case_of: Callable[..., Case]) -> None:
    """The inner loop is most of the saving, though an outer one adds up its sums."""
    (finding,) = accumulated_reductions(case_of(having("accumulated-reductions", "by_hand")))
    assert "`w` runs 4 times and only adds their results to its state" in finding.evidence
    (nested,) = accumulated_reductions(case_of(NESTED))
    assert "in each of 3 iterations of `w`; each loop only adds their results" in nested.evidence
