"""How the module grows from snapshot to snapshot."""

import pytest
from tests.analysis.small_modules import dot, modules

from xlareport.analysis.cost.work import Costs
from xlareport.analysis.passes.growth import measure_growth


def test_growth_counts_each_snapshot() -> None:
    small, large = measure_growth(
        modules(dot(), "  %n = f32[8,4]{1,0} negate(%x)\n" + dot()), Costs()
    )
    assert (small.instructions, large.instructions) == (2, 3)
    assert small.flops is not None
    assert large.flops == small.flops + 32


def test_the_ends_are_counted_however_large_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xlareport.analysis.passes.growth._BUDGET", 0)
    lines = [f"  %n{number} = f32[8,4]{{1,0}} negate(%x)\n" for number in range(3)]
    grown = modules(*("".join(lines[:count]) + dot() for count in range(4)))
    growth = measure_growth(grown, Costs())
    assert [one.flops is not None for one in growth] == [True, False, False, True]
