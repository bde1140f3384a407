"""What is said of the hops of a collective matmul."""

from collections.abc import Callable

import pytest
from tests.analysis.collectives.rings import BEFORE, after

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.collective_origin import explain_cause
from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.collectives.partitioning import PartitioningStep
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

ReadText = Callable[[str], HloModule]
GATHERS = "Collective matmul (windowed einsum) of `dot.1` (dot): all-gather of `p['w']` (bf16), "
SCATTERS = "Collective matmul (windowed einsum) of `dot.2` (dot): reduce-scatter of its result, "


@pytest.mark.parametrize(
    ("name", "trips", "words"),
    [
        ("ahead.1", 1, f"{GATHERS}hop 1 of 2, to the next device."),
        ("back.1", 1, f"{GATHERS}hop 1 of 1, to the previous device."),
        (
            "back.1",
            2,
            f"{GATHERS}hops 1 and 3 of 3, by iteration of its loop, to the previous device.",
        ),
        (
            "back.2",
            2,
            (
                f"{GATHERS}hops 2 and 4, by iteration of its loop, to the previous device; nothing "
                "reads what hop 4 sends."
            ),
        ),
        (
            "sum.2",
            4,
            (
                f"{SCATTERS}hops 2 to 8 in steps of 2 of 8, by iteration of its loop, to the "
                "previous device."
            ),
        ),
        (
            "sum.1",
            1,
            (
                f"{SCATTERS}hop 1 of 2, to the previous device; first hop of the reduce-scatter "
                "ring: sends the zero accumulator."
            ),
        ),
        ("sum.2", 1, f"{SCATTERS}hop 2 of 2, to the previous device."),
        (
            "last",
            1,
            (
                f"{SCATTERS}hop 2 of 2, to the next device, which brings the two partial "
                "sums of the ring together."
            ),
        ),
    ],
)
def test_a_hop_has_its_product_value_and_number(
    name: str, trips: int, words: str, read_text: ReadText
) -> None:
    former, latter = read_text(BEFORE), read_text(after(trips))
    step = PartitioningStep(Partitioning(former, latter, is_propagated=True), match(former, latter))
    (collective,) = (one for one in find_collectives(latter) if one.instruction == name)
    cause = explain_cause(step, collective, 4)
    assert cause.detail == words
    assert (cause.kind, cause.grade) == (CauseKind.WINDOWED, Grade.MATCHED)
    assert cause.sharding is None
    assert cause.sharding_reason
