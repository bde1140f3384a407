"""The use of each file of a dump: its purpose if it was read, or listed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from xlareport.dump.grouping import NAMELESS_CODE, NO_OWNER, NamedDump
from xlareport.dump.modules import HLO_KINDS, READABLE_KINDS, ModuleFiles
from xlareport.program import CODE_KINDS

_MODEL = "read: snapshots and steps"
_SAME = "not read: another format of the same snapshot was read"
_REPEATED = "not read: the same module of another rank was read"
_FIGURES = "read for figures"
_CODE = "read: linked to instructions, shown on the Code tab"
_FRAMES = "read: other files of this list are contained in it"
_LISTED = "listed and explained, not read"


def file_uses(
    named: NamedDump,
    reads: Sequence[Sequence[str]],
    more: Sequence[str],
    others: Mapping[str, str],
) -> Sequence[str]:
    """Return the use of each file.

    `reads` are the paths that were read for each module, `more` those for no module, `others` the
    uses of such files, by path.
    """
    loose = _loose_uses(named, chain(reads, [more])) | dict(others)
    return list(_uses(named, reads, loose))


def _uses(
    named: NamedDump, reads: Sequence[Sequence[str]], loose: Mapping[str, str]
) -> Iterator[str]:
    at, uses = NO_OWNER, dict[str, str]()
    for artifact, owner in zip(named.artifacts, named.owners, strict=True):
        path = artifact.path
        if owner == NO_OWNER:
            yield loose.get(path, _LISTED)
            continue
        if owner != at:  # files of a module stand together, as a rule
            at, uses = owner, _of_module(named.grouped.modules[owner], reads[owner])
        yield uses.get(path, _REPEATED)


def _of_module(module: ModuleFiles, read: Iterable[str]) -> dict[str, str]:
    """Return the use of a module's files by path, without those of its copies."""
    opened = set(read)
    uses = {}
    for artifact in module.artifacts:
        is_hlo = artifact.name.kind in HLO_KINDS
        is_model = artifact.name.kind in READABLE_KINDS
        done = _MODEL if is_model else _CODE if artifact.name.kind in CODE_KINDS else _FIGURES
        uses[artifact.path] = done if artifact.path in opened else _SAME if is_hlo else _LISTED
    return uses


def _loose_uses(named: NamedDump, reads: Iterable[Iterable[str]]) -> dict[str, str]:
    """Return the use of files without a module: logs whose frames were read, and code."""
    nameless = {
        artifact.path for artifact in named.grouped.others if artifact.name.kind in NAMELESS_CODE
    }
    uses: dict[str, str] = {}
    for paths in reads:
        for path in paths:
            folder, slash, _ = path.rpartition("/")
            if slash:
                uses[folder] = _FRAMES
            if path in nameless:
                uses[path] = _CODE
    return uses
