"""The grammar of the names in a dump, both ways: `parse(path)` reads one, `str()` gives it back.

    FILE   := [RANK MARK] [PREFIX "."] "module_" ID ["." NAME] [".cl_" BUILD] "." SUFFIX
    MARK   := "." | "_" | "-"
    RANK   := what a script put before the names of one process, with its number: `rank3`, `7`
    PREFIX := timestamp in microseconds | computation | stage of MLIR
    SUFFIX := STAGE "." FORMAT
            | SEQUENCE "." PIPELINE ".after_" PASS ".before_" PASS "." FORMAT
            | SEQUENCE "." PASS ".after_" STEP "." FORMAT
            | ...

The suffixes, the names that follow no such rule and the folders that decide are in `tables/`.
Source: openxla/xla `xla/service/dump.cc` and its callers, 2017 to 2026.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from msgspec import Struct

from xlareport.dump import endings, suffix
from xlareport.dump.grammar import GrammarForm, file_forms, name_forms, path_forms
from xlareport.dump.module_names import explain_module
from xlareport.dump.name_reading import NameReading
from xlareport.dump.tokens import Token, joined, table

S = TypeVar("S", str, str | None)

LONGEST = 512
"""Longer names are not parsed: only archives can have them, no file system."""
_LONGEST_PATH = 4096

_SUBFOLDER = re.compile(
    r"(?:(?P<folder>.+)/)?(?P<subfolder_name>[^/]+)/(?P<host>[^/]+)_(?P<process>\d+)", re.ASCII
)
_RANKED = re.compile(
    r"(?P<rank>(?:(?:host|node|pid|proc|process|rank|slurm|task|worker)(?:[\w-]{0,60}\D)?)?\d{1,9})"
    r"(?P<mark>[._-])(?=(?:\d{10,20}\.)?module_\d{4,20}\.)",
    re.ASCII,
)
_PACKED = re.compile(r"(?P<path>.+?)(?P<endings>(?:\.(?:gz|xz|zst|bz2)){1,4})", re.DOTALL)
_NOT_IN_NAMES = re.compile(rb"[^A-Za-z0-9_.-]")


class DumpName(Struct, frozen=True):
    """The path of a file in a dump, parsed; None for fields that it does not have."""

    kind: str
    """One of the kinds in `knowledge/kinds.toml`."""
    stage: str | None
    """Which point of the compilation, `pass` between two passes, or which side file."""
    module_id: int | None
    module_name: str | None
    timestamp: int | None
    """Microseconds since 1970."""
    build: str | None
    """`cl_` and the changelist of the TPU compiler."""
    sequence: int | None
    """The writer's counter: of XLA's pass dumps, TensorFlow's graphs, JAX's programs."""
    pipeline: str | None
    """The pipeline; for a snapshot inside a pass, that pass."""
    after: str | None
    """The pass that ran last; for a snapshot inside a pass, the step that was done."""
    before: str | None
    target: str | None
    """The platform as the name has it: `cpu`, `gpu`, `sm_9.0a`, `gfx942`."""
    kernel: str | None
    format: str | None
    """The ending without its dot; `hlo.pb.gz` and the like in full."""
    frontend: str | None
    """jax, tensorflow, pytorch_xla or ipu, guessed from names."""
    tokens: tuple[Token, ...]
    """The parts; joined they are the path again, byte for byte."""
    ambiguous: str | None
    """Why the reading is not the only one."""
    module_prefix: str | None
    """The module's key in its folder: `[TIMESTAMP.]module_ID[.NAME]`."""
    folder: str = ""
    """The folder that the module was dumped to: above `shardy/` and above a module's own folder.
    A rank before the name counts as a folder."""
    rank: str = ""
    """Prefix of the file name that identifies the process, `rank3`; else empty."""
    process_folder: str = ""
    """Folder and `HOST_PROCESS` if the path or name identifies the process; else empty."""

    def __str__(self) -> str:
        """Return the path that was parsed, byte for byte."""
        return joined(self.tokens)


def parse(path: str) -> DumpName:
    """Parse the name of a file, with the folders of its path relative to the dump."""
    return read(path, ())


def read(path: str, module_names: Sequence[str]) -> DumpName:
    """Return the parsed name of a path whose module is known to have one of the names."""
    reading = NameReading()
    if len(path) > _LONGEST_PATH or len(path) - path.rfind("/") > LONGEST:
        reading.part("name", path)
        return _finished(reading)
    packed = _PACKED.fullmatch(path)
    _read_path(reading, packed["path"] if packed else path, module_names)
    if packed:
        _read_packed(reading, packed["endings"])
    return _finished(reading)


def _read_path(reading: NameReading, path: str, module_names: Sequence[str]) -> None:
    if "/" not in path:
        _read_of_rank(reading, path, module_names)
    elif not _read_form(reading, path_forms(), path):
        folder, slash, name = path.rpartition("/")
        _read_folder(reading, folder, name)
        reading.plain(slash)
        _read_of_rank(reading, name, module_names)


def _read_packed(reading: NameReading, endings_of_packers: str) -> None:
    """Read `.gz` and the like, which were added after the file's own ending."""
    for ending in endings_of_packers.split(".")[1:]:
        reading.plain(".")
        reading.part("packed", ending)
    reading.fields["packers"] = endings_of_packers


def _read_folder(reading: NameReading, folder: str, name: str) -> None:
    """Read `[DIR/]NAME/HOST_PROCESS`, which XLA makes for one module's files, or any folder."""
    match = _SUBFOLDER.fullmatch(folder)
    if match and f".{match['subfolder_name']}." in f".{name}.":
        reading.match(match)
        reading.fields["folder"] = folder
        reading.fields["process_folder"] = (
            f"{match['folder'] or ''}/{match['host']}_{match['process']}"
        )
    else:
        reading.part("folder", folder)


def _read_of_rank(reading: NameReading, name: str, module_names: Sequence[str]) -> None:
    """Read a name that may begin with a rank: each rank's files are those of a folder by itself."""
    ranked = _RANKED.match(name)
    if ranked:
        folder = reading.fields.get("folder", "")
        reading.match(ranked)
        reading.fields["folder"] = f"{folder}/{ranked['rank']}" if folder else ranked["rank"]
    _read_name(reading, name[ranked.end() :] if ranked else name, module_names)


def _read_name(reading: NameReading, name: str, module_names: Sequence[str]) -> None:
    if (
        suffix.read_with_id(reading, name, module_names)
        or suffix.read_without_id(reading, name)
        or suffix.read_unknown_suffix(reading, name, module_names)
        or _read_form(reading, name_forms(), name)
        or _read_form(reading, file_forms(), name)
    ):
        return
    endings.read_plain(reading, name)


def _read_form(reading: NameReading, forms: Sequence[GrammarForm], text: str) -> bool:
    for form in forms:
        if match := form.pattern.fullmatch(text):
            reading.take(form)
            reading.match(match)
            return True
    return False


def _finished(reading: NameReading) -> DumpName:
    fields = reading.fields
    stage = fields.get("stage") or fields.get("mosaic_stage")
    return DumpName(
        kind=_kind(reading),
        stage=stage and table("readings")["stages"].get(stage, stage),
        module_id=_parse_number(fields.get("module_id")),
        module_name=_same(fields.get("module_name")),
        timestamp=_parse_number(fields.get("timestamp")),
        build=fields.get("build"),
        sequence=_parse_number(fields.get("sequence")),
        pipeline=fields.get("pipeline") or fields.get("running_pass"),
        after=fields.get("after") or fields.get("after_step") or fields.get("step"),
        before=fields.get("before") or fields.get("before_step"),
        target=fields.get("target") or ("gpu" if "empty_target" in fields else None),
        kernel=fields.get("kernel"),
        format=_format(fields),
        frontend=_frontend(reading),
        tokens=tuple(reading.tokens),
        ambiguous=" ".join(reading.notes) or None,
        module_prefix=_same(_module_prefix(fields)),
        folder=_same(fields.get("folder", "")),
        process_folder=_same(_process_folder(fields)),
        rank=fields.get("rank", ""),
    )


@lru_cache(maxsize=1 << 12)
def _same(text: S) -> S:
    """Return a text as one object for the files of a module, which are read one after another."""
    return text


def _process_folder(fields: Mapping[str, str]) -> str:
    """Return the folder of a process; for a drawing, made from the process in its name."""
    if fields.get("writer") == "hlo_graph" and "pid" in fields:
        return f"{fields.get('folder', '')}/{fields['host']}_{fields['pid']}"
    return fields.get("process_folder", "")


def _format(fields: Mapping[str, str]) -> str | None:
    ending = f"{fields.get('format', '')}{fields.get('packers', '')}"
    return ending.removeprefix(".") or None


def _parse_number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _kind(reading: NameReading) -> str:
    if reading.kind == "by-report":
        return endings.kind_by_report(reading.fields["report"])
    if reading.kind == "by-format":
        return endings.kind_by_format(reading.fields["format"])
    return reading.kind


def _frontend(reading: NameReading) -> str | None:
    tables: Mapping[str, Mapping[str, str]] = table("readings")
    fields = reading.fields
    return (
        tables["frontend_by_pipeline"].get(fields.get("pipeline", ""))
        or tables["frontend_by_kind"].get(reading.kind)
        or tables["frontend_by_writer"].get(fields.get("writer", ""))
        or explain_module(fields.get("graph") or fields.get("module_name", "")).frontend
    )


def _module_prefix(fields: Mapping[str, str]) -> str | None:
    number = fields.get("module_id")
    if number is None:
        return None
    name = sanitised(fields.get("module_name", ""))
    parts = (fields.get("timestamp"), f"module_{number}", name)
    return ".".join(part for part in parts if part)


@lru_cache(maxsize=1 << 14)
def sanitised(module_name: str) -> str:
    """Return a module's name as XLA writes it into files: each byte that it does not allow is `_`.

    Folders of JAX's compile inputs hold the name as it was.
    """
    plain = _NOT_IN_NAMES.sub(b"_", module_name.encode(errors="surrogateescape"))
    return plain.decode("ascii")
