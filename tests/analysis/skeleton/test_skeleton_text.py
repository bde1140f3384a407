"""Lines of a skeleton in words: loops, waits, overlaps, several items, times that are not known."""

from typing import Any

import pytest
from msgspec.structs import replace

from xlareport.analysis.skeleton.items import Skeleton, SkeletonItem
from xlareport.analysis.skeleton.skeleton_folds import SkeletonLine
from xlareport.analysis.skeleton.skeleton_text import (
    line_parts,
    skeleton_head,
    text_lines,
    time_words,
)

TIMES = "\N{MULTIPLICATION SIGN}"
KERNEL = SkeletonItem("kernel", "compute", "dot.1", "dot", "main", shape="f32[8]", seconds=2e-6)
START = SkeletonItem(
    *("collective", "collectives", "start", "all-reduce", "main"),
    shape="f32[8]",
    done="done",
    beside={"kernel": 2, "copy": 1},
    beside_seconds=3e-6,
    thread="sparsecore",
)
DONE = SkeletonItem("done", "compute", "done", "all-reduce", "main", done="start")
SKELETON = Skeleton(
    *("m", "f", "after optimizations"),
    is_scheduled=True,
    backend="tpu",
    device="TPU v5e",
    device_grade="exact",
    items=(KERNEL,),
)


def line(*items: SkeletonItem, **changes: Any) -> SkeletonLine:
    seconds = sum(item.seconds or 0.0 for item in items)
    return SkeletonLine(0, items, seconds=seconds, **changes)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (KERNEL, "dot.1: dot f32[8]"),
        (replace(KERNEL, scope="forward mlp"), "dot.1: dot f32[8]  forward mlp"),
        (replace(KERNEL, note="time not known"), "dot.1: dot f32[8]"),
        (replace(KERNEL, note="at most"), "dot.1: dot f32[8] (at most)"),
        (replace(KERNEL, kind="loop", trip_count=1000), f"while {TIMES} 1,000 dot.1"),
        (replace(KERNEL, kind="loop"), f"while {TIMES} ? dot.1"),
        (
            replace(KERNEL, kind="conditional", children=(KERNEL, KERNEL)),
            "conditional dot.1: one of 2 branches",
        ),
        (
            START,
            (
                "start: all-reduce f32[8] on sparsecore until done, overlaps 2 kernels and 1 copy, "
                "3 µs"
            ),
        ),
        (
            replace(START, beside={}),
            "start: all-reduce f32[8] on sparsecore until done, overlaps waits for others, 3 µs",
        ),
        (DONE, "wait: done (of start)"),
    ],
)
def test_an_item_in_words(item: SkeletonItem, words: str) -> None:
    assert "".join(line_parts(line(item))) == words


def test_several_items_are_counted_by_kind_with_the_longest() -> None:
    copy = replace(KERNEL, kind="copy", name="copy.1", seconds=9e-6)
    assert "".join(line_parts(line(KERNEL, copy, KERNEL))) == "2 kernels, 1 copy, longest copy.1"
    loops = [replace(KERNEL, kind="loop", name=name, trip_count=4) for name in ("a", "b")]
    assert "".join(line_parts(line(*loops))) == f"2 loops {TIMES} 4 each, longest a"
    collectives = "".join(line_parts(line(START, replace(START, beside={"kernel": 5}))))
    assert collectives == f"2 {TIMES} all-reduce, overlapping up to 5 kernels"


def test_a_scope_is_named_where_most_of_the_time_has_one() -> None:
    scoped = replace(KERNEL, scope="forward mlp")
    shown = line(scoped, KERNEL, scope="forward mlp", layers=("0", "1"))
    assert line_parts(shown)[0].startswith("forward mlp (2 different): 2 kernels")
    other = replace(KERNEL, seconds=1.0)
    assert line_parts(line(scoped, other, scope="forward mlp"))[0].startswith("2 kernels")


def test_the_time_of_a_line_leaves_out_what_overlaps() -> None:
    unknown = replace(KERNEL, seconds=None)
    assert time_words(line(KERNEL)) == "2 µs"
    assert time_words(line(unknown)) == "?"
    assert time_words(line(DONE)) == ""
    assert time_words(line(replace(START, seconds=4e-6))) == "4 µs"
    assert time_words(SkeletonLine(0, (KERNEL, replace(START, seconds=4e-6)), seconds=2e-6)) == (
        "2 µs"
    )


def test_lines_are_indented_and_cut_at_the_width() -> None:
    nested = replace(line(KERNEL), depth=2)
    assert [*text_lines([nested], 80)] == ["     2 µs      dot.1: dot f32[8]"]
    (cut,) = text_lines([nested], 20)
    assert (len(cut), cut[-1]) == (20, "\N{HORIZONTAL ELLIPSIS}")


def test_the_head_says_what_the_order_and_the_times_are() -> None:
    module, order, times = skeleton_head(SKELETON)
    assert module == "m, after optimizations"
    assert order == "Order: XLA's schedule (is_scheduled=true)."
    assert times.startswith("Times are estimates (roofline time on TPU v5e), not measured: 2 µs")
    other = replace(
        SKELETON,
        is_scheduled=False,
        device_grade="guessed",
        items=(START,),
        whole_seconds=5e-6,
        unknown=1,
        problems=("A problem.",),
    )
    _, order, times, unknown, problem = skeleton_head(other)
    assert order.startswith("Order: topological.")
    assert "on TPU v5e, device guessed" in times
    assert times.endswith(
        "The roofline time of all instructions is 5 µs: there asynchronous operations count in "
        "full, here only the waits for their ends."
    )
    assert (unknown, problem) == ("The time of 1 item is not known.", "A problem.")
