"""Tables for data frames: columns of equal length by name, of modules, steps and instructions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from msgspec import Struct

from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.operation_families import family_in
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


class ColumnTable(Struct, frozen=True):
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
        return _package("pyarrow").table(
            {name: list(column) for name, column in self.columns.items()}
        )


def tabulate_modules(summaries: Sequence[ModuleSummary]) -> ColumnTable:
    """Return the modules of a dump with the figures of their final snapshots."""
    final = [summary.final for summary in summaries]
    return ColumnTable(
        {
            "module": [summary.files.key for summary in summaries],
            "name": [summary.display_name for summary in summaries],
            "snapshots": [len(summary.stages) for summary in summaries],
            "instructions": [figures.instructions for figures in final],
            "computations": [figures.computations for figures in final],
            "flops": [figures.flops for figures in final],
            "bytes_accessed": [figures.bytes_accessed for figures in final],
            "allocated_bytes": [figures.allocated_bytes for figures in final],
            "peak_bytes": [figures.occupied_peak_bytes for figures in final],
            "temp_bytes": [figures.temp_bytes for figures in final],
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
            "modified": [step.modified_count for step in steps],
            "instructions": [step.after.instructions for step in steps],
            "fusions": [step.after.fusions for step in steps],
            "headline": [step.headline for step in steps],
        }
    )


def tabulate_instructions(
    module: HloModule, cost: ModuleCost, source_of: Callable[[Instruction], SourcePlace | None]
) -> ColumnTable:
    """Return the instructions of a snapshot; FLOPs and bytes are those of all executions."""
    placed = list(module.placed)
    costs = [cost.instructions.get((where.name, instruction.name)) for where, instruction in placed]
    sources = [source_of(instruction) for _, instruction in placed]
    return ColumnTable(
        {
            "computation": [where.name for where, _ in placed],
            "instruction": [instruction.name for _, instruction in placed],
            "opcode": [instruction.opcode for _, instruction in placed],
            "operation": [family_in(where, instruction) for where, instruction in placed],
            "shape": [instruction.shape.text for _, instruction in placed],
            "executions": [cost.executions if cost else None for cost in costs],
            "flops": [cost.of_all_runs(cost.flops) if cost else None for cost in costs],
            "bytes_accessed": [
                cost.of_all_runs(cost.bytes_accessed) if cost else None for cost in costs
            ],
            "fused": [cost.fused if cost else None for cost in costs],
            "op_name": [instruction.metadata.op_name or None for _, instruction in placed],
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
