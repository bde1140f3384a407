"""Reads `-live-range.txt`, or the same at the end of an older buffer assignment.

It has the live range of each buffer in the schedule, the buffers live at the peak, and, since 2025,
the scopes at the peak.
"""

import re

from msgspec import Struct, field

from xlareport.readers.lines import FileProblems, decoded_lines
from xlareport.runtime.errors import Problem
from xlareport.runtime.whole_numbers import parse_whole_number

_START = re.compile(r"HloLiveRange \(max (\d{1,18})\):")
_NONE = "HloLiveRange not available"
_SEQUENCE = re.compile(r" {4}(\d{1,18}):(\S+)")
_RANGE = re.compile(r" {4}(\S+?)\{([0-9, ]*)\}:(\d{1,18})-(\d{1,18})")
_PEAK = re.compile(r" {2}Live ranges at (\d{1,18}) \(peak\):")
_LIVE = re.compile(
    r" {4}\S+?(?:\{[0-9, ]*\})?: (\d{1,18}) bytes(?: \(cumulative: \d{1,18} bytes\))?"
)
_BREAKDOWN = re.compile(r" {2}Stack trace breakdown for peak usage: ([\d ]{1,24}) bytes")
_NODE = re.compile(
    r" {4}(?P<branches>[ │├└─]*+)(?P<name>.*) \((?P<percent>\d{1,3}\.\d)%, "
    r"total: (?P<total>[\d ]{1,24}) bytes, current: (?P<current>[\d ]{1,24}) bytes, "
    r"remaining: (?P<remaining>[\d ]{1,24}) bytes\)"
)
_BRANCH_WIDTH = 4


class LiveRange(Struct):
    """Where in the schedule a buffer lives; both ends are positions that are included."""

    instruction: str
    index: tuple[int, ...]
    """The place in the instruction's tuple; empty for the whole."""
    start: int
    end: int


class ScopeShare(Struct, frozen=True):
    """A line of the peak's breakdown by scopes: its bytes include those below it."""

    name: str
    """A computation, an `op_name`, or an instruction."""
    depth: int
    """0 at the root; the lines come depth first."""
    total: int
    """Bytes, with everything below."""
    own: int
    """Bytes of this line alone."""


class LiveRanges(Struct):
    """The content of a live-range file."""

    schedule: tuple[str, ...] = ()
    """Instruction names by position; callees come before their caller."""
    ranges: tuple[LiveRange, ...] = ()
    peak_position: int | None = None
    peak_bytes: int | None = None
    """The sum of what lives at the peak, parameters included; None where the file names no peak."""
    breakdown: tuple[ScopeShare, ...] = ()

    @property
    def by_value(self) -> dict[tuple[str, tuple[int, ...]], LiveRange]:
        """The live ranges by instruction and place in its tuple."""
        return {(lives.instruction, lives.index): lives for lives in self.ranges}


def read_live_range(data: bytes, path: str) -> tuple[LiveRanges | None, list[Problem]]:
    """Read the text; None where it holds no live ranges, which an older file need not."""
    problems = FileProblems(path)
    lines = decoded_lines(data, problems)
    first = next((n for n, line in enumerate(lines) if line.startswith("HloLiveRange")), None)
    if first is None or _START.fullmatch(lines[first].rstrip()) is None:
        if first is not None and not lines[first].startswith(_NONE):
            problems.add(first + 1, f"live ranges without a length: {lines[first][:80]}")
        return None, problems.all()
    reader = _Reader(problems, last_position=len(lines))
    for number, line in enumerate(lines[first + 1 :], first + 2):
        reader.line(number, line)
    return reader.result(), problems.all()


class _Reader(Struct):
    problems: FileProblems
    last_position: int
    """No schedule has more positions than its file has lines."""
    section: str = ""
    schedule: list[str] = field(default_factory=list)
    ranges: list[LiveRange] = field(default_factory=list)
    peak: int | None = None
    live_bytes: int = 0
    breakdown: list[ScopeShare] = field(default_factory=list)
    stated_peak: int | None = None

    def line(self, number: int, line: str) -> None:
        if not line.strip():
            return
        if not line.startswith("    "):
            self._heading(number, line)
        elif not self._entry(line):
            self.problems.add(number, f"not understood under {self.section or 'no heading'}")

    def _heading(self, number: int, line: str) -> None:
        peak, breakdown = _PEAK.fullmatch(line), _BREAKDOWN.fullmatch(line)
        if peak:
            self.section, self.peak = "peak", int(peak[1])
        elif breakdown:
            self.section, self.stated_peak = "breakdown", _grouped(breakdown[1])
        elif line.strip() in ("InstructionSequence:", "BufferLiveRange:"):
            self.section = line.strip().rstrip(":")
        else:
            self.section = ""
            self.problems.add(number, f"an unknown heading: {line.strip()[:80]}")

    def _entry(self, line: str) -> bool:
        match self.section:
            case "InstructionSequence":
                return self._scheduled(line)
            case "BufferLiveRange":
                return self._range(line)
            case "peak":
                return self._live(line)
            case "breakdown":
                return self._share(line)
        return True

    def _scheduled(self, line: str) -> bool:
        match = _SEQUENCE.fullmatch(line)
        if match is None or int(match[1]) != len(self.schedule):
            return False
        self.schedule.append(match[2])
        return True

    def _range(self, line: str) -> bool:
        match = _RANGE.fullmatch(line)
        if match is None:
            return False
        start, end = int(match[3]), int(match[4])
        if not start <= end <= self.last_position:
            return False
        self.ranges.append(LiveRange(match[1], _index(match[2]), start, end))
        return True

    def _live(self, line: str) -> bool:
        match = _LIVE.fullmatch(line)
        if match:
            self.live_bytes += int(match[1])
        return match is not None

    def _share(self, line: str) -> bool:
        match = _NODE.fullmatch(line)
        if match:
            depth = len(match["branches"]) // _BRANCH_WIDTH
            total, current = _grouped(match["total"]), _grouped(match["current"])
            self.breakdown.append(ScopeShare(match["name"], depth, total, current))
        return match is not None

    def result(self) -> LiveRanges:
        listed = self.live_bytes if self.peak is not None else None
        if listed is not None and self.stated_peak not in (None, listed):
            self.problems.add(None, f"the peak is stated as {self.stated_peak}, listed as {listed}")
        return LiveRanges(
            schedule=tuple(self.schedule),
            ranges=tuple(self.ranges),
            peak_position=self.peak,
            peak_bytes=listed,
            breakdown=tuple(self.breakdown),
        )


def _index(text: str) -> tuple[int, ...]:
    numbers = map(parse_whole_number, text.replace(",", " ").split())
    return tuple(number for number in numbers if number is not None)


def _grouped(text: str) -> int:
    """Read a number written with blanks between groups of three digits."""
    return int(text.replace(" ", "") or 0)
