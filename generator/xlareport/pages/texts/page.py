"""The page that shows every text of a module whole."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct, field

from xlareport.dump.modules import Artifact, ModuleFiles
from xlareport.pages import navigation
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tabs import ModuleTab, PlainTab, TabSection
from xlareport.storage.payloads import make_payload_file
from xlareport.storage.string_folding import fold_strings
from xlareport.storage.texts import TextStore, line_key


def texts_page() -> PlainTab:
    """Make the page that the page script fills."""
    return PlainTab(
        tables={},
        heading=TAB.label,
        sections=(TabSection("texts", shows="texts"),),
        lead="Every text dumped for this module, unmodified.",
        muted=prose(
            "Choose a snapshot, search it, click a name to go to its definition, or save it. "
            "`xlareport extract` writes all of them to files."
        ),
    )


TAB = ModuleTab(
    "texts",
    lambda shown: has_texts(shown.analysis.summary.files) or None,
    lambda *_: texts_page(),
    wide=True,
    title="HLO",
    place=130,
)

_TEXTS = frozenset(("txt", "textproto", "pbtxt", "mlir", "ll", "ptx", "json"))
"""Formats; files of flags have none."""
_MOST_BYTES = 1 << 30
"""Bytes; larger files are not carried."""


def has_texts(files: ModuleFiles) -> bool:
    """Return whether a module has texts, and so a page that shows them."""
    return next(_snapshots_first(files), None) is not None


class KeptTexts(Struct, frozen=True):
    """The texts of a module as stored in the site."""

    payloads: tuple[tuple[str, str], ...] = ()
    lines: Mapping[int, int] = field(default_factory=dict)
    """The number of each distinct line by its key, by which other payloads refer to it."""
    paths: frozenset[str] = frozenset()
    """Paths of the files with these texts."""


def kept_texts(files: ModuleFiles) -> KeptTexts:
    """Store the texts of a module; unreadable ones are left out."""
    store = TextStore()
    named: list[tuple[str, str]] = []
    for artifact, name, label in _snapshots_first(files):
        try:
            content = artifact.entry.read()
        except OSError:
            continue  # reading the module says so
        store.add(artifact.path, content, artifact.entry.modified)
        named.append((name, label))
    if not has_texts(files):
        return KeptTexts()
    payloads = tuple(_payloads(navigation.module_key(files.slug, "texts"), store, named))
    lines = {line_key(line): number for line, number in store.lines.items()}
    return KeptTexts(payloads, lines, frozenset(text.path for text in store.texts))


def _payloads(
    key: str, store: TextStore, named: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield the index of the texts, with the first line of each, and the chunks."""
    records = [
        [text.path, text.size, text.modified, text.chunk, text.runs, *name]
        for text, name in zip(store.texts, named, strict=True)
    ]
    starts = [0, *accumulate(len(chunk.lines) for chunk in store.chunks)][:-1]
    yield make_payload_file(key, {"texts": records, "chunks": starts})
    for number, chunk in enumerate(store.chunks):
        value = {"lines": fold_strings(chunk.lines).listed(), "blocks": chunk.blocks}
        yield make_payload_file(f"{key}-{number}", value)


def _snapshots_first(files: ModuleFiles) -> Iterator[tuple[Artifact, str, str]]:
    """Yield (file, name in addresses, label): snapshots in order, because similar ones pack best.

    A snapshot is named by its stage, another text by its path.
    """
    paths: set[str] = set()
    for stage in files.stages:
        for this_artifact in stage.readable():
            if this_artifact.name.kind == "hlo-text":
                paths.add(this_artifact.path)
                yield this_artifact, stage.key, stage.label
    for artifact in files.artifacts:
        is_text = artifact.name.format in _TEXTS or artifact.name.kind == "flags"
        if is_text and artifact.entry.size <= _MOST_BYTES and artifact.path not in paths:
            yield artifact, artifact.path, artifact.path.rpartition("/")[2]
