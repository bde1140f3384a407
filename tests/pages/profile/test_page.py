"""Runs as the page script draws them: names once, colors of opcodes and scopes, plain titles."""

from typing import Any

import pytest
from tests.modules import parse_module

from xlareport.analysis.kernels.command_buffers import CommandBuffer
from xlareport.analysis.profile.instruction_times import sum_times
from xlareport.analysis.profile.measured import join_profile
from xlareport.hlo.model import HloModule
from xlareport.pages.profile.page import _behind_events, timeline_payload
from xlareport.readers.op_events import OpEvent
from xlareport.storage.payloads import decode_payload

HLO = """HloModule m

ENTRY main {
  a = f32[8,8] parameter(0)
  d = f32[8,8] dot(a, a), metadata={op_name="jit(f)/encoder/dot"}
  ROOT e = f32[8,8] exponential(d), metadata={op_name="jit(f)/decoder/exp"}
}
"""


@pytest.fixture
def module() -> HloModule:
    return parse_module(HLO)


def made(module: HloModule, *events: OpEvent) -> Any:
    [made] = timeline_payload("x", module, sum_times(events)["m"])
    assert made.key == "m/x/timeline"
    return decode_payload(made)


def ran(name: str, start: int, length: int, run: str = "1") -> OpEvent:
    return OpEvent("m", name, run, (0,), start * 1_000_000, length * 1_000_000)


def test_a_run_with_what_it_names(module: HloModule) -> None:
    value = made(module, ran("d", 10, 4), ran("e", 14, 2), ran("gone", 17, 1))
    assert value["instructions"] == [
        ["d", "dot", "dark-blue", 0],
        ["e", "exponential", "white", 1],
        ["gone", "", "gray", -1],
    ]
    (step,) = value["steps"]
    assert step["title"] == "the only run, 8 µs"
    assert (step["start"], step["length"], step["lanes"]) == (10, 8, [[1, 0]])
    assert step["bars"] == [[0, 0, 4, 0, 1], [0, 4, 2, 1, 1], [0, 7, 1, 2, 1]]
    assert value["scopes"] == ["A encoder", "B decoder"]
    assert {name for name, _ in value["families"]} == {"white", "dark-blue", "gray"}


def test_the_median_and_the_slowest(module: HloModule) -> None:
    lengths = (9, 1, 5)
    events = [ran("d", 20 * at, length, str(at)) for at, length in enumerate(lengths)]
    titles = [step["title"] for step in made(module, *events)["steps"]]
    assert titles == ["median: run 3 of 3, 5 µs", "slowest: run 1 of 3, 9 µs"]


def test_runs_that_are_not_told_apart(module: HloModule) -> None:
    value = made(module, ran("d", 0, 1, ""))
    assert value["steps"][0]["title"] == "all that the profiler saw, 1 µs"


def test_ops_behind_the_event_of_a_command_buffer(module: HloModule) -> None:
    """Members with events of their own are not hidden; without command buffers nothing is said."""
    measured = join_profile(sum_times([ran("d", 10, 4)])["m"], module, {})
    buffers = (CommandBuffer(1, ("d", "e", "f"), 2, 3),)
    (figure,) = _behind_events(measured, buffers)
    assert (figure.label, figure.value) == ("In command buffers", "2")
    assert "1 command buffer" in figure.note
    assert list(_behind_events(measured, ())) == []
    assert list(_behind_events(measured, (CommandBuffer(1, ("d",), 1, 1),))) == []
