"""The histories of every subject, and the names that lead to them."""

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.history.module_histories import (
    HistoryNames,
    list_temporary,
    trace_subjects,
    trace_temporary,
)
from xlareport.analysis.history.subjects import list_subjects
from xlareport.hlo.text import TextReader

HEAD = (
    "HloModule m\n\nENTRY %main (x: f32[8]) -> f32[8] {{\n"
    "  %x = f32[8]{{0}} parameter(0)\n  {}\n}}\n"
)


def sequence(*texts: str) -> SnapshotSequence:
    read = [TextReader().read(HEAD.format(text).encode(), "m") for text in texts]
    return SnapshotSequence([module for module in read if module is not None])


def test_a_history_goes_back_from_the_last_snapshot_and_forward_from_the_first() -> None:
    snapshots = sequence("ROOT %r = f32[8]{0} negate(%x)", "ROOT %r = f32[8]{0} sine(%x)")
    histories = list(trace_subjects(snapshots, list_subjects(snapshots)))
    by_subject = {(it.trace.subject.name, it.trace.subject.number): it for it in histories}
    assert {key[1] for key in by_subject} == {0, 1}
    back = by_subject["main/%r", 1]
    assert back.instructions == 1
    assert [str(event.event) for event in back.trace.events if event.number == 1]


def test_a_name_leads_to_the_histories_that_had_it() -> None:
    snapshots = sequence(
        "ROOT %r = f32[8]{0} negate(%x)",
        "%s = f32[8]{0} sine(%x)\n  ROOT %r = f32[8]{0} negate(%s)",
        "ROOT %r = f32[8]{0} negate(%x)",
    )
    names = HistoryNames()
    for number, history in enumerate(trace_subjects(snapshots, list_subjects(snapshots))):
        names.add(number, history.trace)
    assert names.knows("r")
    assert len(names.numbers()["r"]) == 2
    temporary = [*list_temporary(snapshots, [(1, ("r", "s", "nothing")), (2, ("s",))], names)]
    assert [(subject.name, subject.number) for subject in temporary] == [("main/%s", 1)]
    (history,) = trace_temporary(snapshots, temporary)
    assert [str(event.event) for event in history.trace.events] == ["added", "removed"]
