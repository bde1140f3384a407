"""Changes of a collective by passes: merged, split, moved, rewritten, made asynchronous."""

from collections.abc import Iterable, Iterator, Sequence

from xlareport.analysis.collectives.collective_rows import TrailEvent
from xlareport.analysis.collectives.find import ASYNC_FUSIONS, Collective
from xlareport.analysis.collectives.trail import CollectiveLink
from xlareport.analysis.steps.boundaries import Boundary, DumpMode, dump_mode
from xlareport.runtime.english import first_few, with_article
from xlareport.snapshots import ParsedSnapshot

NO_NAME = "the names of the snapshots do not show the pass"
_ASYNC_FORMS = frozenset({"start and done", "async computation", ASYNC_FUSIONS})


class Passes:
    """The pass before each snapshot, as far as file names name it."""

    def __init__(self, snapshots: Sequence[ParsedSnapshot], boundaries: Sequence[Boundary]) -> None:
        """Index the snapshots and the boundary before each of them."""
        self._snapshots = snapshots
        self._boundaries = {boundary.number: boundary for boundary in boundaries}
        stages = [snapshot.stage for snapshot in snapshots]
        self._only_some = dump_mode(stages).mode is DumpMode.SOME

    def label(self, number: int) -> str:
        """Return the label of a snapshot."""
        return self._snapshots[number].stage.label

    def name(self, number: int) -> str:
        """Return the name of the moment of a snapshot, such as `before_optimizations`."""
        return self._snapshots[number].stage.name

    def ran_before(self, number: int) -> str | None:
        """Return the pass that ran, or was running, before a snapshot; None if unknown.

        Where only some passes were dumped, others may have run before the named one.
        """
        boundary = self._boundaries.get(number)
        if boundary is None or (self._only_some and not boundary.certain):
            return None
        return boundary.ran


def list_events(links: Sequence[CollectiveLink], passes: Passes) -> Iterator[TrailEvent]:
    """Yield the changes of a collective, in the order of the snapshots."""
    for link in sorted(links, key=lambda link: link.number):
        by, label = passes.ran_before(link.number), passes.label(link.number)
        for event, detail in _changes(link):
            reason = None if by else NO_NAME
            yield TrailEvent(event, by, reason, label, detail, link.grade.value)


def _changes(link: CollectiveLink) -> Iterator[tuple[str, str]]:
    before, after = link.before[0], link.after
    if link.folded:
        outer = [source for source in link.before if source not in link.folded]
        inner, into = _names(source.instruction for source in link.folded), after.instruction
        others = _names(source.instruction for source in outer)
        yield "folded", f"{inner} folded into {others}, which reads it: `{into}` reduces over all."
    elif len(link.before) > 1:
        names = _names(source.instruction for source in link.before)
        yield "merged", f"{names} became `{after.instruction}`."
    if len(link.siblings) > 1:
        yield "split", f"`{before.instruction}` became {_names(link.siblings)}."
    if link.moved:
        yield "moved", f"From `{before.computation}` to `{after.computation}`."
    if before.kind != after.kind:
        yield "rewritten", f"`{before.instruction}` was {with_article(before.kind)}."
    yield from _form_changes(before, after)


def _names(instructions: Iterable[str]) -> str:
    return first_few([f"`{instruction}`" for instruction in instructions], 6)


def _form_changes(before: Collective, after: Collective) -> Iterator[tuple[str, str]]:
    was, now = before.form in _ASYNC_FORMS, after.form in _ASYNC_FORMS
    if now and not was:
        yield "asynchronous", f"`{after.instruction}` begins it, `{after.done}` ends it."
    elif was and not now:
        yield "synchronous", f"`{after.instruction}` begins and ends it."
    elif after.form == ASYNC_FUSIONS and before.form != ASYNC_FUSIONS:
        yield (
            "fused",
            f"{len(after.parts) + len(after.inner):,} fusions carry it out while they compute.",
        )
    elif after.thread and not before.thread:
        yield "offloaded", f"To the execution thread `{after.thread}`."
    if after.is_sync and not before.is_sync:
        yield "synchronous", "Its backend_config says is_sync: start and done run as one."
