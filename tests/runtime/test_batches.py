"""Batches: items come back as they were, few of them unpacked at a time."""

from collections.abc import Iterator

from xlareport.runtime.batches import TOGETHER, do_batch, pack_batch, unpack


def test_results_are_those_of_the_items_in_order() -> None:
    batch = pack_batch("this program", str, range(3 * TOGETHER + 1))
    assert list(batch.items()) == [*range(3 * TOGETHER + 1)]
    assert len(batch.blocks) == 4
    done = do_batch(batch)
    assert [unpack(written) for written in done.results] == [*map(str, batch.items())]
    assert done.seconds > 0


def test_no_items_make_no_block() -> None:
    assert pack_batch("this program", str, []).blocks == ()


def test_items_are_taken_one_after_another() -> None:
    """What decides that a batch has enough sees each item before the next one is taken."""
    taken: list[int] = []

    def some() -> Iterator[int]:
        for number in range(10):
            taken.append(number)
            yield number
            if number == 4:
                return

    assert list(pack_batch("this program", str, some()).items()) == taken == [0, 1, 2, 3, 4]
