"""The code of a module: files of kernels and machine code read and linked with its instructions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.code.code_files import CodeFile, CodeLink
from xlareport.analysis.code.instruction_products import ModuleCode, join_code
from xlareport.analysis.code.kernel_links import CodeOrigin, KernelIndex
from xlareport.analysis.code.later_instructions import LaterInstructions, find_later_instructions
from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.dump.filename import DumpName
from xlareport.dump.llo import WHOLE_PROGRAMS, llo_program
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.program import CodeText, ParsedModule, read_code, read_nameless
from xlareport.readers.kernels import llvm_kernels, object_kernels, ptx_kernels
from xlareport.readers.mosaic import MosaicKernel, read_mosaic
from xlareport.runtime.errors import Problem

_READERS: Mapping[str, Callable[[bytes], tuple[str, ...]]] = {
    "llvm-ir": llvm_kernels,
    "ptx": ptx_kernels,
    "object": object_kernels,
}
_TEXTS = ("llvm-ir", "ptx")
_PARTS = ("kernel", "shard", "part", "module_part")
"""Fields of a name that identify one part of a module."""


def code_file(text: CodeText) -> CodeFile:
    """Return a file with the kernels that its name has, else those that it defines."""
    name = text.artifact.name
    read = _READERS.get(name.kind)
    kernels: tuple[str, ...] = (name.kernel,) if name.kernel else ()
    if not kernels and read is not None and text.content:
        kernels = read(text.content)
    return CodeFile(
        path=text.artifact.path,
        kind=name.kind,
        stage=name.stage or "",
        part=_part_of_name(name),
        kernels=kernels,
        size=text.artifact.entry.size,
        defines_none=name.kind in _TEXTS and text.content is not None and not kernels,
    )


def _part_of_name(name: DumpName) -> str:
    return next((token.text for token in name.tokens if token.field in _PARTS), "")


def link_llo(module: ParsedModule, hlo: HloModule) -> Iterator[CodeLink]:
    """Yield the files of the TPU's low-level compiler, by the instruction that their names have."""
    index = KernelIndex(hlo, {})
    for artifact in module.files.llo:
        program = llo_program(artifact.name)
        stage = next(
            (token.text for token in artifact.name.tokens if token.field == "llo_pass"), ""
        )
        size = artifact.entry.size
        file = CodeFile(artifact.path, "llo", stage, program, (program,), size)
        entry = hlo.entry if program in WHOLE_PROGRAMS else None
        whole = CodeOrigin(program, entry.name, "", "matched", _WHOLE) if entry else None
        place = whole or index.named(program, alone=module.files.is_alone)
        yield CodeLink(file, (place,)) if place else CodeLink(file, (), _NO_PROGRAM)


_NO_PROGRAM = "No instruction has the name of its program."
_WHOLE = "It belongs to the top-level program of the module."
_TUNING = "autotune"
_TARGET = "tpu_custom_call"


def link_mosaic(texts: Iterable[CodeText], module: HloModule, *, alone: bool) -> Iterator[CodeLink]:
    """Yield the files of Mosaic that may be of this module; `alone` where it is the only one.

    They name neither the module nor the instruction. The kernel's name is in the scope of its call,
    and its grid fits the shapes of few calls.
    """
    calls = find_mosaic_calls(module)
    for text in texts:
        kernel = read_mosaic(text.content) if text.content else None
        places = find_mosaic_places(kernel, calls, alone=alone) if kernel else ()
        if kernel and places:
            yield CodeLink(replace(code_file(text), kernels=(kernel.name,)), places)


def find_mosaic_calls(module: HloModule) -> list[tuple[Computation, Instruction]]:
    """Return the instructions that run a kernel of Mosaic's, with their computations."""
    return [
        (computation, instruction)
        for computation, instruction in module.placed
        if instruction.opcode == "custom-call" and instruction.call_target == _TARGET
    ]


def find_mosaic_places(
    kernel: MosaicKernel, calls: Sequence[tuple[Computation, Instruction]], *, alone: bool
) -> tuple[CodeOrigin, ...]:
    """Return the calls whose scope has the kernel's name and whose arrays fit its grid.

    A single one is `matched` if no other module can contain it (`alone`); others are `guessed`.
    """
    named = [call for call in calls if kernel.name in call[1].metadata.op_name.split("/")]
    fitting = [item for item in named if _fits(kernel, *item)]
    sure = alone and len(fitting) == 1
    reason = _why_fitting(len(fitting), alone=alone)
    return tuple(
        CodeOrigin(
            kernel.name, place.name, instruction.name, "matched" if sure else "guessed", reason
        )
        for place, instruction in fitting
    )


def _why_fitting(fitting: int, *, alone: bool) -> str:
    if fitting > 1:
        return f"{fitting} custom calls have the kernel's name in their scope, and fit its grid."
    only = "Only this custom call has the kernel's name in its scope, and shapes that fit its grid"
    return f"{only}." if alone else f"{only}; another module may have one as well."


def _fits(kernel: MosaicKernel, computation: Computation, call: Instruction) -> bool:
    """Return whether the grid fits the arrays of a call; True if unknown."""
    shapes = [*_operands(computation, call), *call.shape.members][kernel.prefetched :]
    if len(shapes) != len(kernel.windows):
        return True
    return all(
        window.covers(shape.dimensions)
        for window, shape in zip(kernel.windows, shapes, strict=True)
        if len(shape.dimensions) == len(window.block)
    )


def _operands(computation: Computation, call: Instruction) -> Iterator[Shape]:
    for name in call.operand_names:
        operand = computation.by_name.get(name)
        if operand is not None:
            yield operand.shape


MOST_UNITS = 5_000
"""Limit on units of code of one module on a page."""


class CodeRecord(Struct, frozen=True):
    """The instruction of a code file; one record for each kernel in the file."""

    path: str
    computation: str | None
    """None if unknown; `reason` says why."""
    instruction: str | None
    """None for a whole computation, or for the module."""
    grade: str
    reason: str


class CodeSummary(Struct, frozen=True):
    """The code of a module in figures."""

    units: int
    """Instructions, computations and modules that have code or run by themselves."""
    files: int
    """Number of files of code; the autotuner's results are none."""
    linked: int
    """Number of them with known instructions."""
    thunks: int
    links: tuple[CodeRecord, ...]
    """Every file, for each of its kernels."""
    names: frozenset[str]
    """Of the instructions that the page shows."""
    left_out: int
    """Units beyond those that the page shows."""


class CodeFiles(Struct, frozen=True):
    """The files of code of a module."""

    code: ModuleCode | None = None
    """None where there are no files and no thunks."""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    """Of the files that are linked, by path."""
    problems: tuple[Problem, ...] = ()
    later: LaterInstructions = field(default_factory=dict)
    """What was made after the fusion pass, where its log is in the dump."""

    @property
    def summary(self) -> CodeSummary | None:
        """Return the code in figures; None where there is none."""
        return summarize_code(self.code) if self.code else None


def read_code_files(module: ParsedModule, snapshots: SnapshotSequence | None = None) -> CodeFiles:
    """Read and link the files of code; nothing where there are none and nothing runs in order.

    `snapshots` show what was made after the fusion pass.
    """
    if module.final is None:
        return CodeFiles()
    hlo = module.final.hlo
    later = find_later_instructions(module.snapshots, snapshots) if module.code.decisions else {}
    texts, problems = read_code(module.files)
    nameless, more = read_nameless(module.files) if find_mosaic_calls(hlo) else ((), ())
    kernels = [*link_mosaic(nameless, hlo, alone=module.files.is_alone)]
    kernels += link_llo(module, hlo)
    if not texts and not kernels and not module.code.thunks:
        return CodeFiles(later=later)
    files = [code_file(text) for text in texts]
    linked = join_code(hlo, files, module.code, kernels, later)
    linked_paths = {link.file.path for link in linked.links}
    contents = {
        text.artifact.path: text.content
        for text in (*texts, *nameless)
        if text.content is not None and text.artifact.path in linked_paths
    }
    return CodeFiles(linked, contents, (*problems, *more), later)


def summarize_code(code: ModuleCode) -> CodeSummary:
    """Return the code of a module in figures."""
    files = [link for link in code.links if link.file.kind != _TUNING]
    return CodeSummary(
        units=len(code.units),
        files=len(files),
        linked=sum(link.has_place for link in files),
        thunks=len(code.thunks),
        links=tuple(record for link in code.links for record in _records(link)),
        names=frozenset(unit.place[1] for unit in code.units[:MOST_UNITS]),
        left_out=max(0, len(code.units) - MOST_UNITS),
    )


def _records(link: CodeLink) -> Iterator[CodeRecord]:
    if not link.places:
        yield CodeRecord(link.file.path, None, None, "guessed", link.reason)
    for place in link.places:
        name = place.instruction or None
        yield CodeRecord(link.file.path, place.computation, name, place.grade, place.reason)
