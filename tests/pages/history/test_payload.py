"""Histories for the page script: an index of names, chunks of subjects."""

from collections.abc import Callable, Iterable
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import pytest

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.hlo.text import TextReader
from xlareport.pages.history.payload import history_payloads
from xlareport.report import BuildOptions, read_one_module
from xlareport.storage.payloads import Payload, decode_payload
from xlareport.storage.string_folding import Folded, unfold_strings

Unpack = Callable[[str], Path]
HEAD = (
    "HloModule m\n\nENTRY %main (x: f32[8]) -> f32[8] {{\n"
    "  %x = f32[8]{{0}} parameter(0)\n  {}\n}}\n"
)


@pytest.fixture(scope="module")
def payloads(unpacked: Unpack) -> dict[str, Any]:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_train_step", BuildOptions())
    snapshots = SnapshotSequence([snapshot.hlo for snapshot in module.snapshots])
    stages = [(snapshot.stage.key, snapshot.stage.label) for snapshot in module.snapshots]
    return rows(history_payloads("x", snapshots, stages))


def rows(payloads: Iterable[Payload]) -> dict[str, Any]:
    """Return the index and the chunks as rows, as the page script puts them together."""
    found = {payload.key: decode_payload(payload) for payload in payloads}
    return {key: _index(one) if "names" in one else _chunk(one) for key, one in found.items()}


def _index(index: dict[str, Any]) -> dict[str, Any]:
    first, between = index["between"]
    names, *numbers = index["names"]
    ops, (lengths, places, _) = index["left_out"]
    return index | {
        "titles": strings(index["titles"]),
        "between": [first, *strings(between)],
        "names": dict(zip(strings(names), parted(*numbers), strict=True)),
        "left_out": dict(zip(strings(ops), parts(lengths, strings(places)), strict=True)),
    }


def _chunk(chunk: dict[str, Any]) -> dict[str, Any]:
    listed = [
        [[count, *some] for count, some in zip(counts, parted(*numbers), strict=True)]
        for counts, *numbers in (chunk["origins"], chunk["now"])
    ]
    fields = zip(chunk["instructions"], chunk["happened"], *listed, strict=True)
    keys = ("instructions", "events", "origins", "now")
    stages, kinds, names, sources, targets, grades, reasons = chunk["events"]
    lists = (parts(lengths, strings(some)) for lengths, some, _ in (sources, targets))
    ends = (strings(grades), strings(reasons))
    columns = (stages, strings(kinds), strings(names), *lists, *ends)
    return {
        "subjects": [dict(zip(keys, field, strict=True)) for field in fields],
        "standings": [*zip(*(strings(standing) for standing in chunk["standings"]), strict=True)],
        "events": [*zip(*columns, strict=True)],
    }


def strings(names: Any) -> list[str]:
    return unfold_strings(Folded(*names), 10**8)


def parted(lengths: list[int], steps: list[int]) -> list[list[int]]:
    return parts(lengths, list(accumulate(steps)))


def parts(lengths: list[int], values: list[Any]) -> list[list[Any]]:
    left = iter(values)
    return [list(islice(left, length)) for length in lengths]


def events(chunk: dict[str, Any], place: int) -> list[Any]:
    """Return the events of a subject, as the page script reads them."""
    found, next_new = [], 0
    for number, subject in enumerate(chunk["subjects"]):
        for event in subject["events"]:
            if number == place:
                new = chunk["events"][next_new : next_new - event]
                found += new if event < 0 else [chunk["events"][event]]
            next_new -= min(event, 0)
    return found


def test_every_event_stands_once_and_all_are_reached(payloads: dict[str, Any]) -> None:
    chunk = payloads["m/x/history-0"]
    new = sum(-event for subject in chunk["subjects"] for event in subject["events"] if event < 0)
    assert new == len(chunk["events"])
    told = [event for place in range(len(chunk["subjects"])) for event in events(chunk, place)]
    assert len(told) > len(chunk["events"])
    assert len({str(event) for event in told}) == len(chunk["events"])


def test_a_name_leads_to_its_subject(payloads: dict[str, Any]) -> None:
    index = payloads["m/x/history"]
    (number,) = index["names"]["ynn_fusion.2"]
    assert number < index["forward"]
    chunk = payloads[f"m/x/history-{number // index['chunk']}"]
    subject = chunk["subjects"][number % index["chunk"]]
    assert index["titles"][number] == "main.2/%ynn_fusion.2"
    ((stage, event, name, sources, targets, grade, _),) = events(chunk, number % index["chunk"])
    assert index["stages"][stage][0] == "0016"
    assert (event, name, sources) == ("created", "main.2/%ynn_fusion.2", ["dot_general.5"])
    assert (targets, grade) == ([], "e")
    (count, origin) = subject["origins"]
    assert count == 1
    standing = chunk["standings"][origin]
    assert standing[0] == "main.2/%dot_general.5"
    assert standing[3:] == ("jit(train_step)/jvp(loss)/hidden/dot_general", "jax_train.py:27")


def test_an_op_is_asked_forward(payloads: dict[str, Any]) -> None:
    index = payloads["m/x/history"]
    number = index["titles"].index("jit(train_step)/sgd/mul")
    assert number >= index["forward"]
    subject = payloads["m/x/history-0"]["subjects"][number]
    assert (subject["instructions"], subject["now"][0]) == (4, 4)
    assert number in index["names"]["mul.7"]
    assert number in index["names"]["mul.3"], "as it is called inside of a fusion"
    assert index["complete"]


def test_where_there_is_no_room_the_heavy_subjects_are_kept_and_other_ops_keep_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What stories name of a subject that was left out is no temporary instruction."""
    monkeypatch.setattr("xlareport.pages.history.payload._MOST_SUBJECTS", 2)
    dot = "dot(%x, %x), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    lines = (
        f'%d = f32[] {dot}, metadata={{op_name="jit(f)/dot"}}\n  '
        '%s = f32[8]{0} sine(%x), metadata={op_name="jit(f)/sin"}\n  '
        "ROOT %r = f32[8]{0} negate(%s)"
    )
    read = [TextReader().read(HEAD.format(lines).encode(), "m") for _ in range(2)]
    snapshots = SnapshotSequence([module for module in read if module is not None])
    stages = [("0", "0"), ("1", "1")]
    found = rows(history_payloads("x", snapshots, stages, [(1, ("r", "s", "d"))]))
    index = found["m/x/history"]
    assert index["titles"] == ["main/%d", "jit(f)/dot"]
    assert index["left_out"] == {"jit(f)/sin": ["main/%s"]}
    assert index["between"] == [index["chunk"]]
    assert not index["complete"]


def test_what_stories_name_has_a_history_though_it_came_and_went() -> None:
    kept = "ROOT %r = f32[8]{0} negate(%x)"
    texts = (kept, "%s = f32[8]{0} sine(%x)\n  ROOT %r = f32[8]{0} negate(%s)", kept)
    reader = TextReader()
    read = [reader.read(HEAD.format(text).encode(), "m") for text in texts]
    snapshots = SnapshotSequence([one for one in read if one is not None])
    stages = [("0", "0"), ("1", "1"), ("2", "2")]
    scripts = history_payloads("x", snapshots, stages, [(1, ("r", "s", "nothing"))])
    found = rows(scripts)
    index = found["m/x/history"]
    assert index["between"] == [index["chunk"], "main/%s"]
    assert index["names"]["s"] == [index["chunk"]]
    assert "nothing" not in index["names"]
    chunk = found["m/x/history-1"]
    assert [event[1] for event in events(chunk, 0)] == ["added", "removed"]


def test_a_fusion_has_what_passes_did_to_its_matmul_before() -> None:
    """The pass that made the fusion is not the first that changed the matmul in it."""
    texts = (
        "ROOT %d = f32[] dot(%x, %x), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        (
            "ROOT %d = f32[] dot(%x, %x), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
            "operand_precision={highest,highest}"
        ),
        "ROOT %f = f32[] fusion(%x), kind=kOutput, calls=%c",
    )
    fused = (
        "HloModule m\n\n%c (p: f32[8]) -> f32[] {\n  %p = f32[8]{0} parameter(0)\n"
        "  ROOT %e = f32[] dot(%p, %p), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
        "operand_precision={highest,highest}\n}\n\nENTRY"
    )
    head = HEAD.replace("-> f32[8]", "-> f32[]")
    read = [TextReader().read(head.format(text).encode(), "m") for text in texts[:2]]
    last = head.format(texts[2]).replace("HloModule m\n\nENTRY", fused)
    modules = [one for one in [*read, TextReader().read(last.encode(), "m")] if one is not None]
    assert len(modules) == 3
    payloads = rows(history_payloads("x", SnapshotSequence(modules), [("0", "0")] * 3))
    index = payloads["m/x/history"]
    (number, *_) = index["names"]["f"]
    told = [(event[0], event[1]) for event in events(payloads["m/x/history-0"], number)]
    assert (2, "created") in told
    assert (1, "changed") in told


def test_metadata_are_not_quoted_whatever_they_contain() -> None:
    """XLA joins op_names of merged instructions with semicolons."""
    merged = 'metadata={op_name="jit(f)/sin; jit(f)/neg"}'
    texts = ("ROOT %r = f32[8]{0} negate(%x)", f"ROOT %r = f32[8]{{0}} negate(%x), {merged}")
    read = [TextReader().read(HEAD.format(text).encode(), "m") for text in texts]
    snapshots = SnapshotSequence([module for module in read if module is not None])
    payloads = rows(history_payloads("x", snapshots, [("0", "0"), ("1", "1")]))
    (number, *_) = payloads["m/x/history"]["names"]["r"]
    reasons = [event[-1] for event in events(payloads["m/x/history-0"], number)]
    assert [reason for reason in reasons if reason] == ["other metadata"]
