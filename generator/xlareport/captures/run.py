"""Runs a program so that XLA writes the desired dump, and reports obstacles.

environment -> plan (its own flags kept, ours added) -> the program -> the folder with the dump
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import product
from pathlib import Path

from msgspec import Struct

from xlareport.captures import hook
from xlareport.knowledge.flags import find
from xlareport.knowledge.releases import era_of
from xlareport.knowledge.table_files import read_table
from xlareport.knowledge.wants import BACKENDS, FlagSetting, frontends, settings_for
from xlareport.runtime.errors import XlareportError, error_reason, refuse_contents, writing

_FOLDER = "XLAREPORT_CAPTURE_FOLDER"
_OWN = "XLAREPORT_CAPTURE_OWN"
_UNNAMED = "program"
"""The folder of a process that is no Python and so does not take its own."""
_KNOWN_TO_ALL = "2021-01"
"""The XLA release assumed if the program's is not known: an unknown flag ends the program."""
_PACKAGES = ("jaxlib", "tensorflow", "tensorflow-cpu", "torch-xla")
_ASK = (
    "import importlib.metadata as m\n"
    "for name in {packages!r}:\n"
    "    try: print(name, m.version(name))\n"
    "    except m.PackageNotFoundError: pass\n"
)
_CACHE_OFF = {"JAX_ENABLE_COMPILATION_CACHE": "false"}
_LIMITS_MODULES = ("xla_dump_hlo_module_re", "xla_dump_max_hlo_modules", "xla_dump_hlo_pipeline_re")


class ProgramNotStartedError(XlareportError):
    """The program that was to be captured could not be started."""

    def __init__(self, command: Sequence[str], error: OSError) -> None:
        super().__init__(f"{command[0]} could not be started: {error_reason(error)}.")


class CaptureLevel(Struct, frozen=True):
    """The amount of data to capture."""

    name: str
    words: str
    wants: tuple[str, ...]
    cost: str
    """Measured size on disk."""


class Plan(Struct, frozen=True):
    """How a program is run."""

    environment: Mapping[str, str]
    """Everything that it is started with."""
    folder: Path
    """The folder of the dump, with a subfolder for each process."""
    notes: tuple[str, ...]
    """Settings of the caller that were kept, and those that may reduce the dump."""


@cache
def levels() -> Mapping[str, CaptureLevel]:
    """Return the levels by name."""
    return read_table("levels", CaptureLevel)


def plan_capture(
    level: str, folder: Path, environ: Mapping[str, str], era: str | None = None
) -> Plan:
    """Return how to run a program; `environ` is the caller's. Raises UnwritableFileError.

    `era` is the month of XLA; None if unknown.
    """
    folder = _empty_folder(folder)
    process_folder = folder / _UNNAMED
    variables = dict(environ)
    notes: list[str] = []
    for setting in _settings(levels()[level].wants, era or _KNOWN_TO_ALL, str(process_folder)):
        notes += _set(variables, setting)
    notes += _limits(variables)
    stated = _stated(variables.get("XLA_FLAGS", ""), "xla_dump_to")
    if stated != str(process_folder):
        notes.append(_warning_about(stated or "."))
        return Plan(variables, Path(stated or "."), tuple(notes))
    hooks = str(Path(hook.__file__).parent)
    variables["PYTHONPATH"] = os.pathsep.join(
        filter(None, (hooks, variables.get("PYTHONPATH", "")))
    )
    variables |= {_FOLDER: str(folder), _OWN: str(process_folder)}
    return Plan(variables, folder, tuple(notes))


def _warning_about(folder: str) -> str:
    """Return a warning about a dump folder that the caller has chosen."""
    if folder == "-":
        return (
            "XLA then dumps to the program's output, and capture does not build a report from that."
        )
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(13, "it is not ours to write")
    except OSError as error:
        return (
            f"{folder} cannot be written ({error_reason(error)}): XLA will silently dump nothing."
        )
    return (
        "What earlier runs left there will be in the report as well, and all processes of the "
        "program write into it: those that compile at once overwrite one another's files."
    )


def find_era(command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """Return the XLA era of the oldest release in the program's Python; None if not known."""
    python = shutil.which(command[0], path=environ.get("PATH"))
    if python is None or "python" not in Path(python).name:
        return None
    ask = [python, "-c", _ASK.format(packages=_PACKAGES)]
    try:
        message = subprocess.run(  # noqa: S603 - the Python that is to be run anyway
            ask, capture_output=True, text=True, check=False, timeout=60, env=dict(environ)
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    eras = []
    for line in message.splitlines():
        with suppress(ValueError):
            eras.append(era_of(line.replace("tensorflow-cpu", "tensorflow")))
    return min(eras, default=None)


def run_program(command: Sequence[str], plan: Plan) -> int:
    """Run the program to its end and return its exit code, 128 and the number after a signal.

    It has our input and output. Ctrl-C is for the program alone; SIGTERM is handed on to it.
    Raises ProgramNotStartedError.
    """
    try:
        program = subprocess.Popen(command, env=dict(plan.environment))  # noqa: S603 - asked for
    except OSError as error:
        raise ProgramNotStartedError(command, error) from error
    with _signals_for(program):
        code = program.wait()
    return code if code >= 0 else 128 - code


def capture_uncached(
    command: Sequence[str], level: str, folder: Path, environ: Mapping[str, str]
) -> tuple[int, Path | None]:
    """Run a program without JAX's compilation cache; return its exit code and its dump.

    The dump is None where XLA dumped nothing. Raises UnwritableFileError, ProgramNotStartedError.
    """
    environ = {**environ, **_CACHE_OFF}
    plan = plan_capture(level, folder, environ, find_era(command, environ))
    return run_program(command, plan), find_dump(plan)


def find_dump(plan: Plan) -> Path | None:
    """Return the folder with the dump, of one process if only one wrote; None if none did."""
    if not plan.folder.is_dir():
        return None
    for path in plan.folder.iterdir():
        if path.is_dir() and path.name.startswith(("process-", _UNNAMED)):
            with suppress(OSError):
                path.rmdir()
    parts = [path for path in plan.folder.iterdir() if path.is_dir()]
    files = [path for path in plan.folder.iterdir() if not path.is_dir()]
    if len(parts) == 1 and not files:
        return parts[0]
    return plan.folder if parts or files else None


def _empty_folder(folder: Path) -> Path:
    """Return the folder, made where it is missing; raises where it is not empty."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    refuse_contents(folder)
    return folder.resolve()


def _settings(wants: Sequence[str], era: str, folder: str) -> Iterator[FlagSetting]:
    """Yield the settings for all backends and frontends: unused ones have no effect."""
    settings: dict[str, FlagSetting] = {}
    for frontend, backend in product(frontends(), BACKENDS):
        asked = {"backend": backend, "frontend": frontend, "era": era, "folder": folder}
        for setting in settings_for(wants, **asked):
            settings.setdefault(setting.flag.name, setting)
    yield from settings.values()


def _set(value: dict[str, str], setting: FlagSetting) -> Iterator[str]:
    """Add a setting unless the caller has one with that name; yield a note if it differs."""
    former = value.get(setting.variable, "")
    if setting.flag.set_in is None:
        if setting.variable in value and former != setting.value:
            yield f"{setting.variable} stays {former}, as you set it."
        value.setdefault(setting.variable, setting.value)
        return
    former = _flags_of(former)
    stated = _stated(former, setting.flag.name)
    if stated is None:
        value[setting.variable] = f"{former} {setting.text}".strip()
    else:
        value[setting.variable] = former
        if stated != setting.value:
            yield f"--{setting.flag.name}={stated} stays, as you set it."


def _flags_of(value: str) -> str:
    """Return flags; a value that does not begin with a dash is the name of a file of flags."""
    if not value.strip() or value.lstrip().startswith("-"):
        return value
    with suppress(OSError, UnicodeDecodeError):
        return " ".join(Path(value.strip()).read_text("utf-8").split())
    return value


def _stated(flags: str, name: str) -> str | None:
    """Return the value that flags give to one; None where they do not."""
    for text in flags.split():
        flag, _, value = text.partition("=")
        if flag.lstrip("-") == name:
            return value
    return None


def _limits(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the caller's settings that exclude modules from the dump."""
    flags = environ.get("XLA_FLAGS", "")
    for name in _LIMITS_MODULES:
        value, flag = _stated(flags, name), find(name)
        if value is not None and flag is not None:
            yield f"--{name}={value} keeps files out of the dump."
    if environ.get("JAX_ENABLE_COMPILATION_CACHE", "false").lower() not in {"false", "0", "no"}:
        yield (
            "JAX_ENABLE_COMPILATION_CACHE is on: what JAX finds in its cache is not compiled, so "
            "it is not dumped."
        )


@contextmanager
def _signals_for(program: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Leave Ctrl-C to the program, which hears it from the terminal, and hand SIGTERM on."""
    heard = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: program.terminate()),
    }
    try:
        yield
    finally:
        for number, former in heard.items():
            signal.signal(number, former)
