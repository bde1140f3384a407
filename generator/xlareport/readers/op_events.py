"""What a profiler saw: one event for each time that an instruction ran."""

import re
from dataclasses import dataclass
from functools import lru_cache

_HASHED = re.compile(r"\(\d++\)\Z")
_LONGEST = 1 << 62
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
"""Threads of a GPU that tell again what its streams do. Source: tsl, xplane_schema.cc."""


@dataclass(slots=True)  # there are millions, so it is not frozen
class OpEvent:
    """An instruction that ran, as a profiler of JAX, TensorFlow or PyTorch/XLA tells it."""

    module: str
    """The module's name, without the number that some profilers put behind it."""
    instruction: str
    run: str
    """Which run of the module; empty where the profiler does not say."""
    thread: tuple[int, ...]
    """What tells threads apart: (file, process or plane, thread or line)."""
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
    """Return what a run is called; empty for `-1`, which TensorFlow writes where it has no name."""
    return "" if written == _NO_RUN else written


@lru_cache(4096)
def module_name(written: str) -> str:
    """Return the name of a module without a program id: `jit_f(1234)` is `jit_f`."""
    return _HASHED.sub("", written)


def is_time(start: int, duration: int) -> bool:
    """Return whether these are picoseconds that a clock could give."""
    return 0 <= start < _LONGEST and 0 <= duration < _LONGEST
