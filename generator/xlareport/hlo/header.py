"""First lines: of a module `HloModule NAME, a=b`, of a computation `ENTRY %main (...) -> ... {`."""

import re

from msgspec import Struct

from xlareport.hlo import quoting
from xlareport.hlo.model import Computation, Instruction

_MODULE = re.compile(r"HloModule[ \t]++([^\s,]*+)")
_MODULE_LINE = re.compile(rb"^[ \t]*+HloModule[ \t]", re.MULTILINE)
_COMPUTATION = re.compile(r"\s*+(ENTRY\s++)?%?+([^\s=(){},:\"]++)\s*+(?=[({])")
_THREAD = re.compile(rf"execution_thread=({quoting.STRING})")
_FIRST_COMPUTATION = re.compile(
    rb"^[ \t]*+(?:[^\s\d\"{}][^\n]*+(?:(?<=\{)|(?<=\{ ))$"
    rb"|(?:ENTRY[ \t]++)?%?+[^\s\d=(){},:\"][^\s=(){},:\"]*+"
    rb"[ \t]*+(?:\n[ \t]*+)?+[({])",
    re.MULTILINE,
)


class ModuleHeader(Struct, frozen=True):
    """The first line of a module; it continues over several lines while brackets are open."""

    name: str
    attributes_text: str
    start: int
    """Where it begins in the bytes of the file."""
    end: int
    """Where it ends, without the line break."""
    is_closed: bool
    """Whether its brackets are; where they are not, it is taken for a single line."""


def find_module(data: bytes) -> ModuleHeader | None:
    """Find and read the first line that begins with `HloModule`; None where there is none."""
    match = _MODULE_LINE.search(data)
    if match is None:
        return None
    end, is_closed = _end_of_header(data, match.start())
    text = data[match.start() : end].decode("utf-8", "replace").strip()
    named = _MODULE.match(text)
    name, rest = (named[1], text[named.end() :]) if named else ("", "")
    return ModuleHeader(name.rstrip(":"), rest.lstrip(", "), match.start(), end, is_closed)


def _end_of_header(data: bytes, start: int) -> tuple[int, bool]:
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    line = data[start:end]
    is_whole = line.count(b"{") == line.count(b"}") and not line.rstrip().endswith(b",")
    if is_whole and b'"' not in line:
        return end, True
    # Latin-1 keeps one character a byte, so that places stay places.
    long = _end_of_long_header(data[start:].decode("latin-1"))
    return (end, False) if long is None else (start + long, True)


def _end_of_long_header(text: str) -> int | None:
    """Find the first line break outside brackets and quotes and not after a comma, or the end."""
    depth, comma = 0, -1
    for place, mark in quoting.marks(text):
        if mark == "\n" and depth <= 0 and (comma < 0 or text[comma + 1 : place].strip()):
            return place
        if mark != "\n":
            comma = place if mark == "," else -1
        depth += quoting.DEPTH.get(mark, 0)
    return len(text) if depth <= 0 else None


def find_first_computation(data: bytes, start: int) -> int:
    """Return where the first line begins that opens a computation; the end where there is none."""
    match = _FIRST_COMPUTATION.search(data, start)
    return match.start() if match else len(data)


def computation_name(line: str) -> str | None:
    """Return the name in a line that opens a computation; None where the line does not."""
    match = _COMPUTATION.match(line) if line.rstrip().endswith("{") else None
    return match[2] if match and match[2] != "HloModule" else None


def is_entry(line: str) -> bool:
    """Return whether a line opens the entry computation."""
    match = _COMPUTATION.match(line)
    return match is not None and match[1] is not None


def thread_name(trailer: str) -> str:
    """Return the thread that is named after the closing brace, else `main`."""
    match = _THREAD.search(trailer)
    return quoting.unescape(match[1][1:-1]) if match else "main"


class ComputationPool:
    """Computations by header, thread and instructions: equal ones are one object."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, tuple[Instruction, ...]], Computation] = {}

    def get(
        self, header: str, instructions: tuple[Instruction, ...], thread: str = "main"
    ) -> Computation:
        """Return the computation; `header` is a line for which computation_name gives a name."""
        key = (header, thread, instructions)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Computation(
                name=computation_name(header) or "",
                header=header.rstrip().removesuffix("{").strip(),
                instructions=instructions,
                is_entry=is_entry(header),
                execution_thread=thread,
            )
        return known
