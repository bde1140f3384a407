"""Modules of several processes that are equal except for names, ids and notes: one is analyzed.

Texts are compared in a normal form: names and channels are numbered by first appearance, metadata
and callback ids are removed. Equal normal forms mean equal programs; the remaining differences are
compared later, and named.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b

from msgspec import Struct, field

from xlareport.dump.content_digests import RunEach, content_digest
from xlareport.dump.duplicate_modules import find_duplicates
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.dump.rank_modules import RankPlace, by_ending, may_be_ranks, rank_place
from xlareport.storage.packed_keys import digest_number, group_alike

_MOST_ORIGINALS = 8
"""Limit on modules with the same name that a module is compared with."""
_MOST_BYTES = 64_000_000
"""Bytes of a file that is brought into that form; a module with a larger one has no equivalent."""
_NAME = re.compile(rb"%[\w.\-]{1,1000}+")
_WORD = re.compile(rb"[A-Za-z_][\w.\-]{0,1000}+")
_CHANNEL = re.compile(rb"channel_id=\d{1,20}+")
METADATA = re.compile(
    rb", metadata=\{(?:[^{}\"\n]{1,2000}+|\"(?:[^\"\\\n]|\\.){0,4000}+\"){0,60}+\}"
)
"""Metadata of an instruction: op_name and source; longer ones are not matched."""
_TABLES = re.compile(
    rb"^(?:FileNames|FunctionNames|FileLocations|StackFrames)\n(?:\d[^\n]*+\n)*+", re.MULTILINE
)
_CALLBACKS = (b"callback", b"_python_")
_CONFIG = b"backend_config="
_PARAMETER = re.compile(rb"[\w.\-]{1,1000}+: ")
_NUMBER = re.compile(rb"\b\d{1,20}\b")


class RepeatedModules(Struct, frozen=True):
    """Modules that are not analyzed, since another one is the same."""

    same: Mapping[str, str]
    """The key of the original for each module that repeats one."""
    equivalent: frozenset[str]
    """Keys of those that equal it except for names, ids and notes."""


def find_repeated_modules(modules: Sequence[ModuleFiles], run: RunEach = map) -> RepeatedModules:
    """Return the modules that repeat an earlier one, of their own process or of another.

    `run` is `map`, or one that spreads the reading of files over workers.
    """
    repeated = find_duplicates(modules, run)
    same = dict(find_equivalent_modules(modules, run, repeated))
    same |= {key: same[first] for key, first in repeated.items() if first in same}
    return RepeatedModules({**repeated, **same}, frozenset(same))


def find_equivalent_modules(
    modules: Sequence[ModuleFiles], run: RunEach = map, without: Container[str] = ()
) -> Mapping[str, str]:
    """Return the key of the original for each module that repeats one of another process.

    `run` calls the function that reads files. Modules with keys in `without` are skipped.
    """
    outlines, numbers = array("q"), array("q")
    for number, module in enumerate(modules):
        if module.stages and not module.llo and module.key not in without:
            endings = tuple(ending for ending, _, _ in by_ending(module))
            outlines.append(digest_number((module.name, endings)))
            numbers.append(number)
    alike = ([numbers[at] for at in same] for same in group_alike(outlines))
    groups = (
        [modules[number] for number in some]
        for some in alike
        if _are_of_several([rank_place(number, modules[number]) for number in some])
    )
    return {key: original for pairs in run(_key_pairs, groups) for key, original in pairs}


def _are_of_several(places: Sequence[RankPlace]) -> bool:
    """Return whether two of the modules may be of two processes."""
    return len({place.folder for place in places}) > 1 or any(
        len({place.timestamp for place in some}) > 1 for some in _by_id(places).values()
    )


def _by_id(places: Iterable[RankPlace]) -> Mapping[int, Sequence[RankPlace]]:
    by_id: dict[int, list[RankPlace]] = defaultdict(list)
    for place in places:
        if place.id is not None:
            by_id[place.id].append(place)
    return by_id


def _key_pairs(modules: Sequence[ModuleFiles]) -> list[tuple[str, str]]:
    return [(module.key, original.key) for module, original in _equivalent_pairs(modules)]


def _equivalent_pairs(modules: Sequence[ModuleFiles]) -> Iterator[tuple[ModuleFiles, ModuleFiles]]:
    """Yield each module that is the same as an earlier one, with that one."""
    originals: list[_Contents] = []
    for module in modules:
        ranks = [original for original in originals if may_be_ranks(module, original.module)]
        if not ranks and len(originals) >= _MOST_ORIGINALS:
            continue
        contents = _Contents(module)
        try:
            original = next((rank for rank in ranks if contents.is_like(rank)), None)
        except OSError:  # reading the module says so
            continue
        if original is not None:
            yield module, original.module
        elif len(originals) < _MOST_ORIGINALS:
            originals.append(contents)


class _Contents(Struct):
    """The files of a module by their paths after its number, read on access."""

    module: ModuleFiles
    _raw: dict[str, bytes] = field(default_factory=dict)
    _forms: dict[tuple[str, bool], bytes] = field(default_factory=dict)
    _names: dict[bytes, bytes] = field(default_factory=dict)
    """Names in all texts with their numbers; empty if no other file differs."""
    _files: Mapping[str, Artifact] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._files = {ending: artifact for ending, _, artifact in by_ending(self.module)}

    def is_like(self, other: "_Contents") -> bool:
        """Return whether all files are the same but for names, ids and notes; raises OSError."""
        different = [
            ending for ending in self._files if self.digest(ending) != other.digest(ending)
        ]
        return all(
            self.form(ending, thorough=False) == other.form(ending, thorough=False)
            or self.form(ending, thorough=True) == other.form(ending, thorough=True)
            for ending in different
        )

    def _is_text(self, ending: str) -> bool:
        return self._files[ending].name.kind == "hlo-text"

    def digest(self, ending: str) -> bytes:
        """Return a digest of a file as it is; raises OSError."""
        if ending not in self._raw:
            self._raw[ending] = content_digest(self._files[ending].entry)
        return self._raw[ending]

    def form(self, ending: str, *, thorough: bool) -> bytes:
        """Return a digest of a file in the form that is compared; its own where it has none.

        Notes alone are left out quickly; names and ids take a `thorough` look.
        """
        if (ending, thorough) not in self._forms:
            entry = self._files[ending].entry
            content = entry.read() if entry.size <= _MOST_BYTES else b""
            if not content or b"\0" in content[:4096]:
                return self.digest(ending)
            form = _without_notes(content) if self._is_text(ending) else content
            if thorough:
                form = _text_form(form) if self._is_text(ending) else self._renamed(content)
            self._forms[ending, thorough] = blake2b(form, digest_size=20).digest()
        return self._forms[ending, thorough]

    def _renamed(self, content: bytes) -> bytes:
        """Return another file with the names of instructions as its HLO texts count them."""
        if not self._names:
            number = _renumber_matches(b"%", self._names)
            for ending in filter(self._is_text, self._files):
                for match in _NAME.finditer(self._files[ending].entry.read()):
                    number(match)
        names = self._names
        return _WORD.sub(lambda match: names.get(b"%" + match[0], match[0]), content)


def _without_notes(content: bytes) -> bytes:
    return METADATA.sub(b"", _TABLES.sub(b"", content))


def _text_form(content: bytes) -> bytes:
    content = b"\n".join(_comparable_line(line) for line in content.split(b"\n") if line)
    content = _CHANNEL.sub(_renumber_matches(b"channel_id=", {}), content)
    return _NAME.sub(_renumber_matches(b"%", {}), content)


def _comparable_line(line: bytes) -> bytes:
    """Return a line without names of parameters and without ids of callbacks."""
    if line.startswith((b"%", b"ENTRY ")):
        return _PARAMETER.sub(b"", line)
    if b" custom-call(" not in line or not any(word in line for word in _CALLBACKS):
        return line
    head, mark, config = line.partition(_CONFIG)
    return head + mark + _NUMBER.sub(b"0", config)


def _renumber_matches(
    prefix: bytes, known: dict[bytes, bytes]
) -> Callable[[re.Match[bytes]], bytes]:
    """Return a function that replaces each text with a number by first appearance."""

    def number(match: re.Match[bytes]) -> bytes:
        text = match[0]
        if text not in known:
            known[text] = prefix + b"%d" % len(known)
        return known[text]

    return number
