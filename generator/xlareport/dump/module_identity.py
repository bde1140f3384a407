"""The identity of a module, and rules that complete incomplete identities.

Files may lack the timestamp or the name, and folders of compiler inputs have names in other
spellings.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from xlareport.dump.filename import sanitised
from xlareport.dump.modules import HLO_KINDS, Artifact
from xlareport.runtime.grouping import group_by_key

Member = TypeVar("Member")

_LAST = 1 << 60


class Identity(Struct, frozen=True):
    """Folder, timestamp, id and name together; None if a file's name does not have them."""

    folder: str
    timestamp: int | None
    id: int | None
    name: str | None


def identity_of(artifact: Artifact) -> Identity | None:
    """Return the module that a file names; None where it names none."""
    name = artifact.name
    if name.module_id is not None or name.module_name is not None:
        where = name.process_folder if name.module_id is None else ""
        return Identity(
            where or _folder(artifact), name.timestamp, name.module_id, name.module_name or None
        )
    if name.kind in HLO_KINDS:
        return Identity(_folder(artifact), None, None, stem_of(artifact))
    return None


def stem_of(artifact: Artifact) -> str:
    """Return the name of a module whose file name is not XLA's: the file name without ending."""
    return artifact.path.rsplit("/", 1)[-1].split(".")[0] or artifact.path


def _folder(artifact: Artifact) -> str:
    """Return the folder that XLA wrote to: above `shardy/` and above a module's own folder.

    A rank before the name of a file counts as a folder below that.
    """
    folders = artifact.path.split("/")[:-1]
    if artifact.name.rank:
        folders.append(artifact.name.rank)
    subfolder = re.compile(r"shardy|module_\d{4,}(?:\..*)?|.*_\d{13}")
    for depth, folder in enumerate(folders):
        if subfolder.fullmatch(folder):
            return "/".join(folders[:depth])
    return "/".join(folders)


def place_of(identity: Identity) -> tuple[str, int, int, str]:
    """Return the sort key of modules: folder, timestamp, id and name."""
    number = _LAST if identity.id is None else identity.id
    return identity.folder, identity.timestamp or 0, number, identity.name or ""


def prefix_of(identity: Identity) -> str:
    """Return how the names of the files of a module begin: `module_0002.jit_f`."""
    stamp = None if identity.timestamp is None else str(identity.timestamp)
    number = None if identity.id is None else f"module_{identity.id:04d}"
    return ".".join(part for part in (stamp, number, identity.name) if part)


_Key = tuple[object, ...] | None
"""Key that an incomplete identity shares with the complete one; None if not applicable."""


def _whole_key(identity: Identity) -> _Key:
    is_whole = identity.id is not None and identity.name is not None
    return (identity.folder, identity.id, identity.name) if is_whole else None


def _without_build(identity: Identity) -> _Key:
    """Take the build of libtpu, `.cl_1003875606`, off a name that is a folder's."""
    name, _, build = (identity.name or "").rpartition(".cl_")
    return (
        (identity.folder, identity.id, name)
        if identity.id is not None and build.isdigit()
        else None
    )


def _without_letters(identity: Identity) -> _Key:
    """Write a folder's name, which keeps letters, as files have it, with `_` for bytes."""
    if identity.id is None or identity.name is None or identity.name.isascii():
        return None
    return identity.folder, identity.id, sanitised(identity.name)


def _nameless(identity: Identity) -> _Key:
    return (identity.folder, identity.id) if identity.name is None else None


def _key_by_id(identity: Identity) -> _Key:
    return (identity.folder, identity.id) if _whole_key(identity) else None


def _idless(identity: Identity) -> _Key:
    return (identity.folder, identity.name) if identity.id is None else None


def _with_id(identity: Identity) -> _Key:
    return (identity.folder, identity.name) if _whole_key(identity) else None


def _timeless(identity: Identity) -> _Key:
    return (identity.folder, identity.id, identity.name) if identity.timestamp is None else None


def _timed(identity: Identity) -> _Key:
    return (identity.folder, identity.id, identity.name) if identity.timestamp is not None else None


_JOINS = (
    (_timeless, _timed),
    (_without_build, _whole_key),
    (_without_letters, _whole_key),
    (_nameless, _key_by_id),
    (_idless, _with_id),
    (_timeless, _timed),
)
"""Pairs of key functions, for incomplete and for complete identities."""


def join_incomplete(members: dict[Identity, list[Member]]) -> None:
    """Move the files of incomplete identities to the complete ones that they can belong to."""
    for asks, answers in _JOINS:
        _join(members, asks, answers)


def _join(
    members: dict[Identity, list[Member]],
    asks: Callable[[Identity], _Key],
    answers: Callable[[Identity], _Key],
) -> None:
    """Move the files of an incomplete identity to the only complete identity that matches.

    They are looked up, because a folder can contain thousands of modules.
    """
    complete = group_by_key((answers(identity), identity) for identity in members)
    for lost in list(members):
        key = asks(lost)
        candidates = complete.get(key, []) if key else []
        if len(candidates) == 1 and candidates[0] in members:
            members[candidates[0]] += members.pop(lost)
