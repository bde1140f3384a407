"""Kernels that take less time than their launches, outside of command buffers."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.analysis.findings.texts import having

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.rules import find_findings
from xlareport.analysis.findings.short_kernels import short_kernels
from xlareport.knowledge.devices import devices, nominal_device

GPU = devices()["nvidia-h100"]
LOOP = having("serial-loops").replace("12544", "200")
"""A loop of 200 iterations with a few kernels of four elements."""


@pytest.fixture
def case(case_of: Callable[[str], Case]) -> Case:
    return replace(case_of(LOOP), device=GPU, recorded=frozenset())


def test_launches_of_short_kernels_are_counted_over_all_iterations(case: Case) -> None:
    (finding,) = short_kernels(case)
    names = {name for _, name in finding.places}
    assert {"next", "y", "less"} <= names
    launches = 200 * 2 + 201
    assert f"{launches:,} launches in all per module execution" in finding.evidence
    assert finding.latency_seconds == pytest.approx(launches * 1e-6, rel=0.01)
    assert finding.seconds is None
    assert finding.evidence.endswith("Each of the 200 iterations of `w` has 3 of them: 3 µs.")
    assert "short-kernels" in {finding.rule for finding in find_findings(case)}


def test_kernels_in_command_buffers_are_launched_together(case: Case) -> None:
    names = frozenset({"next", "y", "less"})
    assert not list(short_kernels(replace(case, recorded=names)))
    assert not list(short_kernels(replace(case, recorded=None))), "no thunk sequence"


def test_only_gpus_launch_kernels(case: Case) -> None:
    for device in (nominal_device("cpu"), devices()["tpu-v5e"]):
        assert not list(short_kernels(replace(case, device=device)))


def test_launches_of_serial_loops_are_reported_once(case_of: Callable[[str], Case]) -> None:
    case = replace(case_of(having("serial-loops")), device=GPU, recorded=frozenset())
    assert not list(short_kernels(case))


def test_few_launches_are_not_reported(case_of: Callable[[str], Case]) -> None:
    case = case_of(LOOP.replace("constant(200)", "constant(10)"))
    assert not list(short_kernels(replace(case, device=GPU, recorded=frozenset())))


def test_the_condition_of_a_loop_of_stated_trip_count_is_never_launched(
    case_of: Callable[[str], Case],
) -> None:
    """XLA:GPU runs the body as often as `known_trip_count` says, and nothing else."""
    stated = LOOP.replace("body=body", 'body=body, backend_config={"known_trip_count":{"n":"200"}}')
    (finding,) = short_kernels(replace(case_of(stated), device=GPU, recorded=frozenset()))
    assert ("condition", "less") not in finding.places
    assert "400 launches in all per module execution" in finding.evidence
