"""Modules that are the same, byte for byte, as an earlier one: they are read once."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b

from xlareport.dump.content_digests import RunEach, brief
from xlareport.dump.modules import ModuleFiles
from xlareport.storage.packed_keys import PackedStrings, digest_number, group_alike

MANY = 200
"""Modules from which on a dump is large; of fewer, each has pages of its own."""
_MOST_BYTES_OF_HELPERS = 1_000_000
"""Bytes of a module that is a helper in all likelihood."""


def find_duplicates(modules: Sequence[ModuleFiles], run: RunEach = map) -> dict[str, str]:
    """Return the key of the earlier module for each module that repeats one.

    Their files have equal contents, and equal names except for the module number. `run` calls the
    function that reads files.
    """
    if len(modules) < MANY:
        return {}
    outlines, small = array("q"), array("q")
    for place, module in enumerate(modules):
        if module.bytes <= _MOST_BYTES_OF_HELPERS:
            endings = tuple((ending, size) for ending, size, _ in _by_ending(module))
            outlines.append(digest_number((module.name, endings)))
            small.append(place)
    compared = array("q", sorted(small[at] for same in group_alike(outlines) for at in same))
    read, briefs = array("q"), PackedStrings()
    digests = run(_digest, (modules[place] for place in compared))
    for place, digest in zip(compared, digests, strict=True):
        if digest is not None:  # else reading the module says why
            read.append(place)
            briefs.append(brief((modules[place].name, digest)).hex())
    return {
        modules[read[at]].key: modules[read[first]].key
        for at, first in sorted(_repeated_strings(briefs))
    }


def _repeated_strings(strings: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (place, first place) for each string that came before."""
    for alike in group_alike(array("q", map(digest_number, strings))):
        firsts: dict[str, int] = {}
        for place in alike:
            first = firsts.setdefault(strings[place], place)
            if first != place:
                yield place, first


def map_duplicate_paths(original: ModuleFiles, duplicate: ModuleFiles) -> Mapping[str, str]:
    """Return the path of each file of a duplicate by that of the original."""
    pairs = zip(_by_ending(original), _by_ending(duplicate), strict=True)
    return {text: other for (_, _, text), (_, _, other) in pairs}


def _digest(module: ModuleFiles) -> bytes | None:
    """Return a digest of all names, sizes and contents; None where a file cannot be read."""
    digest = blake2b(digest_size=20)
    entries = {artifact.path: artifact.entry for artifact in module.artifacts}
    try:
        for ending, size, path in _by_ending(module):
            digest.update(f"{ending}\n{size}\n".encode())
            digest.update(entries[path].read())
    except OSError:
        return None
    return digest.digest()


def _by_ending(module: ModuleFiles) -> list[tuple[str, int, str]]:
    """Return (path after the module's key, bytes, path) of each file, in order."""
    return sorted(
        (artifact.path.replace(module.key, "", 1), artifact.entry.size, artifact.path)
        for artifact in module.artifacts
    )
