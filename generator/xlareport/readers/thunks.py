"""Reads a GPU program: `thunk_sequence.txt`, `thunk_schedule.txt`, `thunk_metadata.txt`.

A sequence has the order of the thunks, which of them use the same memory and which are recorded in
one command buffer, but no times.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from xlareport.readers.lines import FileProblems, decoded_lines
from xlareport.readers.textproto import read_textproto
from xlareport.runtime.errors import Problem
from xlareport.runtime.whole_numbers import parse_whole_number

_KIND = "kCommandBuffer"
_NUMBERED = re.compile(
    r"(?P<indent> *+)(?P<id>\d{1,9}): (?P<kind>k\w++) *+"
    r"\[(?:prev=(?P<before>\d{1,9}) \(\d{1,9}\)|source) *+\| "
    r"(?:next=(?P<after>\d{1,9}) \(\d{1,9}\)|sink) *+\] ?+(?P<rest>.*)",
    re.ASCII,
)
_PLAIN = re.compile(r"(?P<indent>[ \t]*+)(?P<kind>k[A-Z]\w*+)(?:[ \t]++(?P<rest>.*))?+", re.ASCII)
_PART = re.compile(
    r" *+(condition|body|(?:true_|false_)?branch_?\w*+|then|else|nested)\b[^:]{0,80}:", re.ASCII
)
_KERNEL = re.compile(r", kernel = ([^\s,]{1,1000})")
"""How a description of 2023 to 2025 begins."""
_INDENT_WIDTH = 2


class Thunk(Struct, frozen=True):
    """A step of the program, in order."""

    id: int | None
    """As numbered in the file; None in files before 2026."""
    kind: str
    """`kCustomKernel`, `kGemm`, `kCopy`, ..."""
    description: str
    """As written: usually a kernel's name first."""
    before: int | None
    """The id of the nearest earlier thunk that touches the same memory."""
    after: int | None
    """The id of the nearest later one."""
    part: str
    """`condition` or `body` of its loop, `true_branch` of its conditional; empty at the top."""
    depth: int
    """Steps of indentation."""
    line: int
    waits_for: tuple[str, ...] = ()
    """Instructions on whose thunks it depends; only files of 2019 to 2022 name them."""

    @property
    def name(self) -> str:
        """The kernel, else the first word of the description, without `%`; empty where none is."""
        kernel = _KERNEL.match(self.description)
        if kernel:
            return kernel[1]
        return self.description.split(maxsplit=1)[0].lstrip("%") if self.description else ""


class ThunkNote(Struct, frozen=True):
    """The notes on a thunk in `thunk_metadata.txt`."""

    id: int | None
    kind: str
    instruction: str
    """The HLO instruction that it was made from."""


def read_thunk_sequence(data: bytes, path: str) -> tuple[tuple[Thunk, ...], list[Problem]]:
    """Read a sequence of any era; of a `thunk_schedule`, its order and its dependencies."""
    problems, thunks, part = FileProblems(path), [], ""
    lines = decoded_lines(data, problems)
    end = next(
        (at for at, line in enumerate(lines) if line.startswith("Dependencies:")), len(lines)
    )
    for number, line in enumerate(lines[:end], 1):
        thunk, heading = _thunk(number, line, part), _PART.fullmatch(line)
        if thunk is not None:
            thunks.append(thunk if thunk.depth else replace(thunk, part=""))
            part = part if thunk.depth else ""
        elif heading:
            part = heading[1]
        elif line.strip() and not line.startswith(("Total order:", "No thunks")):
            problems.add(number, f"no thunk: {line.strip()[:80]}")
    needed = _dependencies(lines[end + 1 :], end + 2, problems)
    waiting = (replace(thunk, waits_for=tuple(needed.get(thunk.name, ()))) for thunk in thunks)
    return tuple(waiting), problems.all()


def _dependencies(
    lines: Sequence[str], first: int, problems: FileProblems
) -> Mapping[str, list[str]]:
    """Return for each instruction those that its thunk waits for: lines `A depends on B`."""
    dependencies: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(lines, first):
        waiting, words, needed = line.strip().partition(" depends on ")
        if words:
            dependencies[waiting.lstrip("%")].append(needed.lstrip("%"))
        elif line.strip():
            problems.add(number, f"no dependency: {line.strip()[:80]}")
    return dependencies


def read_thunk_metadata(data: bytes, path: str) -> tuple[tuple[ThunkNote, ...], list[Problem]]:
    """Return the notes with the instruction of each thunk."""
    message, problems = read_textproto(data, path)
    notes = []
    for this_message in message.messages("thunk_metadata"):
        for info in this_message.messages("thunk_info"):
            number = parse_whole_number(info.text("thunk_id"))
            notes.append(
                ThunkNote(number, this_message.text("thunk_kind"), info.text("profile_annotation"))
            )
    return tuple(notes), problems


def _thunk(number: int, line: str, part: str) -> Thunk | None:
    match = _NUMBERED.fullmatch(line) or _PLAIN.fullmatch(line)
    if match is None:
        return None
    fields = match.groupdict()
    return Thunk(
        id=_parse_number(fields.get("id")),
        kind=fields["kind"],
        description=(fields["rest"] or "").strip(),
        before=_parse_number(fields.get("before")),
        after=_parse_number(fields.get("after")),
        part=part,
        depth=len(fields["indent"].expandtabs()) // _INDENT_WIDTH,
        line=number,
    )


def _parse_number(text: str | None) -> int | None:
    return int(text) if text else None


def find_command_buffers(thunks: Sequence[Thunk]) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the members of each command buffer in a sequence, in order.

    Members follow their command buffer with a greater depth.
    """
    buffers: list[list[int]] = []
    depth: int | None = None
    for place, thunk in enumerate(thunks):
        if depth is not None and thunk.depth > depth:
            buffers[-1].append(place)
        elif thunk.kind == _KIND:
            depth = thunk.depth
            buffers.append([])
        else:
            depth = None
    return tuple(map(tuple, buffers))


_TODAY = re.compile(
    r"grid: \[(?P<blocks>[\d, ]{1,40})\] threads: \[(?P<threads>[\d, ]{1,40})\]"
    r" {1,8}shared_memory: (?P<shared>\d{1,12}) bytes",
    re.ASCII,
)
_UNTIL_2025 = re.compile(
    r"blocks: \{(?P<blocks>[\d, ]{1,40})\}, threads/block: \{(?P<threads>[\d, ]{1,40})\}", re.ASCII
)


class Launch(Struct, frozen=True):
    """A launch configuration of a kernel."""

    blocks: int
    """Over all dimensions."""
    threads: int
    """Of a block, in all dimensions together."""
    dynamic_shared: int | None
    """Bytes of a block that the launch adds; None where the file does not say."""


def read_launch(description: str) -> Launch | None:
    """Return the launch that a thunk's description states; None where it states none."""
    match = _TODAY.search(description) or _UNTIL_2025.search(description)
    if match is None:
        return None
    fields = match.groupdict()
    blocks, threads = _product(fields["blocks"]), _product(fields["threads"])
    if blocks is None or threads is None:
        return None
    shared = fields.get("shared")
    return Launch(blocks, threads, int(shared) if shared else None)


def _product(text: str) -> int | None:
    numbers = [number.strip() for number in text.split(",")]
    sizes = [int(number) for number in numbers if number]
    return prod(sizes) if sizes and all(sizes) else None
