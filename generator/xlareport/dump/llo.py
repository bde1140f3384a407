"""Which module a file of the TPU's low-level compiler (LLO) belongs to.

Its name has a time and a program: an instruction, or `TLP` for the top-level program. `TLP-hlo`
begins with the module's name; what one process compiles after another has later times.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlareport.dump.filename import DumpName
from xlareport.dump.source import Entry

LloFile = tuple[Entry, DumpName]
TOP = "TLP"
"""The top-level program of a module: its entry computation with loops, DMA and calls."""
WHOLE_PROGRAMS = (TOP, "<late-initialization>", "<late-finalization>")
"""Programs of a module that are no instruction's."""
_TOP_FOLDERS = ("TLP", "late-initialization", "late-finalization")
_MODULE = re.compile(rb"HloModule ([\w.$<>-]{1,1000})")


Compilation = tuple[str, int, int]
"""The module's name, which of its compilations in the order of time, and how many there are."""


def llo_modules(files: Iterable[LloFile]) -> Mapping[str, Compilation]:
    """Return the compilation by path, without files whose compilation is unknown."""
    folders: dict[str, list[LloFile]] = defaultdict(list)
    compilations: dict[str, Compilation] = {}
    for entry, name in files:
        if name.kind != "llo":
            continue
        folder = entry.path.rpartition("/")[0]
        module = _folder_module(folder, llo_program(name))
        if module:
            compilations[entry.path] = (module, 0, 1)
        else:
            folders[folder].append((entry, name))
    tops = {folder: sorted(_tops(members)) for folder, members in folders.items()}
    numbers = _numbered(tops)
    for folder, members in folders.items():
        for path, place in _owners(members, tops[folder]):
            if (folder, place) in numbers:
                compilations[path] = numbers[folder, place]
    return compilations


def _numbered(
    tops: Mapping[str, Sequence[tuple[int, str]]],
) -> Mapping[tuple[str, int], Compilation]:
    """Return the compilations by folder and place in it; without those that no time puts in order.

    The times of two folders may be those of two machines.
    """
    by_name: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for folder, members in tops.items():
        for place, (_, module) in enumerate(members):
            by_name[module].append((folder, place))
    return {
        key: (module, number, len(keys))
        for module, keys in by_name.items()
        if module and len({folder for folder, _ in keys}) == 1
        for number, key in enumerate(keys)
    }


def _folder_module(folder: str, program: str) -> str:
    """Return the module in the folder name of a file without a time, or an empty string.

    libtpu writes `MODULE/TLP/` and `MODULE.PROGRAM.deduplicated/` if folders are requested.
    """
    parent, _, name = folder.rpartition("/")
    if name in _TOP_FOLDERS:
        return parent.rpartition("/")[2]
    ends = (f".{program}.deduplicated", f".{program}") if program else ()
    return next((name.removesuffix(end) for end in ends if name.endswith(end)), "")


def plain_name(module: str) -> str:
    """Return a name without libtpu's changelist: `jit_f.cl_1004524046` gives `jit_f`."""
    return re.sub(r"\.cl_\d+$", "", module)


def llo_program(name: DumpName) -> str:
    """Return the program that a file is about; empty where its name has none."""
    return _token_text(name, "program")


def llo_label(name: DumpName) -> str:
    """Return the step of the low-level compiler that a file was written after."""
    return _token_text(name, "llo_pass")


def llo_place(name: DumpName) -> int:
    """Return the running number of a file: it orders the files of a program, and no more."""
    return int(_token_text(name, "llo_pass_index") or 0)


def _tops(files: Iterable[LloFile]) -> Iterator[tuple[int, str]]:
    for entry, name in files:
        if llo_program(name) == TOP and name.stage == "hlo":
            module = _MODULE.match(entry.head())
            yield _time(name), module[1].decode("ascii", "replace") if module else ""


def _owners(files: Iterable[LloFile], tops: Sequence[tuple[int, str]]) -> Iterator[tuple[str, int]]:
    """Yield each path with the place in `tops` of its compilation.

    Some files of `TLP` come before `TLP-hlo`, other programs behind it.
    """
    times = [time for time, _ in tops]
    for entry, name in files:
        is_top = llo_program(name) == TOP
        search = bisect_left if is_top else bisect_right
        place = search(times, _time(name)) - (not is_top)
        if 0 <= place < len(tops):
            yield entry.path, place


def _time(name: DumpName) -> int:
    return int(_token_text(name, "timestamp_ns") or 0)


def _token_text(name: DumpName, field: str) -> str:
    return next((token.text for token in name.tokens if token.field == field), "")
