"""Reads all names of a dump together: ambiguous names are resolved by the others.

A module's files share a folder and an id. Their common parts show where the module's name ends, and
to which module a file belongs that lost its name (XLA omits the name if a file name would exceed
255 bytes), never had one, or lacks the timestamp that the others have.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from heapq import nsmallest

from msgspec.structs import replace

from xlareport.dump.endings import kind_by_content
from xlareport.dump.filename import DumpName, parse, read, sanitised
from xlareport.dump.module_names import explain_module

LONGEST_NAME = 255
"""Bytes in a file name; XLA writes a longer one without the module's name."""

SNAPSHOTS = frozenset({"hlo-text", "hlo-proto", "hlo-dot", "hlo-html", "hlo-url", "hlo-riegeli"})
_NEVER_NAMED = frozenset({"pass-metadata"})

_Key = tuple[str, int | None]
"""A module's name ('' where there is none) and its timestamp."""


class ModulesOfId:
    """The modules of one folder and id, each represented by its snapshots."""

    def __init__(self, snapshots: Iterable[DumpName]) -> None:
        self._prefixes: dict[_Key, str] = {}
        for snapshot in snapshots:
            key, prefix = _module_key(snapshot), snapshot.module_prefix or ""
            self._prefixes[key] = min(self._prefixes.get(key, prefix), prefix)
        self._by_name: dict[str, set[str]] = defaultdict(set)
        self._by_time: dict[int | None, list[_Key]] = defaultdict(list)
        for name, timestamp in self._prefixes:
            self._by_name[name].add(self._prefixes[name, timestamp])
            self._by_time[timestamp].append((name, timestamp))
        self._asked: dict[tuple[int | None, int], frozenset[str]] = {}

    def of(self, this_name: DumpName, path: str) -> frozenset[str]:
        """Return the prefixes of the modules that a file can belong to."""
        name, timestamp = _module_key(this_name)
        modules = (
            {self._prefixes[name, timestamp]} if (name, timestamp) in self._prefixes else set()
        )
        if timestamp is None and this_name.kind not in SNAPSHOTS:
            modules |= self._by_name.get(name, set())
        if name:
            return frozenset(modules)
        lost = self._longer(timestamp, _shortest_lost(this_name, path))
        return lost.union(modules) if modules else lost

    def may_have_lost(self, name: DumpName, path: str) -> bool:
        """Return whether a file without a module's name may be without it for its length."""
        return bool(self._longer(name.timestamp, _shortest_lost(name, path)))

    def _longer(self, timestamp: int | None, shortest: int) -> frozenset[str]:
        """Return the modules of a moment, or of any, whose names have at least so many letters."""
        question = timestamp, shortest
        if question not in self._asked:
            among: Sequence[_Key] = (
                list(self._prefixes) if timestamp is None else self._by_time.get(timestamp, [])
            )
            prefixes = (self._prefixes[key] for key in among if key[0] and len(key[0]) >= shortest)
            self._asked[question] = frozenset(prefixes)
        return self._asked[question]


def _module_key(name: DumpName) -> _Key:
    return sanitised(name.module_name or ""), name.timestamp


def _shortest_lost(name: DumpName, path: str) -> int:
    return 0 if name.kind in _NEVER_NAMED else shortest_lost(path)


def shortest_lost(path: str) -> int:
    """Return from how many letters on XLA leaves a module's name out of the name of such a file."""
    file_name = path.rpartition("/")[2]
    return max(0, LONGEST_NAME - len(file_name.encode(errors="surrogateescape")))


_LABEL = re.compile(
    r"label = <(?:<b>)?(?P<title>[^<>\n]{1,512})<br/>Computation (?P<entry>[^<>\s]{1,512})"
)
_BETWEEN = re.compile(
    r"(?P<pipeline>[^:]+): (?:after (?P<after>[^,]+)|pipeline start), "
    r"(?:before (?P<before>[^,]+)|pipeline end)"
)
_NAMED = re.compile(r"(?P<stage>(?:before|after)[ _]optimizations?)")


def with_title(name: DumpName, first_bytes: bytes) -> DumpName:
    """Return the name of a drawing with the information in its title; unchanged if there is none.

    The entry computation names the module: such a drawing has no other name of it. XLA before March
    2019 named its drawings `hlo_graph_5.HOST-TID-PID-TIME.dot` and wrote the rest into the label of
    the graph: `simplification: after algsimp, before dce<br/>Computation cluster_0`.
    """
    label = _LABEL.search(first_bytes.decode("utf-8", "replace"))
    if label is None:
        return name
    between = _BETWEEN.fullmatch(label["title"])
    named = _NAMED.fullmatch(label["title"])
    if not (between or named):
        return name
    titled = replace(
        name,
        module_name=label["entry"],
        frontend=explain_module(label["entry"]).frontend or name.frontend,
    )
    if between is not None:
        return _between_passes(titled, between)
    return replace(titled, stage=named["stage"].replace(" ", "_")) if named else titled


def _between_passes(name: DumpName, title: re.Match[str]) -> DumpName:
    """Return the name with pipeline and passes; pipelines begin and end with XLA's later words."""
    return replace(
        name,
        stage="pass",
        pipeline=title["pipeline"],
        after=title["after"] or "pipeline-start",
        before=title["before"] or "pipeline-end",
    )


Peek = Callable[[str], bytes]
"""Returns the first bytes of the file at a path; may raise OSError."""

_PLAIN = SNAPSHOTS | {"flags", "config", "compile-input"}
"""Kinds whose names end in fixed words, so that the module's name precedes them."""
_BEFORE_NAME = re.compile(r"module_\d{4,}\.", re.ASCII)


ParseAll = Callable[[Sequence[str]], list[DumpName]]
"""Parses each of some paths by itself."""


def parse_all(paths: Sequence[str]) -> list[DumpName]:
    """Return the parsed names of paths, none of them settled by the others."""
    return [parse(path) for path in paths]


def classify(
    paths: Sequence[str], peek: Peek | None = None, parse_each: ParseAll = parse_all
) -> tuple[DumpName, ...]:
    """Parse all paths of a dump, in the order given.

    `peek` returns the first bytes of files whose names fit no grammar, and of drawings whose names
    have no module; without it no file is opened. The `module_prefix` of a file is that of the
    module to which it belongs by its neighbors.
    """
    names = parse_each(paths)
    for places in _group_by_module(names):
        _settle_names(paths, names, places)
        _settle_prefixes(paths, names, places)
        _settle_frontend(names, places)
    _settle_timed_folders(names)
    _settle_without_id(names)
    if peek is not None:
        _settle_kinds(paths, names, peek)
        _settle_drawings(paths, names, peek)
    return tuple(names)


def _group_by_module(names: Sequence[DumpName]) -> Iterator[Sequence[int]]:
    """Yield the indices of the files of each folder and module id."""
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        if name.module_id is not None:
            groups[name.folder, name.module_id].append(place)
    yield from groups.values()


def _settle_names(paths: Sequence[str], names: list[DumpName], places: Sequence[int]) -> None:
    """Read ambiguous names again, with the names that are certain."""
    sure = _sure_names([names[place] for place in places])
    lengths = sorted({len(name) for name in sure})
    for place in places if sure else ():
        name = names[place]
        if name.ambiguous or (name.module_name and sanitised(name.module_name) not in sure):
            names[place] = read(paths[place], _names_in(paths[place], sure, lengths))


def _sure_names(files: Sequence[DumpName]) -> frozenset[str]:
    """Return the names before a fixed word, if one file is unambiguous or two agree."""
    shown: Counter[str] = Counter()
    for file in files:
        if file.module_name and file.stage and not file.kernel and file.kind in _PLAIN:
            shown[sanitised(file.module_name)] += 1 if file.ambiguous else 2
    return frozenset(name for name, weight in shown.items() if weight > 1)


def _names_in(path: str, names: frozenset[str], lengths: Sequence[int]) -> Sequence[str]:
    """Return the given names that follow `module_<id>.` in a path; `lengths` are their lengths.

    If there is none, and XLA would have omitted each for its length, the result is the empty name.
    """
    starts = [match.end() for match in _BEFORE_NAME.finditer(path)]
    texts = {path[start : start + length] for start in starts for length in lengths}
    if all(length >= shortest_lost(path) for length in lengths):
        return sorted(texts & names) or [""]
    return sorted(texts & names)


def _settle_prefixes(paths: Sequence[str], names: list[DumpName], places: Sequence[int]) -> None:
    """Give files without name or timestamp the prefix of the one module they can belong to."""
    homes = _homes(paths, names, places)
    for place in places:
        names[place] = _at_home(names[place], homes.of(names[place], paths[place]))


def _homes(paths: Sequence[str], names: Sequence[DumpName], places: Sequence[int]) -> ModulesOfId:
    """Return the modules of which there are snapshots, with their prefixes.

    A snapshot that lost its name for its length makes no module of its own.
    """
    snapshots = [place for place in places if names[place].kind in SNAPSHOTS]
    telling = [place for place in snapshots if names[place].stage and names[place].module_prefix]
    named = ModulesOfId(names[place] for place in telling if names[place].module_name)
    bare = [place for place in telling if not names[place].module_name]
    complete = [place for place in bare if not named.may_have_lost(names[place], paths[place])]
    if not complete:
        return named
    chosen = {*complete, *(place for place in telling if names[place].module_name)}
    return ModulesOfId(names[place] for place in chosen)


def _at_home(name: DumpName, prefixes: frozenset[str]) -> DumpName:
    if not prefixes or prefixes == {name.module_prefix}:
        return name
    if len(prefixes) == 1:
        return replace(name, module_prefix=next(iter(prefixes)))
    return replace(name, ambiguous=f"{name.ambiguous or ''} {_doubt(prefixes)}".strip())


@lru_cache(maxsize=256)
def _doubt(prefixes: frozenset[str]) -> str:
    first = ", ".join(nsmallest(3, prefixes))
    return f"It may belong to any of {len(prefixes)} modules: {first}."


def _settle_frontend(names: list[DumpName], places: Sequence[int]) -> None:
    """Mark all files of a module as for IPUs, which only its pipelines show."""
    if any(names[place].frontend == "ipu" for place in places):
        for place in places:
            names[place] = replace(names[place], frontend="ipu")


def _settle_timed_folders(names: list[DumpName]) -> None:
    """Assign folders `NAME_MILLISECONDS` of compiler inputs to the modules of that name, in order.

    jaxlib 0.7 to 0.9 writes such a folder for each compilation, and XLA numbers the modules in the
    same order; if the counts differ, none is assigned.
    """
    folders: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    modules: dict[tuple[str, str], set[tuple[int, str]]] = defaultdict(set)
    for place, name in enumerate(names):
        key = name.folder, sanitised(name.module_name or "")
        if name.kind == "compile-input" and name.module_id is None:
            folders[key][_milliseconds(name)].append(place)
        elif name.module_id is not None and name.kind in SNAPSHOTS and name.module_prefix:
            modules[key].add((name.module_id, name.module_prefix))
    for key, timed in folders.items():
        for stamp, (number, prefix) in _pair_stamps(timed, modules[key]):
            for place in timed[stamp]:
                names[place] = replace(names[place], module_id=number, module_prefix=prefix)


def _pair_stamps(
    stamps: Iterable[str], modules: Collection[tuple[int, str]]
) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield the n-th stamp with the n-th module if counts are equal; each number is used once."""
    ordered = sorted(stamps)
    if len(ordered) == len(modules) == len({number for number, _ in modules}):
        yield from zip(ordered, sorted(modules), strict=True)


def _milliseconds(name: DumpName) -> str:
    return next((token.text for token in name.tokens if token.field == "timestamp_ms"), "")


def _settle_without_id(names: list[DumpName]) -> None:
    """Give files with only a module's name the prefix of the only module with that name."""
    homes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name in names:
        if name.module_id is not None and name.module_name and name.module_prefix:
            homes[name.folder, sanitised(name.module_name)].add(name.module_prefix)
    prefixes = {key: frozenset(found_there) for key, found_there in homes.items()}
    for place, this_name in enumerate(names):
        if (
            this_name.module_id is None
            and this_name.module_name
            and this_name.kind not in SNAPSHOTS
        ):
            key = this_name.folder, sanitised(this_name.module_name)
            names[place] = _at_home(this_name, prefixes.get(key, frozenset()))


def _settle_kinds(paths: Sequence[str], names: list[DumpName], peek: Peek) -> None:
    for place, name in enumerate(names):
        if name.kind == "unknown":
            with suppress(OSError):
                kind = kind_by_content(peek(paths[place])) or name.kind
                names[place] = replace(name, kind=kind)


def _settle_drawings(paths: Sequence[str], names: list[DumpName], peek: Peek) -> None:
    """Read the titles of drawings whose names have no module."""
    for place, name in enumerate(names):
        if name.kind == "hlo-dot" and name.module_id is None and name.module_name is None:
            with suppress(OSError):
                names[place] = with_title(name, peek(paths[place]))
