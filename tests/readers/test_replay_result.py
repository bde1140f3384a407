"""What `replay --bisect --json` printed, read again."""

import json
from typing import Any

import pytest
from tests.readers.parsers import Parser, with_path

from xlareport.readers.replay_result import ReplayResult, read_replay_result

REPLAY = b"""{"module": "m", "jaxlib": "0.12", "tolerance": 1e-5, "verdict": "v",
"first": {"stage": "0001", "confirmed": true},
"stages": [{"stage": "0001", "ran": true, "reason": "", "max_relative_error": 0.5, "max_ulp": 3}]}
"""
PARSERS = (Parser(with_path(read_replay_result), REPLAY),)
"""For `tests/properties/test_parsers.py`."""


STAGE = {"stage": "0001", "ran": True, "reason": "", "max_relative_error": 0.5, "max_ulp": 3}
DOCUMENT = {
    "module": "m",
    "jaxlib": "0.12",
    "tolerance": 1e-5,
    "stages": [STAGE],
    "first": {"stage": "0001", "after": "p", "change": "c", "confirmed": True},
    "verdict": "v",
}


def read(**changes: Any) -> ReplayResult | None:
    return read_replay_result(json.dumps({**DOCUMENT, **changes}).encode(), "f")[0]


def test_a_document_is_a_result() -> None:
    result = read()
    assert result is not None
    assert (result.first, result.is_confirmed, result.tolerance) == ("0001", True, 1e-5)
    assert (result.stages[0].error, result.stages[0].ulp) == (0.5, 3)


def test_what_is_not_finite_is_none() -> None:
    result = read(stages=[{**STAGE, "max_relative_error": None, "max_ulp": None}], first=None)
    assert result is not None
    assert (result.stages[0].error, result.stages[0].ulp, result.first) == (None, None, None)


@pytest.mark.parametrize("changes", [{"stages": 3}, {"module": 1}, {"stages": [{}]}, {"first": 2}])
def test_another_document_is_a_problem(changes: dict[str, Any]) -> None:
    data = json.dumps({**DOCUMENT, **changes}).encode()
    result, (problem,) = read_replay_result(data, "f")
    assert result is None
    assert "replay --bisect --json" in problem.message
