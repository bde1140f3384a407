"""What a difference between ranks means: each kind has a verdict and a reason, in one order."""

from typing import get_args

from xlareport.analysis.ranks.verdicts import (
    REASONS,
    VERDICTS,
    DifferenceKind,
    RankVerdict,
    worse,
)


def test_each_kind_has_a_verdict_and_a_reason_that_is_a_sentence() -> None:
    kinds = set(get_args(DifferenceKind))
    assert VERDICTS.keys() == REASONS.keys() == kinds
    assert all(reason.endswith(".") for reason in REASONS.values())


def test_what_is_unknown_is_worse_than_harmless_and_better_than_wrong_numbers() -> None:
    order = [
        RankVerdict.SAME,
        RankVerdict.HARMLESS,
        RankVerdict.UNKNOWN,
        RankVerdict.DEVICE_LOCAL,
        RankVerdict.NUMBERS,
        RankVerdict.DANGEROUS,
    ]
    assert set(order) == set(RankVerdict)
    for place, verdict in enumerate(order):
        assert [worse(other, verdict) for other in order] == [
            number > place for number in range(len(order))
        ]


def test_what_makes_devices_wait_or_exchange_other_values_is_dangerous_and_nothing_else() -> None:
    dangerous = {kind for kind, verdict in VERDICTS.items() if verdict is RankVerdict.DANGEROUS}
    assert dangerous == {"collectives", "values"}
