"""The events of a profile: one for each execution of an instruction."""

import re
from functools import lru_cache

from msgspec import Struct

_HASHED = re.compile(r"\(\d++\)\Z")
_MOST_PICOSECONDS = 1 << 62
"""Picoseconds: 53 days, longer than any profile."""
_NO_RUN = "-1"
_TEXT = re.compile(r"%?([^\s=]++)")
DERIVED_LINES = frozenset(
    (
        "Steps",
        "XLA Modules",
        "XLA Ops",
        "XLA TraceMe",
        "Framework Ops",
        "Framework Name Scope",
        "TensorFlow Ops",
        "TensorFlow Name Scope",
        "Source code",
        "Launch Stats",
    )
)
"""Threads of a GPU that repeat the events of its streams. Source: tsl, xplane_schema.cc."""


class OpEvent(Struct):  # there are millions, so it is not frozen
    """An executed instruction, in profiles of JAX, TensorFlow or PyTorch/XLA."""

    module: str
    """The module's name, without the number that some profilers put behind it."""
    instruction: str
    run: str
    """Which run of the module; empty where the profiler does not say."""
    thread: tuple[int, ...]
    """The identity of a thread: (file, process or plane, thread or line)."""
    start: int
    """Picoseconds since the profiler began, or since 1970."""
    duration: int
    """Picoseconds."""

    @property
    def end(self) -> int:
        """Picoseconds, as `start`."""
        return self.start + self.duration


def instruction_name(written: str) -> str:
    """Return the name that heads an instruction's text: `%dot.1 = f32[] dot(...)` is `dot.1`."""
    match = _TEXT.match(written)
    return match[1] if match else ""


def run_name(written: str) -> str:
    """Return the name of a run; empty for `-1`, which TensorFlow writes without a name."""
    return "" if written == _NO_RUN else written


@lru_cache(4096)
def module_name(written: str) -> str:
    """Return the name of a module without a program id: `jit_f(1234)` is `jit_f`."""
    return _HASHED.sub("", written)


def is_time(start: int, duration: int) -> bool:
    """Return whether these are picoseconds that a clock could give."""
    return 0 <= start < _MOST_PICOSECONDS and 0 <= duration < _MOST_PICOSECONDS
