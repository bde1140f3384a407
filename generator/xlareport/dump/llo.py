"""Which module a file of the TPU's low-level compiler (LLO) belongs to.

Its name has a time and a program: an instruction, or `TLP` for the top-level program. `TLP-hlo`
begins with the module's name; what one process compiles after another has later times.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlareport.dump.filename import DumpName
from xlareport.dump.source import Entry

LloFile = tuple[Entry, DumpName]
_TOP = "TLP"
WHOLE_PROGRAMS = (_TOP, "<late-initialization>", "<late-finalization>")
"""Programs of a module that are no instruction's."""
_MODULE = re.compile(rb"HloModule ([\w.$<>-]{1,1000})")


def llo_modules(files: Iterable[LloFile]) -> Mapping[str, str]:
    """Return the HLO module's name by path; without those of a name that was compiled twice."""
    folders: dict[str, list[LloFile]] = defaultdict(list)
    for entry, name in files:
        if name.kind == "llo":
            folders[name.folder].append((entry, name))
    tops = {folder: sorted(_tops(members)) for folder, members in folders.items()}
    count = Counter(module for members in tops.values() for _, module in members)
    owners = (pair for folder in folders for pair in _owners(folders[folder], tops[folder]))
    return {path: module for path, module in owners if count[module] == 1}


def plain_name(module: str) -> str:
    """Return a name without libtpu's changelist: `jit_f.cl_1004524046` gives `jit_f`."""
    return re.sub(r"\.cl_\d+$", "", module)


def llo_program(name: DumpName) -> str:
    """Return the program that a file is about; empty where its name has none."""
    return _text(name, "program")


def _tops(files: Iterable[LloFile]) -> Iterator[tuple[int, str]]:
    for entry, name in files:
        if llo_program(name) == _TOP and name.stage == "hlo":
            module = _MODULE.match(entry.head())
            yield _time(name), module[1].decode("ascii", "replace") if module else ""


def _owners(files: Iterable[LloFile], tops: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Yield (path, module): some files of `TLP` come before `TLP-hlo`, other programs behind it."""
    times = [time for time, _ in tops]
    for entry, name in files:
        is_top = llo_program(name) == _TOP
        search = bisect_left if is_top else bisect_right
        place = search(times, _time(name)) - (not is_top)
        if 0 <= place < len(tops) and tops[place][1]:
            yield entry.path, tops[place][1]


def _time(name: DumpName) -> int:
    return int(_text(name, "timestamp_ns") or 0)


def _text(name: DumpName, field: str) -> str:
    return next((token.text for token in name.tokens if token.field == field), "")
