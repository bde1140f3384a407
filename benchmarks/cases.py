"""Labeled dumps for the scores: labels from tests/labels, dumps of the repository and others."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from xlareport.analysis.dump import AnalyzedDump, StoredAnalyses
from xlareport.analysis.fitted_profiles import count_runs
from xlareport.analysis.module import outline_module
from xlareport.analysis.modules.recompilations import function_name
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.ranks.members import rank_table
from xlareport.dump.grouping import NO_OWNER, NamedDump, group, name_files
from xlareport.dump.modules import ModuleFiles
from xlareport.dump.source import Entry, Source, open_source
from xlareport.side_files import read_profiles

_ROOT = Path(__file__).resolve().parent.parent
_LABELS = _ROOT / "tests/labels"
_HLO = ("hlo-text", "hlo-dot", "hlo-proto")
_IN_OP_NAME = re.compile(rb"jit\(([^()\"/]{1,200})\)")
_FUNCTION = re.compile(rb'^(\d+ )"([^"\n]{1,300})"$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Label:
    """The right answers for one dump; where there are several, one must be among the first two."""

    dump: str
    answers: tuple[str, ...]
    is_held: bool = False
    """A public dump on which nothing was tuned."""


def rows(name: str) -> list[list[str]]:
    """Read a table of tests/labels."""
    lines = (_LABELS / name).read_text().splitlines()
    return [line.split("\t") for line in lines if line]


def mains() -> list[Label]:
    """Read the main programs: ours, public ones, and those of files that XLAREPORT_LABELS names."""
    found = [*rows("mains.tsv"), *rows("public_mains.tsv")]
    for path in filter(None, os.environ.get("XLAREPORT_LABELS", "").split(":")):
        found += [line.split("\t") for line in Path(path).read_text().splitlines() if line]
    labels = {
        dump: Label(dump, tuple(answers.split("|")), "held" in more)
        for dump, answers, *more in found
    }
    return list(labels.values())


def roles_of(dump: str, module: str) -> tuple[str, ...]:
    """Return the right roles of a module; empty where nobody labeled it."""
    for dumps, modules, roles in rows("roles.tsv"):
        if fnmatchcase(dump, dumps) and fnmatchcase(module, modules):
            return tuple(roles.split("|"))
    return ()


def place_of(dump: str) -> Path | None:
    """Return where a dump lies: a folder or an archive; None where it is not there."""
    candidates = []
    for variable in ("XLAREPORT_DUMPS", "XLAREPORT_PUBLIC"):
        beside = Path(os.environ.get(variable, "/nowhere"))
        candidates += [beside / dump / dump, beside / f"{dump}.tar.zst"]
    for folder in (_ROOT / "tests/data", _ROOT / "examples"):
        candidates += [folder / dump, folder / f"{dump}.tar.zst"]
    return next((candidate for candidate in candidates if candidate.exists()), None)


@contextmanager
def opened(place: Path, *, anonymous: bool) -> Iterator[Source]:
    """Open a dump, as it is or with meaningless names for every module and function."""
    with ExitStack() as stack:
        source = stack.enter_context(open_source(place))
        if anonymous:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="xlareport-score-")))
            source = replace(source, entries=tuple(_renamed(source, folder)))
        yield source


def analyzed(source: Source) -> AnalyzedDump:
    """Analyze a dump in this process, without pages."""
    artifacts = name_files(source)
    grouped = group(artifacts)
    results = map(outline_module, grouped.modules)
    watched = read_profiles(source, ())
    modules = StoredAnalyses().extend(count_runs(results, watched.modules))
    ranks, _ = rank_table(source.name, modules.summaries, grouped)
    named = NamedDump(artifacts, grouped, [NO_OWNER] * len(artifacts))
    return AnalyzedDump(source.name, named, source.problems, modules, ranks)


def in_order_of(plain: AnalyzedDump, hidden: AnalyzedDump) -> list[ModuleSummary]:
    """Sort the modules of a renamed dump like the original ones, whose files keep their order.

    A trace is not renamed: what it told of the original modules is told of these.
    """
    places = {
        path: place for place, summary in enumerate(plain.summaries) for path in _paths(summary)
    }
    true = {
        other.path: places.get(one.path, 0)
        for one, other in zip(plain.artifacts, hidden.artifacts, strict=True)
    }
    found = sorted(hidden.summaries, key=lambda one: min(true[path] for path in _paths(one)))
    return [
        replace(one, runs=other.runs) for one, other in zip(found, plain.summaries, strict=True)
    ]


def _paths(one: ModuleSummary) -> list[str]:
    stages = [artifact.path for stage in one.files.stages for artifact in stage.artifacts]
    return stages or [artifact.path for artifact in one.files.artifacts]


def _renamed(source: Source, folder: Path) -> Iterator[Entry]:
    """Yield the entries with other names inside and outside; every name keeps its length."""
    artifacts = name_files(source)
    names = _names(group(artifacts).modules)
    pattern = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))) or "(?!)")
    inside = re.compile(rb"(?<![\w])(?:" + pattern.pattern.encode() + rb")(?![A-Za-z])")
    for number, artifact in enumerate(artifacts):
        path = pattern.sub(lambda found: meaningless(found[0]), artifact.path)
        location = artifact.entry.location
        if artifact.name.kind in _HLO:
            location = folder / str(number)
            location.write_bytes(_anonymous(artifact.entry.read(), inside))
        yield replace(artifact.entry, path=path, place=location, is_below=False)


def _names(modules: Sequence[ModuleFiles]) -> set[str]:
    names = {function_name(module.name) for module in modules}
    return {name for name in names if len(name) > 2 and not name.startswith("module_")}


def _anonymous(content: bytes, names: re.Pattern[bytes]) -> bytes:
    content = names.sub(lambda found: meaningless(found[0].decode()).encode(), content)
    content = _IN_OP_NAME.sub(lambda found: b"jit(" + _other(found[1]) + b")", content)
    return _FUNCTION.sub(lambda found: found[1] + b'"' + _function(found[2]) + b'"', content)


def _function(name: bytes) -> bytes:
    """Rename a function of the stack frames; file names stand in the same kind of table."""
    if b"/" in name or name.startswith(b"<"):
        return name
    return b".".join(part if part.startswith(b"<") else _other(part) for part in name.split(b"."))


def _other(name: bytes) -> bytes:
    return meaningless("jit_" + name.decode(errors="replace"))[4:].encode()


def meaningless(name: str) -> str:
    """Return a name of the same length that says nothing, the same one for the same name."""
    letters = blake2b(name.encode(), digest_size=32).hexdigest() * (1 + len(name) // 64)
    return "m" + letters[: len(name) - 1] if len(name) > 1 else name
