"""The code of a module: files of kernels and machine code read and linked with its instructions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xlareport.analysis.code.files import CodeLink
from xlareport.analysis.code.mosaic import mosaic_calls, mosaic_links
from xlareport.analysis.code.reading import code_file
from xlareport.analysis.code.units import ModuleCode, join_code
from xlareport.program import ParsedModule, read_code, read_nameless
from xlareport.runtime.errors import Problem

MOST_UNITS = 5_000
"""Units of code of one module that a page shows."""


@dataclass(frozen=True, slots=True)
class CodeRecord:
    """What a file of code was made from; one for each kernel in it."""

    path: str
    computation: str | None
    """None where it is not known; `reason` says why."""
    instruction: str | None
    """None for a whole computation, or for the module."""
    grade: str
    reason: str


@dataclass(frozen=True, slots=True)
class CodeSummary:
    """The code of a module in figures."""

    units: int
    """Instructions, computations and modules that have code or run by themselves."""
    files: int
    linked: int
    """Files of which it is known what they were made from."""
    thunks: int
    links: tuple[CodeRecord, ...]
    """Every file, for each of its kernels."""
    names: frozenset[str]
    """Of the instructions that the page shows."""
    left_out: int
    """Units beyond those that the page shows."""


@dataclass(frozen=True, slots=True)
class CodeFiles:
    """The files of code of a module."""

    code: ModuleCode | None = None
    """None where there are no files and no thunks."""
    contents: Mapping[str, bytes] = field(default_factory=dict)
    """Of the files that are linked, by path."""
    problems: tuple[Problem, ...] = ()

    @property
    def summary(self) -> CodeSummary | None:
        """Return the code in figures; None where there is none."""
        return summarize_code(self.code) if self.code else None


def read_code_files(module: ParsedModule) -> CodeFiles:
    """Read and link the files of code; nothing where there are none and nothing runs in order."""
    if module.final is None:
        return CodeFiles()
    hlo = module.final.hlo
    texts, problems = read_code(module.files)
    nameless, more = read_nameless(module.files) if mosaic_calls(hlo) else ((), ())
    kernels = [*mosaic_links(nameless, hlo, alone=module.files.is_alone)]
    if not texts and not kernels and not module.code.thunks:
        return CodeFiles()
    linked = join_code(hlo, [code_file(text) for text in texts], module.code, kernels)
    own = {link.file.path for link in linked.links}
    contents = {
        text.artifact.path: text.content
        for text in (*texts, *nameless)
        if text.content is not None and text.artifact.path in own
    }
    return CodeFiles(linked, contents, (*problems, *more))


def summarize_code(code: ModuleCode) -> CodeSummary:
    """Return the code of a module in figures."""
    return CodeSummary(
        units=len(code.units),
        files=len(code.links),
        linked=len(code.links) - len(code.unlinked),
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
