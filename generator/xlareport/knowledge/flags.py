"""Flags and environment variables: `flags.toml`, `flags_compiler.toml` and `flags_tpu*.toml`.

The first holds what decides about dumps, the second options that change the program, the others
flags of the TPU compiler.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache, partial

from msgspec import Struct
from msgspec.structs import replace

from xlareport.knowledge import kinds
from xlareport.knowledge.table_files import read_table

_DIRECTORY = "xla_dump_to"
"""What it makes by itself is in its row: files of other kinds need it, too."""


class Flag(Struct, frozen=True):
    """A flag of XLA or of a frontend, or an environment variable."""

    name: str
    """Without dashes."""
    words: str
    """Its effect and caveats; may contain `code` as in Markdown."""
    makes: tuple[str, ...] = ()
    """The kinds of file, as in `kinds`, that it makes: those of which it is the decisive flag, and
    others in its row."""
    set_in: str | None = None
    """The variable, or other place, for the flag; None for variables themselves."""
    default: str | None = None
    """As one would write it; None where it does not apply or is not known."""
    since: str | None = None
    """The month `yyyy-mm`, or year, in which it was added; None if unknown."""
    until: str | None = None
    """The month, `yyyy-mm`, in which it was removed; None for current flags."""
    example: str | None = None
    """How it is written."""
    source: str | None = None
    """Where its meaning is published; None for options documented in openxla/xla."""


@cache
def all_entries() -> Mapping[str, Flag]:
    """Return the flags and variables for dumps, then the compiler's other options, by name."""
    written = {**read_table("flags", Flag), **read_table("flags_compiler", Flag)}
    decided: dict[str, list[str]] = defaultdict(list)
    for kind in kinds.all_entries().values():
        decided[kind.flags[0] if kind.flags else ""].append(kind.name)
    decided.pop(_DIRECTORY)
    entries = {
        name: replace(flag, makes=tuple(dict.fromkeys((*flag.makes, *decided.get(name, ())))))
        for name, flag in written.items()
    }
    return {**entries, **_tpu_flags()}


def _tpu_flags() -> Mapping[str, Flag]:
    """Return the flags of the TPU compiler with a published meaning."""
    flag = partial(Flag, set_in="LIBTPU_INIT_ARGS")
    options = read_table("flags_tpu_options", _Option).values()
    shared = {
        name: flag(name=name, words=option.words, source=option.source)
        for option in options
        for name in option.names
    }
    return {**read_table("flags_tpu", flag), **shared}


class _Option(Struct, frozen=True):
    """A published option that several flags of the TPU compiler set."""

    name: str
    names: tuple[str, ...]
    """The flags."""
    words: str
    source: str


class FlagFamily(Struct, frozen=True):
    """The meaning of a prefix of flag names."""

    name: str
    """The beginning."""
    words: str
    source: str


def find_family(name: str) -> FlagFamily | None:
    """Return the family of a flag by the longest beginning that fits; None where none does."""
    flag = name.strip().lstrip("-").partition("=")[0]
    families = read_table("flag_families", FlagFamily)
    if not flag.isidentifier():
        return None
    return max(
        (family for family in families.values() if flag.startswith(family.name)),
        key=lambda family: len(family.name),
        default=None,
    )


def find(name: str) -> Flag | None:
    """Return the flag or variable called so; leading dashes and `=value` may be there."""
    return all_entries().get(name.strip().lstrip("-").partition("=")[0])


class FrontendSetting(Struct, frozen=True):
    """An option that a frontend sets by default."""

    name: str
    value: str
    """The value to set; empty for any value."""
    by: str
    """The frontend."""


@cache
def frontend_settings() -> Mapping[str, FrontendSetting]:
    """Return the table by option."""
    return read_table("frontend_settings", FrontendSetting)
