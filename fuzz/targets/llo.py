"""Files of the TPU's low-level compiler: one reader each, chosen by the first byte."""

from collections.abc import Callable
from typing import Any

from xlareport.analysis.tpu.code_figures import count_code
from xlareport.analysis.tpu.control import bundles_with_operations, control_actions
from xlareport.analysis.tpu.dynamic_cycles import dynamic_cycles
from xlareport.analysis.tpu.tpu_program import find_loops
from xlareport.readers.llo.bundles import read_bundles
from xlareport.readers.llo.hlo_details import read_hlo_details
from xlareport.readers.llo.regions import LoopBounds, read_regions
from xlareport.readers.llo.small_files import (
    read_bundle_profile,
    read_deduplication,
    read_register_pressure,
    read_schedule,
)
from xlareport.readers.llo.utilization import read_utilization
from xlareport.readers.llo.vmem_report import read_vmem_report
from xlareport.runtime.errors import Problem

_BOUNDS = (LoopBounds(0, 1, 66),)


def _run(data: bytes, path: str) -> tuple[Any, list[Problem]]:
    """Read a listing and run its scalar operations."""
    listing, problems = read_bundles(data, path)
    code = [*bundles_with_operations(listing.bundles)]
    actions = control_actions(code)
    cycles = dynamic_cycles(actions, len(listing.bundles), 4, _BOUNDS, 64)
    assert cycles.cycles is None or cycles.cycles >= 0
    counts = cycles.counts
    find_loops(actions, _BOUNDS, 4, counts, count_code(code).waiting)
    return [bundle.callee for bundle in listing.bundles], problems


READERS: tuple[Callable[[bytes, str], tuple[Any, list[Problem]]], ...] = (
    *(_run, read_utilization, read_regions, read_schedule, read_register_pressure),
    *(read_hlo_details, read_bundle_profile, read_deduplication, read_vmem_report),
)


def check(data: bytes) -> None:
    """Read what follows the first byte with the reader that the byte names."""
    _, problems = READERS[(data or b"\0")[0] % len(READERS)](data[1:], "a")
    assert all(problem.path == "a" for problem in problems)
