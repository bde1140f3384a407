"""Tables for data frames: columns of equal length by name, of modules, steps and instructions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.operations import family_in
from xlareport.analysis.source.locations import SourcePlace
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import HloModule, Instruction
from xlareport.runtime.errors import XlareportError

Cell = str | int | float | bool | None
"""None is not known, never 0."""


class MissingPackageError(XlareportError):
    """A package that is not part of the installation is needed."""

    def __init__(self, package: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'xlareport[data]'.")


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """Columns by name, each with a value for every row."""

    columns: Mapping[str, Sequence[Cell]]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """Yield the rows, each as values by column."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))

    def __repr__(self) -> str:
        return f"<ColumnTable {len(self):,} rows: {', '.join(self.columns)}>"

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame, in types that have a missing value.

        Raises MissingPackageError without pandas.
        """
        return _package("pandas").DataFrame(dict(self.columns)).convert_dtypes()

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table; raises MissingPackageError without pyarrow."""
        return _package("pyarrow").table({name: list(each) for name, each in self.columns.items()})


def tabulate_modules(summaries: Sequence[ModuleSummary]) -> ColumnTable:
    """Return the modules of a dump with the figures of their final snapshots."""
    final = [summary.final for summary in summaries]
    return ColumnTable(
        {
            "module": [summary.files.key for summary in summaries],
            "name": [summary.display_name for summary in summaries],
            "snapshots": [len(summary.stages) for summary in summaries],
            "instructions": [each.instructions for each in final],
            "computations": [each.computations for each in final],
            "flops": [each.flops for each in final],
            "bytes_accessed": [each.bytes_accessed for each in final],
            "allocated_bytes": [each.allocated_bytes for each in final],
            "peak_bytes": [each.occupied_peak_bytes for each in final],
            "temp_bytes": [each.temp_bytes for each in final],
            "collectives": [summary.collectives for summary in summaries],
        }
    )


def tabulate_steps(labels: Sequence[str], steps: Sequence[StepChange]) -> ColumnTable:
    """Return the steps of a module by the labels of the snapshots that they led to."""
    return ColumnTable(
        {
            "step": list(labels),
            "changed": [not step.identical for step in steps],
            "added": [len(step.added) for step in steps],
            "removed": [len(step.removed) for step in steps],
            "modified": [len(step.modified) for step in steps],
            "instructions": [step.after.instructions for step in steps],
            "fusions": [step.after.fusions for step in steps],
            "headline": [step.headline for step in steps],
        }
    )


def tabulate_instructions(
    module: HloModule, cost: ModuleCost, source_of: Callable[[Instruction], SourcePlace | None]
) -> ColumnTable:
    """Return the instructions of a snapshot; FLOPs and bytes are those of all executions."""
    placed = [
        (computation, instruction)
        for computation in module.computations
        for instruction in computation.instructions
    ]
    costs = [cost.instructions.get((where.name, each.name)) for where, each in placed]
    sources = [source_of(each) for _, each in placed]
    return ColumnTable(
        {
            "computation": [where.name for where, _ in placed],
            "instruction": [each.name for _, each in placed],
            "opcode": [each.opcode for _, each in placed],
            "operation": [family_in(where, each) for where, each in placed],
            "shape": [each.shape.text for _, each in placed],
            "executions": [each.executions if each else None for each in costs],
            "flops": [each.of_all_runs(each.flops) if each else None for each in costs],
            "bytes_accessed": [
                each.of_all_runs(each.bytes_accessed) if each else None for each in costs
            ],
            "fused": [each.fused if each else None for each in costs],
            "op_name": [each.metadata.op_name or None for _, each in placed],
            "source_file": [source.file if source else None for source in sources],
            "source_line": [source.line if source else None for source in sources],
            "function": [source.function or None if source else None for source in sources],
        }
    )


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackageError(name) from error
