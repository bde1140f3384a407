"""The origins of collectives that passes made."""

import pytest

from xlareport.analysis.collectives.origins import _written, makes_none


@pytest.mark.parametrize(
    "name",
    [
        "async-collective-creator",
        "tpu_async_collective_creator",
        "gpu-convert-async-collectives-to-sync",
        "collective-permute-combiner",
        "latency-hiding-scheduler",
    ],
)
def test_a_pass_that_rearranges_collectives_makes_none(name: str) -> None:
    assert makes_none(name)


@pytest.mark.parametrize(
    "name", ["reduce-scatter-creator", "spmd-partitioning", "collective-pipeliner-forward"]
)
def test_other_passes_may_make_collectives(name: str) -> None:
    assert not makes_none(name)


def test_a_collective_of_the_program_has_its_op_and_line_where_they_are_known() -> None:
    assert _written("psum", "a.py:4") == "Written in the program: `psum` at a.py:4."
    assert _written("psum", "") == "Written in the program: `psum`."
    assert _written("", "") == "Written in the program."
