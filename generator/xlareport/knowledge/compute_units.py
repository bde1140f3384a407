"""Resources of a compute unit of each AMD GPU target: the table `compute_units.toml`."""

import re
from collections.abc import Mapping
from functools import cache

from msgspec import Struct, convert
from msgspec.structs import replace

from xlareport.runtime.resources import read_toml

_TARGET = re.compile(r"gfx[0-9a-f]{3,4}(?![0-9a-f])", re.ASCII)
_WIDE = 64


class ComputeUnit(Struct, frozen=True):
    """Limits of one compute unit, or of two that form a work-group processor."""

    capability: str
    """The target, `gfx942`."""
    warp: int
    """Threads of a wavefront."""
    partitions: int
    """SIMDs, each with its own vector registers."""
    warps_of_partition: int
    blocks: int
    """Work-groups of several wavefronts: each takes a barrier."""
    registers: int
    """Vector registers that the wavefronts of one SIMD share."""
    registers_of_thread: int
    register_unit: int
    """The registers of a wavefront are rounded up to it."""
    scalar_registers: tuple[tuple[int, int], ...]
    """(of a wavefront at most, wavefronts of a SIMD); empty where they never limit."""
    shared: int
    """Bytes of LDS."""
    shared_of_block: int
    shared_unit: int
    is_paired: bool
    """Whether two units form a work-group processor."""
    cards: Mapping[str, int]
    """Products, with how many compute units they have."""
    source: str

    @property
    def warps(self) -> int:
        """Return how many wavefronts are resident at most."""
        return self.partitions * self.warps_of_partition

    def running(self, warp: int | None, *, in_pairs: bool) -> "ComputeUnit":
        """Return the unit as it runs code for wavefronts of a size, in pairs or by itself."""
        unit = self
        if warp == _WIDE != self.warp:
            registers, step = self.registers // 2, self.register_unit // 2
            unit = replace(unit, warp=_WIDE, registers=registers, register_unit=step)
        if in_pairs and self.is_paired:
            unit = replace(
                unit,
                partitions=2 * self.partitions,
                blocks=2 * self.blocks,
                shared=2 * self.shared,
            )
        return unit


@cache
def compute_units() -> Mapping[str, ComputeUnit]:
    """Return the table by target."""
    table = read_toml(__package__, "compute_units.toml")
    return {key: convert({"capability": key, **row}, ComputeUnit) for key, row in table.items()}


def amd_target_of(words: str) -> str:
    """Return the target that a text names, as `gfx90a` in `gfx90a:sramecc+`; else ''."""
    match = _TARGET.search(words)
    return match[0] if match else ""
