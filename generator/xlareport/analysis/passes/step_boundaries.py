"""The certain facts between the snapshots of a module, from file names and metadata."""

from collections.abc import Sequence
from itertools import pairwise

from xlareport import reader_table
from xlareport.analysis.passes.pass_times import refine_boundaries
from xlareport.analysis.steps.boundaries import Boundary, boundaries
from xlareport.program import ParsedModule
from xlareport.snapshots import ParsedSnapshot


def find_boundaries(module: ParsedModule) -> tuple[Boundary, ...]:
    """Return the boundary of each step."""
    stages = [snapshot.stage for snapshot in module.snapshots]
    by_names = boundaries(stages, compare_neighbors(module.snapshots))
    passes = module.side.of(reader_table.PASS_METADATA)
    return refine_boundaries(by_names, stages, passes) if passes else by_names


def compare_neighbors(snapshots: Sequence[ParsedSnapshot]) -> list[bool]:
    """Return for each snapshot but the first whether it equals the previous one."""
    return [_holds_same(before, after) for before, after in pairwise(snapshots)]


def _holds_same(before: ParsedSnapshot, after: ParsedSnapshot) -> bool:
    headers = before.hlo.header == after.hlo.header or not has_same_form(before, after)
    return headers and before.hlo.computations == after.hlo.computations


def has_same_form(before: ParsedSnapshot, after: ParsedSnapshot) -> bool:
    """Return whether two snapshots were read from the same file format; protos lack attributes."""
    return before.read_from.name.kind == after.read_from.name.kind
