"""Scores the estimate of the peak of memory against what is in use by the live ranges.

Usage: `python benchmarks/score_peak.py`; XLAREPORT_DUMPS names a folder of further unpacked dumps.
"""

from collections.abc import Iterator
from statistics import median

from dumps import dumps, modules
from score_code import final_only

from xlareport.analysis.cost.memory_estimate import estimate_peak
from xlareport.analysis.cost.occupancy import measure_occupancy
from xlareport.dump.modules import ModuleFiles
from xlareport.program import read_module

_NEAR = (1.1, 1.25, 2.0)


def ratio(files: ModuleFiles) -> float | None:
    """Return the estimated peak in parts of the occupied peak; None without either."""
    module = read_module(final_only(files))
    occupancy = measure_occupancy(module.memory.assignment, module.memory.live)
    estimate = estimate_peak(module.final.hlo) if module.final else None
    return estimate.bytes / occupancy.peak if estimate and occupancy and occupancy.peak else None


def ratios() -> Iterator[float]:
    """Yield that of each module of each dump."""
    for dump in dumps():
        found = [one for files in modules(dump) if (one := ratio(files)) is not None]
        if found:
            print(f"{dump.name:44}{len(found):>8}{min(found):>8.2f}{max(found):>8.2f}")
        yield from found


def main() -> None:
    """Print one line for each dump, and how many of all come near."""
    print(f"{'dump':44}{'modules':>8}{'least':>8}{'most':>8}")
    found = list(ratios())
    print(f"{'all':44}{len(found):>8}{min(found):>8.2f}{max(found):>8.2f}")
    for most in _NEAR:
        near = sum(1 / most <= one <= most for one in found)
        print(f"within a factor of {most}: {near / len(found):.1%}")
    print(f"median: {median(found):.3f}")


if __name__ == "__main__":
    main()
