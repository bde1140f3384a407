"""Each custom call target and flag of the test data is explained, or said to be unknown."""

import sys
from pathlib import Path

import pytest
from tests.walks import LONG_WALKS

from xlareport.knowledge import custom_calls, flags

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from dumps import test_data as packed_dumps
from score_names import stated

DUMPS = [path for path in packed_dumps() if path.name.startswith(("tpu-", "gpu-", "tagged-tpu"))]
DUMPS = DUMPS[:: 1 if LONG_WALKS else 3]
"""All of them are read by `make walks`."""


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: path.name)
def test_targets_and_flags_are_explained_or_said_to_be_unknown(dump: Path) -> None:
    targets, options = stated(dump)
    assert {target for target in targets if not custom_calls.find(target)} == set()
    assert {name for name in options if not (flags.find(name) or flags.find_family(name))} == set()
