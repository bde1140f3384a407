"""Flags of the TPU compiler, compared with the defaults of the release that compiled a module."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.knowledge.tpu_defaults import nearest_release, release_of
from xlareport.readers.debug_options import FlagValue


class TpuFlag(Struct, frozen=True):
    """A flag with its value and the default of a release."""

    name: str
    value: str
    default: str | None
    """None where the release does not have the flag."""

    @property
    def differs(self) -> bool:
        """Whether the flag is not at the default, or none is known."""
        return self.value != self.default


class TpuFlags(Struct, frozen=True):
    """The flags of a `flagfile` that are not at their defaults, or have none that is known."""

    release: str
    """The libtpu release of these defaults."""
    is_exact: bool
    """Whether that release compiled the module; else its build is the nearest that is known."""
    total: int
    differing: tuple[TpuFlag, ...]
    missing: frozenset[str]
    """Flags of the release that the file does not have."""

    @property
    def unknown_count(self) -> int:
        """How many of those that differ have no known default."""
        return sum(flag.default is None for flag in self.differing)

    def every(self) -> Iterator[TpuFlag]:
        """Yield all flags of the file, those first that differ."""
        yield from self.differing
        defaults = release_of(self.release)
        mentioned = {flag.name for flag in self.differing} | self.missing
        for name, value in defaults.values.items() if defaults else ():
            if name not in mentioned:
                yield TpuFlag(name, value, value)


def compare_flags(settings: Sequence[FlagValue], build: str | None) -> TpuFlags | None:
    """Compare a flagfile with the defaults of its build, `cl_NUMBER`; None without either."""
    digits = (build or "").removeprefix("cl_")[:_DIGITS]
    if not settings or not digits.isdecimal():
        return None
    number = int(digits)
    defaults = nearest_release(number)
    values = {setting.name: setting.value for setting in settings}
    flags = (TpuFlag(name, value, defaults.values.get(name)) for name, value in values.items())
    return TpuFlags(
        release=defaults.release,
        is_exact=defaults.build == number,
        total=len(values),
        differing=tuple(flag for flag in flags if flag.differs),
        missing=frozenset(defaults.values.keys() - values.keys()),
    )


_DIGITS = 18
"""Of a build's number; longer ones are none."""
