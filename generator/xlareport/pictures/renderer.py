"""Where all pictures of a build are drawn, each once, with a word on how far that is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from xlareport.pictures.draw import PictureRequest, PictureResult, Place, draw_with
from xlareport.pictures.layout_pool import LayoutPool
from xlareport.runtime.progress import ProgressCallback

_DRAWING = "drawing pictures"


@dataclass(frozen=True, slots=True)
class Renderer:
    """Draws with the workers of a pool; layouts are kept in the folder `cache`."""

    pool: LayoutPool
    cache: Path
    progress: ProgressCallback
    asked: set[Place] = field(default_factory=set)
    """What was asked for already."""

    def draw(self, requests: Iterable[PictureRequest]) -> Iterator[PictureResult]:
        """Draw pictures that were not yet asked for, equal ones once."""
        drawn = draw_with(self.pool, self._once(requests), self.cache)
        for done, picture_result in enumerate(drawn, len(self.asked) + 1):
            self.progress(_DRAWING, done, len(self.asked))
            yield picture_result

    def again(self, requests: Iterable[PictureRequest]) -> Iterator[PictureResult]:
        """Draw what was drawn before, without a word."""
        return draw_with(self.pool, requests, self.cache)

    def _once(self, requests: Iterable[PictureRequest]) -> Iterator[PictureRequest]:
        """Yield what was not yet asked for, and note it."""
        for request in requests:
            if request.place not in self.asked:
                self.asked.add(request.place)
                yield request
