"""Flags for the desired contents of a dump: the tables `wants.toml` and `frontends.toml`."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from xlareport.knowledge.flags import Flag, all_entries
from xlareport.knowledge.table_files import read_table
from xlareport.runtime.grouping import group_by_key

BACKENDS = ("cpu", "gpu", "tpu", "ipu")


class Want(Struct, frozen=True):
    """A kind of dump content."""

    name: str
    words: str
    flags: tuple[str, ...]
    """As written, without dashes; `{dir}` represents the directory."""
    backends: tuple[str, ...] = ()
    """Empty for all."""
    frontends: tuple[str, ...] = ()
    """Empty for all."""
    standard: bool = False
    """Whether it is included by default."""


class Frontend(Struct, frozen=True):
    """The requirements of a frontend in addition to XLA's flags."""

    name: str
    flags: tuple[str, ...]
    notes: tuple[str, ...]
    gives: str = ""
    """The purpose of the flags; empty only without flags."""


class FlagSetting(Struct, frozen=True):
    """A flag or variable with its value."""

    flag: Flag
    value: str
    """Empty for a flag that is only there or not."""
    gives: str
    """The purpose of the setting."""

    @property
    def variable(self) -> str:
        """The environment variable that takes it."""
        return self.flag.set_in or self.flag.name

    @property
    def text(self) -> str:
        """As it is in the variable: `--xla_dump_to=/tmp/dump`, or a variable's own value."""
        if self.flag.set_in is None:
            return self.value
        return f"--{self.flag.name}={self.value}" if self.value else f"--{self.flag.name}"


@cache
def wants() -> Mapping[str, Want]:
    """Return the choices of dump contents by name."""
    return read_table("wants", Want)


@cache
def frontends() -> Mapping[str, Frontend]:
    """Return the frontends by name."""
    return read_table("frontends", Frontend)


def settings_for(
    wanted: Iterable[str], *, backend: str, frontend: str, era: str, folder: str
) -> tuple[FlagSetting, ...]:
    """Return the flags for the wanted contents, each once, in the order of the table.

    `era` is the month of XLA, `yyyy-mm`, or empty for the current one. Flags that the backend, the
    frontend or XLA of that month does not have are omitted.
    """
    chosen = [wants()[name] for name in wanted]
    written: dict[str, str] = {}
    for want in chosen:
        if _suits(backend, want.backends) and _suits(frontend, want.frontends):
            for flag in want.flags:
                written.setdefault(flag, want.words)
    for flag in frontends()[frontend].flags:
        written.setdefault(flag, frontends()[frontend].gives)
    settings = (_setting(flag, gives, folder) for flag, gives in written.items())
    return tuple(
        setting
        for setting in settings
        if _known_in(setting.flag, era) and _own(setting.flag, backend)
    )


def environment(settings: Sequence[FlagSetting]) -> Mapping[str, str]:
    """Return the variables with their values; flags of one variable are joined with spaces."""
    texts = group_by_key((setting.variable, setting.text) for setting in settings)
    return {name: " ".join(values) for name, values in texts.items()}


def shell_lines(settings: Sequence[FlagSetting]) -> Iterator[str]:
    """Yield a line for each variable that a POSIX shell understands."""
    for name, value in environment(settings).items():
        yield f"export {name}={shlex.quote(value)}"


def _suits(text: str, among: Sequence[str]) -> bool:
    return not among or text in among


def _setting(written: str, gives: str, folder: str) -> FlagSetting:
    name, _, value = written.partition("=")
    return FlagSetting(all_entries()[name], value.replace("{dir}", folder), gives)


def _known_in(flag: Flag, era: str) -> bool:
    if not era:
        return flag.until is None
    return (flag.since or "") <= era and (flag.until is None or era < flag.until)


def _own(flag: Flag, backend: str) -> bool:
    """Return whether a flag has no prefix of another backend, such as `xla_gpu_` on a TPU."""
    others = (f"xla_{text}_" for text in BACKENDS if text != backend)
    return not flag.name.startswith(tuple(others))
