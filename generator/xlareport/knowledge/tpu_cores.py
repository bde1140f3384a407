"""Resources of a core of each TPU: the table `tpu_cores.toml`."""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from xlareport.knowledge.table_files import read_table

_COUNTED = ("MXU", "XLU", "VALU", "VSTORE")
"""Units whose number differs between chips."""


class TpuCore(Struct, frozen=True):
    """One core of a TPU."""

    name: str
    """The device's key in `devices.toml`."""
    mxu: int
    """Rows and columns of a matrix unit."""
    rows_per_cycle: int
    """Of the left operand that one matrix unit takes in a cycle."""
    delay_slots: int
    """Bundles behind a branch that run in any case."""
    cores: int
    """Number of cores of a device, which can share the work of one program."""
    capacity: tuple[int, ...]
    """How many MXUs, XLUs, VALUs and stores a bundle can use."""
    clock: float
    """Cycles per second, derived from the maker's peak."""

    @property
    def macs_per_mxu_cycle(self) -> int:
        """Multiply-adds of one matrix unit per cycle."""
        return self.mxu * self.mxu * self.rows_per_cycle


@cache
def tpu_cores() -> Mapping[str, TpuCore]:
    """Return the cores that are known, by the device's key."""
    return read_table("tpu_cores", TpuCore)


def cores_like(capacity: Mapping[str, int]) -> tuple[TpuCore, ...]:
    """Return the cores with as many units as a utilization table states."""
    counts = tuple(capacity.get(unit, 0) for unit in _COUNTED)
    return tuple(core for core in tpu_cores().values() if core.capacity == counts)
