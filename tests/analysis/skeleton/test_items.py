"""The items of a skeleton: their time, and those inside of others."""

from msgspec.structs import replace

from xlareport.analysis.skeleton.items import Skeleton, SkeletonItem, every_item, total_seconds

KERNEL = SkeletonItem("kernel", "compute", "fusion.1", "fusion", "main", seconds=2.0)
STARTED = SkeletonItem("async", "collectives", "start.1", "all-gather", "main", seconds=9.0)
LOOP = replace(KERNEL, kind="loop", name="while.1", seconds=6.0, children=(KERNEL, KERNEL))


def test_of_an_asynchronous_item_only_the_wait_counts() -> None:
    started = replace(STARTED, done="done.1")
    wait = replace(STARTED, kind="done", name="done.1", done="start.1", seconds=1.0)
    assert started.is_async
    assert not wait.is_async
    assert total_seconds((KERNEL, started, wait)) == 3.0


def test_a_loop_has_the_time_of_what_is_inside() -> None:
    assert total_seconds((LOOP, replace(KERNEL, seconds=None))) == 6.0


def test_items_come_with_their_depth_each_before_what_it_holds() -> None:
    outer = replace(LOOP, name="while.2", children=(LOOP,))
    names = [(depth, item.name) for depth, item in every_item((outer, KERNEL))]
    assert names == [
        (0, "while.2"),
        (1, "while.1"),
        (2, "fusion.1"),
        (2, "fusion.1"),
        (0, "fusion.1"),
    ]


def test_links_have_the_name_of_their_backend() -> None:
    names = {
        backend: Skeleton("k", "m", "last", True, backend, "d", "exact", ()).links  # noqa: FBT003 - a field
        for backend in ("gpu", "tpu", "cpu")
    }
    assert names == {"gpu": "NCCL", "tpu": "ICI", "cpu": "collectives"}
