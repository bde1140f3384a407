"""The library: a dump as typed objects, for notebooks and tests.

Modules are read on demand, all of them in this process. Relations between modules come from the
pipeline of `report.py`, so that they are the same as in the report. Close the report, or use it in
a `with`, if the dump is an archive: it is unpacked as long as the report is open.
"""

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from xlareport import program
from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.cost.memory import (
    ModuleMemory,
    PlacedValue,
    collect_memory_figures,
    with_buffers,
)
from xlareport.analysis.cost.work import InstructionCost, ModuleCost, count_cost
from xlareport.analysis.dump import AnalyzedDump, DumpRelations, relate_modules
from xlareport.analysis.extract import cut_computation, cut_instruction
from xlareport.analysis.history.events import HistoryEvent
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.subjects import find_subjects, near_names
from xlareport.analysis.history.trace import trace_subject
from xlareport.analysis.instruction_graph import instruction_graph
from xlareport.analysis.module import outline_parsed
from xlareport.analysis.module_steps import step_at
from xlareport.analysis.modules.recompilations import RecompilationGroup
from xlareport.analysis.modules.signature import Signature, read_signature
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.operation_families import instructions_of
from xlareport.analysis.passes.step_boundaries import find_boundaries
from xlareport.analysis.source.locations import PlacedInstruction, SourcePlace, places_of
from xlareport.analysis.steps.step import StepChange, step
from xlareport.analysis.tpu.module_programs import TpuFiles, read_tpu_programs
from xlareport.analysis.tpu.program_record import TpuProgram, TpuSummary
from xlareport.dump.grouping import group_source
from xlareport.dump.modules import ModuleFiles, find_module
from xlareport.dump.source import local_path, open_source
from xlareport.dump_reading import read_outlines
from xlareport.hlo.digests import HloDigests
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.text import TextReader
from xlareport.pages.modules.notebook import notebook_table, show_file
from xlareport.records.column_tables import (
    ColumnTable,
    tabulate_instructions,
    tabulate_modules,
    tabulate_steps,
)
from xlareport.report import BuildOptions, build
from xlareport.runtime import units
from xlareport.runtime.errors import Problem, UnknownNameError, UnreadableInputError
from xlareport.runtime.limits import LIMITS, Limits
from xlareport.share import PackOptions, share
from xlareport.site.fitting import LIMIT

if TYPE_CHECKING:
    import networkx as nx


def read(dump: str | Path, limits: Limits = LIMITS) -> "Report":
    """Open a dump: a directory, an archive, a file, a captured log, a report or its zip, a URL.

    Raises XlareportError where it cannot be read.
    """
    return Report(dump, limits)


def read_text(text: str, label: str = "text") -> "Snapshot":
    """Read one HLO module as XLA or a person writes it; raises UnreadableInputError."""
    reader = TextReader()
    module = reader.read(text.encode("utf-8", "replace"), label)
    if module is None or not module.computations:
        raise UnreadableInputError(f"{label} holds no HLO module.")
    return Snapshot(label, label, module, tuple(reader.problems))


class CompiledProgram(Protocol):
    """The result of `jax.jit(f).lower(...).compile()`."""

    def as_text(self) -> str:
        """Return the optimized module as HLO text."""


def from_jax(compiled: CompiledProgram) -> "Snapshot":
    """Return the optimized module of a program that JAX compiled, without a dump.

    Raises UnreadableInputError if JAX has no HLO text of it, for example for a lowered program,
    which is StableHLO: compile it first.
    """
    return read_text(compiled.as_text(), "compiled")


class Report:
    """A dump and its modules."""

    def __init__(self, dump: str | Path, limits: Limits = LIMITS) -> None:
        """Open the dump; only file names are read, and files that ranks may share."""
        self._stack = ExitStack()
        self._source = self._stack.enter_context(open_source(dump, limits))
        self._limits = limits
        self._named = group_source(self._source)
        self.path = local_path(dump) or self._source.name
        self.modules = tuple(Module(module) for module in self._named.grouped.modules)
        """In the order of the compilation; a module that several processes compiled, once."""

    def __enter__(self) -> Self:
        """Return the report; leaving the `with` closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the report."""
        self.close()

    def __repr__(self) -> str:
        """Name the dump and count its modules."""
        return f"<Report {self.path}: {units.plural(len(self.modules), 'module')}>"

    def _repr_html_(self) -> str:
        """Return a table of the modules for a notebook, without reading any."""
        return notebook_table(repr(self), [module.files for module in self.modules])

    def show(self, file: str | Path = "xla-report.html", *, embed: bool = False) -> None:
        """Write the report as one HTML file, and show it in the current notebook.

        The notebook refers to the file, which has to stay next to it; with `embed` it contains a
        copy. Outside of notebooks the name of the file is printed. Raises XlareportError.
        """
        target = Path(file)
        with tempfile.TemporaryDirectory(prefix="xlareport-") as folder:
            build(self.path, BuildOptions(out=Path(folder), jobs=os.cpu_count() or 1))
            share(Path(folder), PackOptions(target, LIMIT, single=True))
        show_file(target, self._repr_html_(), embed=embed)

    def table(self) -> ColumnTable:
        """Return a row for each module with the figures of its final snapshot; reads all."""
        return tabulate_modules(self._analyzed.summaries)

    def close(self) -> None:
        """Remove unpacked files; objects that were read stay usable."""
        self._stack.close()

    def __getitem__(self, name: str) -> "Module":
        """Return the module of a name or key; raises UnknownNameError."""
        files = find_module([module.files for module in self.modules], name, str(self.path))
        return next(module for module in self.modules if module.files is files)

    @cached_property
    def _analyzed(self) -> AnalyzedDump:
        return read_outlines(self._source, self._named, self._limits)

    @cached_property
    def _relations(self) -> DumpRelations:
        return relate_modules(self._analyzed)

    @property
    def recompilations(self) -> tuple[RecompilationGroup, ...]:
        """Functions that one process compiled several times; reads every module."""
        return tuple(self._relations.recompilations)

    @cached_property
    def main(self) -> "Module":
        """The best guess for the main program; reads every module."""
        guess = self._relations.guess
        if guess is None:
            raise UnreadableInputError(f"{self.path} holds no module that could be read.")
        return self[guess.best.summary.files.key]


class Module:
    """A module: its snapshots, cost, memory, and the history of every instruction."""

    def __init__(self, files: ModuleFiles) -> None:
        """Keep the files; none of them is read yet."""
        self.files = files
        self.key = files.key
        """Its key in a report and on the command line."""
        self.name = files.name

    def __repr__(self) -> str:
        """Name it."""
        return f"<Module {self.key}>"

    @cached_property
    def read(self) -> program.ParsedModule:
        """The parsed module, for data that this class does not offer."""
        return program.read_module(self.files)

    @cached_property
    def stages(self) -> tuple["Snapshot", ...]:
        """Every snapshot that could be read, in order."""
        return tuple(
            Snapshot(snapshot.stage.key, snapshot.stage.label, snapshot.hlo)
            for snapshot in self.read.snapshots
        )

    @property
    def first(self) -> "Snapshot":
        """The module as it was given to the compiler, or the earliest snapshot there is."""
        return self._at_least_one()[0]

    @property
    def final(self) -> "Snapshot":
        """The module after optimizations, or the latest snapshot there is."""
        places = [
            place
            for place, snapshot in enumerate(self.read.snapshots)
            if snapshot is self.read.final
        ]
        return self._at_least_one()[places[-1] if places else -1]

    def _at_least_one(self) -> tuple["Snapshot", ...]:
        if not self.stages:
            raise UnreadableInputError(f"No snapshot of {self.key} could be read.")
        return self.stages

    @cached_property
    def steps(self) -> tuple[StepChange, ...]:
        """The changes from each snapshot to the next: one fewer than there are snapshots."""
        return tuple(step_at(self.read, boundary) for boundary in find_boundaries(self.read))

    def steps_table(self) -> ColumnTable:
        """Return a row for each step with its changes, counted in instructions."""
        return tabulate_steps([stage.label for stage in self.stages[1:]], self.steps)

    @cached_property
    def memory(self) -> ModuleMemory:
        """The memory figures of the compiler; None for those that the dump does not have."""
        files = self.read.memory
        figures = collect_memory_figures(files.assignment, files.live, files.usage)
        return with_buffers(figures, files.assignment)

    def top_buffers(self, count: int = 10) -> tuple[PlacedValue, ...]:
        """Return `memory.top_buffers(count)`; deprecated name."""
        former = "Module.top_buffers(n) is called memory.top_buffers(n)."
        warnings.warn(former, DeprecationWarning, stacklevel=2)
        return self.memory.top_buffers(count)

    @cached_property
    def tpu_programs(self) -> tuple[TpuProgram, ...]:
        """The TPU programs of its instructions; empty if the dump has no LLO files."""
        return self._tpu.module.programs if self._tpu.module else ()

    @cached_property
    def tpu(self) -> TpuSummary | None:
        """The figures of all its TPU programs together; None if the dump has no LLO files."""
        return self._tpu.module.summary if self._tpu.module else None

    @cached_property
    def _tpu(self) -> TpuFiles:
        costed = cost_module(self.read, "tpu")
        return read_tpu_programs(costed) if costed else TpuFiles()

    @cached_property
    def summary(self) -> ModuleSummary:
        """The figures of it in the report."""
        return outline_parsed(self.read).summary

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of reading it."""
        return (*self.read.problems, *self._tpu.problems)

    @cached_property
    def _sequence(self) -> SnapshotSequence:
        """The snapshots with their matchings so far; existing `steps` are used."""
        steps: tuple[StepChange, ...] = self.__dict__.get("steps", ())
        matchings = {
            number: change.matching for number, change in enumerate(steps, 1) if change.matching
        }
        return SnapshotSequence([stage.hlo for stage in self.stages], matchings)

    def history(self, op: str) -> tuple[HistoryEvent, ...]:
        """Return the events of an instruction (`%fusion.3`) or a framework op, in order.

        The first call matches all snapshots, the next ones take milliseconds. Raises
        UnknownNameError. `number` of an event is an index into `stages`.
        """
        snapshots = self._sequence
        subjects = find_subjects(snapshots, op, None)
        if not subjects:
            raise UnknownNameError(f"{self.key} has no {op!r}", near_names(snapshots, op))
        return trace_subject(snapshots, subjects[0]).events


class Snapshot:
    """A snapshot of a module."""

    def __init__(
        self, key: str, label: str, hlo: HloModule, problems: tuple[Problem, ...] = ()
    ) -> None:
        """Take the module as it was read."""
        self.key = key
        """`0017`, `after_optimizations`."""
        self.label = label
        self.hlo = hlo
        self.problems = problems
        """The problems of reading a text; those of a dump are at its module."""
        self._known: dict[int, PlacedInstruction] = {}

    def __repr__(self) -> str:
        """Name it."""
        return f"<Snapshot {self.label}>"

    @property
    def computations(self) -> tuple[Computation, ...]:
        """In the order of the text."""
        return self.hlo.computations

    def instructions(
        self, opcode: str | None = None, op_name: str | None = None
    ) -> tuple[PlacedInstruction, ...]:
        """Return the instructions of all computations, those of an opcode and a framework op.

        `opcode` may hold `*`; one that names an operation finds it in each of its forms: with
        `all-reduce` also `all-reduce-start`, and `reduce-scatter` in the fusion in which a TPU
        writes it. `op_name` is a regular expression that is searched for in the op's path.
        Raises UnknownNameError for an opcode that does not exist.
        """
        wanted = re.compile(op_name) if op_name is not None else None
        instructions = (
            self.hlo.instructions if opcode is None else instructions_of(self.hlo, opcode)
        )
        return tuple(
            self._placed(instruction)
            for instruction in instructions
            if wanted is None or wanted.search(instruction.metadata.op_name)
        )

    def _placed(self, instruction: Instruction) -> PlacedInstruction:
        """Return an instruction with its snapshot, the same object each time."""
        placed = self._known.get(id(instruction))
        if placed is None:
            placed = self._known[id(instruction)] = PlacedInstruction.of(
                instruction, self.source_of
            )
        return placed

    def table(self) -> ColumnTable:
        """Return a row for each instruction with its cost, its op_name and its source line."""
        return tabulate_instructions(self.hlo, self.cost, self.source_of)

    def graph(self) -> "nx.MultiDiGraph[InstructionKey]":
        """Return the instructions as a networkx graph: operands and called computations."""
        return instruction_graph(self.hlo, self.cost)

    def source_of(self, instruction: Instruction) -> SourcePlace | None:
        """Return file, line and function of the user's program; None where they are not known."""
        return self._source_places(instruction)

    @cached_property
    def _source_places(self) -> Callable[[Instruction], SourcePlace | None]:
        return places_of(self.hlo)

    @cached_property
    def cost(self) -> ModuleCost:
        """The cost of one run; unknown figures are None."""
        return count_cost(self.hlo)

    @property
    def costs(self) -> Mapping[tuple[str, str], InstructionCost]:
        """The cost of each instruction by (computation, instruction)."""
        return self.cost.instructions

    @cached_property
    def signature(self) -> Signature:
        """Parameters and results."""
        return read_signature(self.hlo)

    def same_code(self, other: "Snapshot") -> bool:
        """Return whether both differ in nothing but names, numbers and source lines."""
        forms = HloDigests()
        return forms.of_module(self.hlo, ordered=True) == forms.of_module(other.hlo, ordered=True)

    def difference(self, after: "Snapshot") -> StepChange:
        """Return the changes from this snapshot to another one, of this or another dump."""
        return step(self.hlo, after.hlo)

    def cut(self, computation: str, instruction: str | None = None, radius: int = 0) -> str:
        """Return a computation, or an instruction with its operands, as a module of its own."""
        if instruction is None:
            return cut_computation(self.hlo, computation)
        return cut_instruction(self.hlo, computation, instruction, radius)
