"""Pictures drawn by workers of their own."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from xlareport.pictures.draw import PictureRequest, PictureResult, draw_with
from xlareport.pictures.layout_pool import TIME_LIMIT, LayoutPool


def draw_all(
    requests: Iterable[PictureRequest], jobs: int, cache: Path, time_limit: float = TIME_LIMIT
) -> Iterator[PictureResult]:
    with LayoutPool(jobs, time_limit) as pool:
        yield from draw_with(pool, requests, cache)
