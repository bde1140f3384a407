"""What a panel shows beside the history: collectives, buffers, fusions, each with its grade."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.analyzed import analyze_named

from xlareport.analysis.code.unfused_pairs import SLOWER, UNDECIDED, UnfusedPair
from xlareport.analysis.cost.lifetimes import End, Follower, Lifetime
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.pages import words
from xlareport.pages.history.instruction_facts import _at_peak, describe_refusal, facts_payload
from xlareport.storage.payloads import read_payload, write_payload


@pytest.fixture(scope="module")
def facts(unpacked: Callable[[str], Path]) -> dict[str, Any]:
    """Of the step of a program on two GPUs."""
    (payload,) = facts_payload("x", analyze_named(unpacked("gpu-h100x2-train"), "train"))
    value: dict[str, Any] = read_payload(write_payload(payload)[1])[1]
    return value


def titled(facts: dict[str, Any], title: str) -> dict[str, list[str]]:
    return {
        name: [words for own, words, *_ in some if own == title]
        for name, some in facts["facts"].items()
        if any(own == title for own, *_ in some)
    }


def test_a_collective_has_its_reason_and_its_communication(facts: dict[str, Any]) -> None:
    reasons = titled(facts, "Reason")
    assert reasons
    assert all("artial" in words for some in reasons.values() for words in some)
    assert titled(facts, "Communication").keys() == reasons.keys()
    grades = {
        grade for some in facts["facts"].values() for own, *_, grade in some if own == "Reason"
    }
    assert grades <= {"exact", "matched", "guessed"}


def test_a_loop_has_its_trip_count_and_how_it_is_known(unpacked: Callable[[str], Path]) -> None:
    (payload,) = facts_payload("x", analyze_named(unpacked("tpu-v5e-scan"), "train_step"))
    value: dict[str, Any] = read_payload(write_payload(payload)[1])[1]
    counts = [words for some in titled(value, "Trip count").values() for words in some]
    assert counts
    assert all(words[0].isdecimal() or words.startswith("Not known. ") for words in counts)


def test_buffers_have_size_and_life(facts: dict[str, Any]) -> None:
    buffers = titled(facts, "Buffer")
    assert any(
        "live at peak" in words and "allocation" in words
        for some in buffers.values()
        for words in some
    )
    assert max(map(len, buffers.values())) <= 5


def test_both_ends_of_a_pair_say_why_they_were_not_fused(facts: dict[str, Any]) -> None:
    refused = titled(facts, "Not fused")
    into = {
        (name, consumer)
        for name, some in refused.items()
        for words in some
        if words.startswith("into %")
        for consumer in re.findall(r"%([\w.-]+\w)", words.partition(": ")[0])
    }
    assert into
    for name, consumer in into:
        back = [words for words in refused[consumer] if words.startswith(("with ", "It was made"))]
        assert any(
            f"%{name}" in words or " more" in words or words.startswith("It was made")
            for words in back
        )
    assert facts["fusion"].startswith("The log of")


@pytest.mark.parametrize(
    ("backend", "part"),
    [
        ("tpu", "the TPU compiler"),
        ("cpu", "the CPU compiler"),
        ("gpu", "no `priority_fusion_dump`"),
        (None, "this backend"),
    ],
)
def test_without_a_log_it_is_not_known(backend: str | None, part: str) -> None:
    assert part in words.without_decisions(backend)


def test_reasons_have_shardings_in_words_and_the_op_of_the_largest_part(
    unpacked: Callable[[str], Path],
) -> None:
    """As on Collectives; a combined collective has the op_name of any of its members."""
    analyzed = analyze_named(unpacked("sharded-gpu"), "jit_fsdp_step")
    (payload,) = facts_payload("x", analyzed)
    value: dict[str, Any] = read_payload(write_payload(payload)[1])[1]
    reasons = [words for some in titled(value, "Reason").values() for words in some]
    assert reasons
    assert not any("{devices=" in words for words in reasons)
    assert any("along mesh ax" in words for words in reasons)
    assert analyzed.analysis.collectives is not None
    for row in analyzed.analysis.collectives.rows:
        if row.members:
            largest = max(row.members, key=lambda member: member.data_bytes or 0)
            (words,) = titled(value, "Reason")[row.collective.instruction]
            assert largest.op_name.rpartition("/")[2] in words


def test_a_fusion_that_carries_on_a_collective_says_so_and_no_more(
    unpacked: Callable[[str], Path],
) -> None:
    """The collective is not why the fusion is there."""
    analyzed = analyze_named(unpacked("sharded-tpu"), "jit_fsdp_step")
    (payload,) = facts_payload("x", analyzed)
    value: dict[str, Any] = read_payload(write_payload(payload)[1])[1]
    assert analyzed.analysis.collectives is not None
    rows = {row.collective.instruction: row for row in analyzed.analysis.collectives.rows}
    first, *pieces, last = rows["async-collective-start"].collective.parts
    assert pieces
    reasons, sent = titled(value, "Reason"), titled(value, "Communication")
    for name in pieces:
        assert name not in reasons
        assert "carries on the all-gather of `%async-collective-start`" in sent[name][0]
    assert first in reasons
    assert last in reasons


TILES = (
    "Fusion can not be tiled with SymbolicTileAnalysis: Failed to compute symbolic tile for "
    "(d0)[s0] -> (s0 / 4), domain: d0 in [0, 3] of %mul.1058.1"
)


def pair(reason: str, consumers: int = 1, fused: float | None = None) -> UnfusedPair:
    return UnfusedPair("gemm", "add", reason, fused, fused, "matched", consumers)


def test_a_plain_sentence_stands_before_the_text_of_xla() -> None:
    said, text = describe_refusal(pair(TILES))
    assert said.startswith("XLA cannot tile the fused computation")
    assert "SymbolicTileAnalysis" not in said
    assert text.startswith(TILES)
    assert "equal fusion elsewhere" in text


def test_a_long_text_that_is_not_known_begins_alone() -> None:
    said, text = describe_refusal(pair("Not this one: " + "x" * 200))
    assert said == "“Not this one”, in XLA's words."
    assert text == "Not this one: " + "x" * 200


def test_a_short_text_stands_for_itself() -> None:
    assert describe_refusal(pair("too small", fused=1.5)) == (
        "“too small”, in XLA's words. XLA's estimate: 1.5 µs fused, 1.5 µs unfused.",
        "",
    )


def test_of_several_consumers_it_is_said_which_the_reason_is_about() -> None:
    said, _ = describe_refusal(pair("not fusing because there are only bitcast users", 2))
    assert said == (
        "All direct users of the producer are bitcasts, and the pass does not fuse through them. "
        "That holds for all 2 consumers of %gemm."
    )
    said, _ = describe_refusal(pair(TILES, 2))
    assert "%gemm has 2 consumers; the log gives this reason without the consumer" in said


def test_an_estimate_is_of_the_consumers_that_the_log_lists() -> None:
    estimated = replace(pair(SLOWER, 1, fused=1.5), listed=("bitcast.6", "add"))
    said, text = describe_refusal(estimated)
    assert said == (
        "The pass estimates that fusing does not make it faster. XLA's estimate of fusing into "
        "%bitcast.6, %add: 1.5 µs fused, 1.5 µs unfused."
    )
    assert text == ""
    assert describe_refusal(pair(UNDECIDED))[0] == f"T{UNDECIDED[1:]}."


def test_a_reason_that_has_no_plain_sentence_is_quoted_as_it_is() -> None:
    reason = "fusion into output of a reduce fusion would create a loop fusion"
    assert describe_refusal(pair(reason)) == (f"“{reason}”, in XLA's words.", "")
    order = "Do not fuse into the output of scatter."
    assert describe_refusal(pair(order))[0].startswith(f"“{order}”, in XLA's words.")


def test_another_user_that_nothing_is_fused_into_is_the_reason() -> None:
    refused = replace(pair("the consumer is not fusible", 2), blockers=("library",))
    said, text = describe_refusal(refused)
    assert said.startswith("%library also reads %")
    assert text == "the consumer is not fusible"
    itself = replace(refused, consumer="library")
    assert describe_refusal(itself)[0].startswith("The consumer is of a kind")


def test_memory_that_a_later_value_holds_at_the_peak_is_said_to_be_in_use() -> None:
    follower = Follower("while.2", (1,), 90, End.USE, "while.3", 0)
    life = Lifetime(20, 30, 100, End.USE, "while.2", 1, 1, follower=follower)
    row = ValueRow("dus", (), 8, "f32[2]", "fusion", "temp", 0, 0, None, life, "", "")
    assert _at_peak(row, 60) == ""
    row = replace(row, at_peak=False)
    assert _at_peak(row, 60) == "; its memory is in use at the peak"
    assert _at_peak(row, 95) == _at_peak(replace(row, lifetime=None), 60) == "; not live at peak"
    assert _at_peak(replace(row, at_peak=True), 25) == "; live at peak"
