"""What XLA counts of a TPU's memory on the chip: cases of compilations whose peak is known."""

from collections.abc import Callable

import pytest

from xlareport.analysis.cost.chip_memory_use import measure_chip_memory
from xlareport.hlo.model import HloModule
from xlareport.readers.buffer_assignment import BufferValue
from xlareport.readers.live_range import LiveRange, LiveRanges

TEXT = """ENTRY e {
  x = f32[64] parameter(0)
  a = f32[64] negate(x)
  b = (f32[64], f32[64]) fusion(a), kind=kLoop, calls=f
  ROOT w = f32[64] while(b), body=f, condition=f
}"""
Row = tuple[str, tuple[int, ...], int, int, int, int]


@pytest.fixture
def use(module_of: Callable[[str], HloModule]) -> Callable[..., int | None]:
    """Return what counts of values, each as name, index, offset, bytes, start and end."""
    module = module_of(TEXT)

    def measured(*rows: Row) -> int | None:
        values = [
            BufferValue(number, name, index, offset, size, "f32[64]")
            for number, (name, index, offset, size, *_) in enumerate(rows)
        ]
        lives = [LiveRange(name, index, *span) for name, index, _, _, *span in rows]
        return measure_chip_memory(values, LiveRanges(ranges=lives), module)

    return measured


def test_a_result_counts_beside_the_operand_whose_place_it_takes(
    use: Callable[..., int | None],
) -> None:
    assert use(("a", (), 0, 256, 1, 3), ("b", (0,), 0, 256, 3, 5)) == 512
    assert use(("a", (), 0, 256, 1, 2), ("b", (0,), 0, 256, 3, 5)) == 256


def test_what_a_loop_carries_is_no_new_value(use: Callable[..., int | None]) -> None:
    carried = ("a", (), 0, 256, 1, 3), ("x", (), 0, 256, 3, 5), ("w", (), 0, 256, 5, 5)
    assert use(*carried) == 256


def test_two_results_at_one_place_count_once(use: Callable[..., int | None]) -> None:
    assert use(("b", (0,), 0, 256, 3, 5), ("b", (1,), 0, 256, 3, 5)) == 256


def test_a_value_over_a_part_of_another_is_not_known(use: Callable[..., int | None]) -> None:
    parts = ("a", (), 0, 128, 1, 3), ("b", (0,), 128, 128, 1, 3)
    assert use(*parts, ("b", (1,), 0, 256, 3, 5)) is None
    assert use(*parts, ("b", (1,), 0, 256, 3, 5), ("w", (), 512, 1024, 7, 9)) == 1024
