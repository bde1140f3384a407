"""How thunks of every time state launches."""

import pytest
from tests.readers.parsers import Parser, of_text

from xlareport.readers.launches import Launch, read_launch

LAUNCH = b"k grid: [3072, 2, 1] threads: [64, 1, 1]  shared_memory: 768 bytes"
PARSERS = (Parser(of_text(read_launch), LAUNCH, says=False),)
"""For `tests/properties/test_parsers.py`."""


@pytest.mark.parametrize(
    ("description", "launch"),
    [
        (
            "gemm_fusion_dot grid: [3072, 2, 1] threads: [64, 1, 1]  shared_memory: 768 bytes",
            Launch(6144, 64, 768),
        ),
        (
            "kernel = fusion_17, blocks: {256, 1, 1}, threads/block: {32, 4, 1}, cluster_dim = no",
            Launch(256, 128, None),
        ),
        ("kConvolution", None),
        ("k grid: [0, 1, 1] threads: [64, 1, 1]  shared_memory: 0 bytes", None),
        ("k grid: [,] threads: [64, 1, 1]  shared_memory: 0 bytes", None),
    ],
)
def test_launches(description: str, launch: Launch | None) -> None:
    """Dimensions are multiplied; a launch of nothing is none."""
    assert read_launch(description) == launch
