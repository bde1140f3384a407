"""What values in memory are for, where that determines how to save them."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from xlareport.analysis.cost.drawn_shares import find_drawn_shares
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.cost_report.joined_operands import JoinedOperand, find_joined_operands
from xlareport.analysis.cost_report.partial_sums import find_partial_sums
from xlareport.analysis.cost_report.result_gradients import ResultGradient, find_result_gradients
from xlareport.hlo.model import HloModule


class ValuePurposes(Struct, frozen=True):
    """The purposes of values, by their instructions."""

    drawn_shares: Mapping[str, str] = field(default_factory=dict)
    """The shape of the slice that alone uses the numbers of a random generator."""
    partial_sums: Mapping[str, int] = field(default_factory=dict)
    """The bytes of the sum, of a matmul whose result is the partial sums of split-K."""
    joined_operands: Mapping[str, JoinedOperand] = field(default_factory=dict)
    """Operands of collectives that are several arrays in a row."""
    result_gradients: Mapping[str, ResultGradient] = field(default_factory=dict)
    """What the gradients of results of matmuls belong to."""


def find_purposes(module: HloModule, cost: ModuleCost, names: Iterable[str]) -> ValuePurposes:
    """Return the purposes of values; gradients of results only among the instructions named."""
    return ValuePurposes(
        drawn_shares=find_drawn_shares(module),
        partial_sums=find_partial_sums(module, cost),
        joined_operands=find_joined_operands(module),
        result_gradients=find_result_gradients(module, names),
    )
