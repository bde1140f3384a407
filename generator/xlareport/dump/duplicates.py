"""Modules that are the same, byte for byte, as an earlier one: they are read once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from xlareport.dump.modules import ModuleFiles

MANY = 200
"""Modules from which on a dump is large; of fewer, each has pages of its own."""
_LARGEST = 1_000_000
"""Bytes of a module that is a helper in all likelihood."""


def find_duplicates(modules: Sequence[ModuleFiles]) -> dict[str, ModuleFiles]:
    """Return, by the key of each module that repeats an earlier one, that earlier one.

    Their files have the same contents, and the same names but for the number of the module.
    """
    if len(modules) < MANY:
        return {}
    alike: dict[object, list[ModuleFiles]] = defaultdict(list)
    for module in modules:
        if module.bytes <= _LARGEST:
            alike[module.name, _endings(module)].append(module)
    return dict(pair for some in alike.values() if len(some) > 1 for pair in _pairs(some))


def map_duplicate_paths(original: ModuleFiles, twin: ModuleFiles) -> Mapping[str, str]:
    """Return the path of each file of a twin by that of the original."""
    pairs = zip(_by_ending(original), _by_ending(twin), strict=True)
    return {text: other for (_, _, text), (_, _, other) in pairs}


def _pairs(modules: Iterable[ModuleFiles]) -> Iterable[tuple[str, ModuleFiles]]:
    first: dict[bytes, ModuleFiles] = {}
    for module in modules:
        try:
            original = first.setdefault(_digest(module), module)
        except OSError:  # reading the module says so
            continue
        if original is not module:
            yield module.key, original


def _digest(module: ModuleFiles) -> bytes:
    """Return a digest of all contents; the sizes are known to be the same."""
    result = blake2b(digest_size=20)
    entries = {artifact.path: artifact.entry for artifact in module.artifacts}
    for _, _, path in _by_ending(module):
        result.update(entries[path].read())
    return result.digest()


def _endings(module: ModuleFiles) -> tuple[tuple[str, int], ...]:
    return tuple((ending, size) for ending, size, _ in _by_ending(module))


def _by_ending(module: ModuleFiles) -> list[tuple[str, int, str]]:
    """Return (what follows the module's key in the path, bytes, path) of each file, in order."""
    return sorted(
        (artifact.path.replace(module.key, "", 1), artifact.entry.size, artifact.path)
        for artifact in module.artifacts
    )
