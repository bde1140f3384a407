"""The device that the modules of a dump name, for those of its modules that name none.

XLA compiles parts of a program as modules of their own, such as fusions to be measured, and writes
the description of the target with the program alone.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from xlareport.analysis.cost.cost_options import CostOptions, named_device
from xlareport.dump.content_digests import RunEach
from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.reader_table import DEVICE_WORDS

MOST_COMPARED = 500
"""Modules whose descriptions are compared, from the first on."""
_LARGEST = 1_000_000
"""Bytes of a description that is read."""


class DeviceFiles(Struct, frozen=True):
    """What names the device of one module."""

    targets: str
    """The targets in names of files."""
    files: tuple[Artifact, ...]


def device_files(module: ModuleFiles, cost_options: CostOptions) -> DeviceFiles | None:
    """Return what names the device of a module; None if nothing does, as `cpu` and `gpu` alone."""
    targets = dict.fromkeys(file.name.target for file in module.artifacts if file.name.target)
    words, files = " ".join(targets), tuple(DEVICE_WORDS.choose(module))
    is_named = files or named_device(words, cost_options) is not None
    return DeviceFiles(words, files) if is_named else None


def words_of_device(
    modules: Iterable[ModuleFiles], cost_options: CostOptions, run: RunEach = map
) -> str:
    """Return the texts of a module that names the device, if all that name one name the same.

    Of more than `MOST_COMPARED` that name one, the first are compared. Empty where they differ, or
    where each module has a name of its own. `run` is `map`, or one that spreads the reading of
    files over workers.
    """
    every: list[DeviceFiles] = []
    is_missing = False
    for module in modules:
        naming = device_files(module, cost_options)
        is_missing |= naming is None
        if naming is not None and len(every) < MOST_COMPARED:
            every.append(naming)
    texts = list(_texts(every, run)) if is_missing else []
    devices = [named_device(text, cost_options) for text in texts]
    is_one = all(device is not None and device == devices[0] for device in devices)
    return texts[0] if texts and is_one else ""


def _texts(every: list[DeviceFiles], run: RunEach) -> Iterator[str]:
    """Yield the texts that name the device of each module, joined."""
    contents = iter(run(_read, [file for naming in every for file in naming.files]))
    for naming in every:
        yield " ".join([naming.targets, *(next(contents) for _ in naming.files)])


def _read(artifact: Artifact) -> str:
    """Return the texts of a file that name a device; empty where it cannot be read."""
    if artifact.entry.size > _LARGEST:
        return ""
    try:
        return DEVICE_WORDS.read(artifact.entry.read(), artifact.path)[0]
    except OSError:
        return ""
