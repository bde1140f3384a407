"""What a run of something costs, in three figures that add up."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Total:
    """What one run of a computation costs, with all that it calls."""

    flops: int = 0
    transcendentals: int = 0
    bytes_accessed: int = 0

    def __add__(self, other: "Total") -> "Total":
        """Add up what runs one after the other."""
        return Total(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes_accessed + other.bytes_accessed,
        )

    def __mul__(self, times: int) -> "Total":
        """Multiply by how often it runs."""
        return Total(self.flops * times, self.transcendentals * times, self.bytes_accessed * times)

    def arithmetic(self) -> "Total":
        """Return the same without bytes: for what runs inside a fusion or on scalars."""
        return Total(self.flops, self.transcendentals, 0)


NO_COST = Total()


def weight(total: Total) -> int:
    """Return one number to compare costs by: a byte weighs as much as ten flops."""
    return total.flops + total.transcendentals + 10 * total.bytes_accessed


def total_of(totals: Iterable[Total]) -> Total:
    """Add up any number of costs."""
    flops = transcendentals = bytes_accessed = 0
    for total in totals:
        flops += total.flops
        transcendentals += total.transcendentals
        bytes_accessed += total.bytes_accessed
    return Total(flops, transcendentals, bytes_accessed)
