"""Cache of module results, keyed by the bytes read, the options and the program version.

An entry is typed values, never code. An altered entry, or one of another version of
xlareport, is not found, and the module is read again.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct, msgpack
from msgspec.structs import replace

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.analysis.module import AnalysisOptions
from xlareport.dump.content_digests import whole_digest
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.model import InstructionKey
from xlareport.module_work.kept_form import decode_result, encode_result
from xlareport.module_work.listed_files import encode_files, own_artifacts
from xlareport.module_work.process import ModuleResult, ModuleTask, process_module
from xlareport.pages.pictures.requests import PictureChoice
from xlareport.runtime.program_digest import digest_program
from xlareport.storage.entry_store import EntryStore
from xlareport.storage.payloads import TextFile, payload_path
from xlareport.storage.typed_values import list_values

_PICTURES = msgpack.Decoder(tuple[TextFile, ...])
_Moment = tuple[tuple[int, int], ...]


class KeptModules(Struct, frozen=True):
    """Where results of modules are kept, and the program that they have to be of."""

    store: EntryStore
    program: str
    """Its digest."""

    def process(self, task: ModuleTask, pictures: PictureChoice | None = "changed") -> ModuleResult:
        """Return the result of `process_module`, kept or made now and then kept."""
        make, files = partial(process_module, task, pictures), task.files
        if pictures is None or not _can_be_kept(task.options, pictures):
            return make()
        try:
            before = _moment(files)
            key = self._task_digest(task, pictures)
        except (OSError, UnicodeError):  # reading the module says so
            return make()
        return self._restored(key, files) or self._make_and_keep(key, before, files, make)

    def find(self, task: ModuleTask, pictures: PictureChoice) -> ModuleResult | None:
        """Return the result of a module where it is kept."""
        key = self._task_key(task, pictures)
        return self._restored(key, task.files) if key else None

    def is_empty(self) -> bool:
        """Return whether nothing was ever kept."""
        return not self.store.folder.is_dir()

    def has(self, task: ModuleTask, pictures: PictureChoice) -> bool:
        """Return whether there is a result of a module, which may yet have been altered."""
        key = self._task_key(task, pictures)
        return bool(key) and self.store.has(key) and self.store.has(_of_pictures(key))

    def keep_pictures(self, result: ModuleResult, drawn: Mapping[str, str]) -> None:
        """Keep the files of a module's pictures, with which its result is complete."""
        keys = (request.bundle or request.key for request in result.output.requests)
        paths = dict.fromkeys(map(payload_path, keys))
        if result.kept_as and paths.keys() <= drawn.keys():
            content = msgpack.encode([(path, drawn[path]) for path in paths])
            self.store.put(_of_pictures(result.kept_as), content)

    def _task_key(self, task: ModuleTask, pictures: PictureChoice) -> str:
        """Return the key of a result; empty where it is not kept or a file cannot be read."""
        if not _can_be_kept(task.options, pictures):
            return ""
        try:
            return self._task_digest(task, pictures)
        except (OSError, UnicodeError):
            return ""

    def _task_digest(self, task: ModuleTask, pictures: PictureChoice) -> str:
        options = list_values(task.options.cost_options)
        listed = encode_files([self.program, pictures, options, task.files])
        result = blake2b(listed, digest_size=20)
        for artifact in own_artifacts(task.files):
            result.update(whole_digest(artifact.entry))
        return result.hexdigest()

    def _restored(self, key: str, files: ModuleFiles) -> ModuleResult | None:
        drawn = self.store.get(_of_pictures(key))
        content = self.store.get(key) if drawn is not None else None
        if drawn is None or content is None:
            return None
        try:
            pictures = _PICTURES.decode(drawn)
            result = decode_result(content, files)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        output = replace(result.output, drawn=pictures)
        return replace(result, output=output, kept_as=key)

    def _make_and_keep(
        self, key: str, before: _Moment, files: ModuleFiles, make: Callable[[], ModuleResult]
    ) -> ModuleResult:
        result = make()
        if any(problem.is_fault for problem in result.analysis.summary.problems):
            return result
        try:
            if _moment(files) != before:  # a program that still runs has written on
                return result
            self.store.put(key, encode_result(result, files))
        except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return result
        return replace(result, kept_as=key)


def keep_in(cache: Path, most: int) -> KeptModules | None:
    """Return the store of this program's results, limited to `most` bytes; None for 0."""
    return KeptModules(EntryStore(cache / "modules", most), digest_program()) if most > 0 else None


def _can_be_kept(options: AnalysisOptions, pictures: PictureChoice) -> bool:
    """Return whether a result depends on the files of its module and listed values alone."""
    is_alone = replace(options, cost_options=CostOptions()) == AnalysisOptions()
    return is_alone and not options.cost_options.with_source and pictures != "main"


def _moment(files: ModuleFiles) -> _Moment:
    """Return the sizes and times of the files as they are now; raises OSError."""
    states = (artifact.entry.location.stat() for artifact in own_artifacts(files))
    return tuple((state.st_size, state.st_mtime_ns) for state in states)


def _of_pictures(key: str) -> str:
    return f"{key[:2]}{blake2b(key.encode(), digest_size=19).hexdigest()}"


def keep_all_pictures(
    kept: KeptModules,
    results: Iterable[ModuleResult],
    drawn: Mapping[str, str],
    faulty: Collection[InstructionKey] = (),
) -> None:
    """Store the pictures of every module whose stored result is incomplete.

    Modules with a `faulty` picture are skipped: it is incomplete, for example because the time for
    a layout ran out, and another build may complete it.
    """
    for result in results:
        is_whole = not any(request.place in faulty for request in result.output.requests)
        if result.output.drawn is None and is_whole:
            kept.keep_pictures(result, drawn)
