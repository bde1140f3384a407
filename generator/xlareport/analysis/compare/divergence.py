"""The first snapshot in which two compilations differ."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class Where(StrEnum):
    """At which point two compilations part."""

    NOWHERE = "nowhere"
    INPUT = "input"
    """The program that the compiler was given differs."""
    HEADER = "header"
    """The given programs have the same instructions and differ in their headers alone."""
    PASS = "pass"  # noqa: S105 - a pass of the compiler
    """The same program, and the same after some passes; then it differs."""
    UNKNOWN = "unknown"
    """The final modules differ, and the dumps have no snapshots in between."""


class SnapshotDigest(Struct, frozen=True):
    """A snapshot, its form, and who ran last before it."""

    key: str
    label: str
    form: bytes
    pipeline: str | None
    after: str | None
    """The pass that ran last; None where the dump does not say."""
    before: str | None = None
    """The pass that runs next."""
    changes: tuple[tuple[str, int], ...] = ()
    """Change of the count of each opcode since the previous snapshot."""
    instructions: bytes = b""
    """The form without the header; empty where it is not known."""
    header: tuple[tuple[str, str | None], ...] = ()
    """The attributes of the header that count, with a digest of each; None without it."""


class Divergence(Struct, frozen=True):
    """The last snapshot at which both agree, and the first at which they do not."""

    where: Where
    base: int | None
    """The number of the first snapshot of the base that differs; None where it has no further."""
    head: int | None
    agreed: tuple[int, int] | None = None
    """The numbers of the last snapshots that are the same in both; None where there are none."""
    header: tuple[str, ...] = ()
    """The attributes of the header that differ, of HEADER."""


def find_divergence(base: Sequence[SnapshotDigest], head: Sequence[SnapshotDigest]) -> Divergence:
    """Return the first differing snapshots; repeated snapshots are ignored."""
    ours, theirs = _distinct(base), _distinct(head)
    pairs = list(zip(ours, theirs, strict=False))
    differing = (
        at for at, (number, other) in enumerate(pairs) if base[number].form != head[other].form
    )
    at = next(differing, len(pairs))
    if at == len(ours) == len(theirs):
        return Divergence(Where.NOWHERE, None, None)
    header = _header_alone(base[0], head[0]) if pairs and not at else ()
    given = Where.HEADER if header else Where.INPUT
    return Divergence(
        where=_known_place(Where.PASS if at or not pairs else given, base, head),
        base=ours[at] if at < len(ours) else None,
        head=theirs[at] if at < len(theirs) else None,
        agreed=pairs[at - 1] if at else None,
        header=header,
    )


def _header_alone(base: SnapshotDigest, head: SnapshotDigest) -> tuple[str, ...]:
    """Return the attributes of the header that differ; empty where instructions differ too."""
    if not base.instructions or base.instructions != head.instructions:
        return ()
    other = dict(head.header)
    return tuple(name for name, value in base.header if other.get(name) != value)


def _known_place(
    where: Where, base: Sequence[SnapshotDigest], head: Sequence[SnapshotDigest]
) -> Where:
    """Return `where`; UNKNOWN if a dump has only one snapshot, which cannot show the step."""
    return where if len(base) > 1 and len(head) > 1 else Where.UNKNOWN


def _distinct(snapshots: Sequence[SnapshotDigest]) -> list[int]:
    """Return the indices of the snapshots that differ from the previous one."""
    return [
        number
        for number, snapshot in enumerate(snapshots)
        if number == 0 or snapshots[number - 1].form != snapshot.form
    ]
