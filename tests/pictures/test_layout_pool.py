"""Layout runs beside the program, in processes that may be killed one by one."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from xlareport.pictures import layout_pool
from xlareport.pictures.dot_text import dot_text
from xlareport.pictures.drawing import Arrow, Box, Drawing
from xlareport.pictures.layout import Layout, LayoutFailure
from xlareport.pictures.layout_pool import LayoutPool

GOOD = dot_text(
    Drawing("", (Box("a", ("a",), "white"), Box("b", ("bb",), "white")), (Arrow("a", "b"),))
)
# A stand-in for Graphviz: what it does with a picture stands in the picture.
FAKE = """
import os, sys, time
while line := sys.stdin.buffer.readline():
    word = sys.stdin.buffer.read(int(line)).decode()
    if word == "hang":
        time.sleep(60)
    if word == "crash":
        os.abort()
    if word == "half":
        sys.stdout.write("ok 1000\\n{")
        sys.stdout.flush()
        os._exit(0)
    if word == "noise":
        sys.stdout.write("hello\\n")
    print("to stderr", file=sys.stderr)
    answer = '{"bb": "0,0,%d,1"}' % os.getpid() if word != "refuse" else "no"
    sys.stdout.write(("ok" if word != "refuse" else "failed") + f" {len(answer)}\\n{answer}")
    sys.stdout.flush()
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the pool run the stand-in."""
    script = tmp_path / "fake.py"
    script.write_text(FAKE)
    monkeypatch.setattr(layout_pool, "_SCRIPT", script)


def words(count: int, word: str, at: int) -> Iterator[tuple[str, str]]:
    return ((str(n), word if n == at else "draw") for n in range(count))


def process_of(found: Layout | LayoutFailure) -> int:
    """Return the process that made a layout: the stand-in gives it as the width."""
    assert isinstance(found, Layout)
    return int(found.width)


def test_graphviz_gives_positions() -> None:
    with LayoutPool(2, time_limit=30) as pool:
        layouts = dict(pool.layout_many([("a", GOOD), ("b", GOOD)]))
    assert layouts["a"] == layouts["b"]
    assert isinstance(layouts["a"], Layout)
    assert [box.width for box in layouts["a"].nodes] == pytest.approx([23.2, 30.5], abs=0.1)
    assert len(layouts["a"].edges) == 1


def test_what_graphviz_refuses_is_a_failure_and_the_worker_goes_on() -> None:
    with LayoutPool(1, time_limit=30) as pool:
        first, second = pool.layout_many([("bad", "digraph {"), ("good", GOOD)])
    assert isinstance(first[1], LayoutFailure)
    assert first[1].reason.startswith("failed (")
    assert isinstance(second[1], Layout)


@pytest.mark.usefixtures("fake")
def test_the_answers_come_in_the_order_of_the_requests() -> None:
    with LayoutPool(3, time_limit=30) as pool:
        keys = [key for key, _ in pool.layout_many(words(50, "refuse", 7))]
    assert keys == [str(n) for n in range(50)]


@pytest.mark.usefixtures("fake")
def test_a_worker_is_started_once_for_many_pictures() -> None:
    with LayoutPool(1, time_limit=30) as pool:
        process_ofs = {process_of(layout) for _, layout in pool.layout_many(words(20, "", 99))}
    assert len(process_ofs) == 1


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("hang", "took more than 0.4 s"),
        ("crash", "crashed"),
        ("half", "crashed"),
        ("noise", "crashed"),
        ("refuse", "failed (no)"),
    ],
)
def test_a_failure_costs_its_own_picture(word: str, reason: str) -> None:
    with LayoutPool(2, time_limit=0.4) as pool:
        layouts = dict(pool.layout_many(words(12, word, 5)))
    assert layouts.pop("5") == LayoutFailure(reason)
    assert len({process_of(layout) for layout in layouts.values()}) in {1, 2, 3}


@pytest.mark.usefixtures("fake")
def test_the_end_of_the_block_ends_what_hangs() -> None:
    with LayoutPool(1, time_limit=60) as pool:
        answers = pool.layout_many([("first", "draw"), ("second", "hang")])
        process = process_of(next(answers)[1])
        threading.Timer(0.2, pool.__exit__, [None, None, None]).start()
        assert next(answers) == ("second", LayoutFailure("was interrupted"))
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.usefixtures("fake")
def test_an_interrupt_leaves_no_process_behind() -> None:
    started: list[int] = []

    def requests() -> Iterator[tuple[str, str]]:
        yield from (("first", "draw"), ("second", "hang"), ("third", "hang"))
        raise KeyboardInterrupt

    def draw() -> None:
        with LayoutPool(2, time_limit=60) as pool:
            [(_, first)] = pool.layout_many([("first", "draw")])
            started.append(process_of(first))
            list(pool.layout_many(requests()))

    with pytest.raises(KeyboardInterrupt):
        draw()
    [process] = started
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.usefixtures("fake")
def test_ctrl_c_in_the_terminal_does_not_reach_the_workers() -> None:
    with LayoutPool(1, time_limit=30) as pool:
        [(_, layout)] = pool.layout_many([("a", "draw")])
        assert os.getpgid(process_of(layout)) != os.getpgid(os.getpid())


@pytest.mark.usefixtures("fake")
def test_a_worker_killed_from_outside_is_replaced() -> None:
    with LayoutPool(1, time_limit=30) as pool:
        [(_, first)] = pool.layout_many([("a", "draw")])
        os.kill(process_of(first), signal.SIGKILL)
        [(_, second)] = pool.layout_many([("b", "draw")])
    assert process_of(second) != process_of(first)


def test_a_worker_that_cannot_be_started_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with LayoutPool(1) as pool:
        [(_, layout)] = pool.layout_many([("a", GOOD)])
    assert isinstance(layout, LayoutFailure)
    assert layout.reason.startswith("could not be started")


def test_no_picture_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_pool, "_start", lambda _: pytest.fail("started"))
    with LayoutPool(4) as pool:
        assert list(pool.layout_many([])) == []


@pytest.mark.usefixtures("fake")
def test_pictures_one_after_the_other_need_one_process() -> None:
    with LayoutPool(3, 30) as pool:
        numbers = [one for _ in range(5) for one in pool.layout_many([("a", "draw")])]
    assert len({process_of(layout) for _, layout in numbers}) == 1
