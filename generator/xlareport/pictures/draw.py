"""Makes pictures from drawings in parallel; equal layouts are computed once and cached.

If a layout fails, only its own picture is affected: it is drawn in plain layers, with a note.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.hlo.model import InstructionKey
from xlareport.pictures.cache import LayoutCache, layout_key
from xlareport.pictures.dot_text import dot_text, turned
from xlareport.pictures.drawing import Drawing
from xlareport.pictures.layered import layered_layout
from xlareport.pictures.layout import Layout, LayoutFailure
from xlareport.pictures.layout_pool import LayoutPool
from xlareport.pictures.pair import restrict, union
from xlareport.pictures.svg import svg_text
from xlareport.runtime.progress import ProgressCallback

Layouts = dict[str, Layout | LayoutFailure]


_AT_A_TIME = 8
"""Limit on pictures per worker in memory at the same time; small, to keep waits short."""


_WIDE = 1800.0
_RIBBON = 2.4
"""Ratio of width to height, and width, from which a layout is too wide."""


class PictureRequest(Struct, frozen=True):
    """Drawings that share one layout: a single one, or before and after."""

    key: str
    drawings: tuple[Drawing, ...]
    bundle: str = ""
    """The file that several pictures share, each by its key in it; empty for one of its own."""
    others: tuple[tuple[Drawing, ...], ...] = ()
    """Kept in the same file and opened by few: pairs without frames that the page lays out."""
    plain: bool = False
    """Of the main program, the first is an .svg file, too."""

    @property
    def place(self) -> InstructionKey:
        """The key of the picture: no two pictures have the same one."""
        return self.bundle, self.key


class PictureResult(Struct, frozen=True):
    """The pictures of a request, in the order of its drawings."""

    request: PictureRequest
    placed: tuple[tuple[Drawing, Layout], ...]
    """The drawings with their layouts."""
    note: str = ""
    """Why a picture shows less than requested; empty if it is complete."""

    @property
    def svg(self) -> str:
        """The first picture as a file."""
        return svg_text(*self.placed[0])


class _Task(Struct, frozen=True):
    """A request in progress, with the union of its drawings and the DOT text of that."""

    request: PictureRequest
    whole: Drawing
    dot: str

    @staticmethod
    def of(request: PictureRequest) -> "_Task":
        whole = union(request.drawings)
        return _Task(request, whole, dot_text(whole))

    def drawn(self, layout: Layout | LayoutFailure) -> PictureResult:
        """Place the pictures, in plain layers where the layout failed."""
        if isinstance(layout, Layout):
            return self.result(layout)
        plain = _Task.of(_without_frames(self.request))
        note = f"Simplified layout: Graphviz {layout.reason}."
        return replace(plain.result(layered_layout(plain.whole), note), request=self.request)

    def result(self, layout: Layout, note: str = "") -> PictureResult:
        """Place the pictures, each with the note."""
        parts = (restrict(drawing, self.whole, layout) for drawing in self.request.drawings)
        placed = tuple((_noted(drawing, note), part) for drawing, part in parts)
        return PictureResult(self.request, placed, note)


def draw_with(
    pool: LayoutPool, requests: Iterable[PictureRequest], cache_dir: Path
) -> Iterator[PictureResult]:
    """Draw all requests with workers that may have drawn others before; results in their order.

    Layouts are kept in `cache_dir`.
    """
    waiting = iter(requests)
    cache = LayoutCache(cache_dir)
    layouts = _Layouts(pool, cache)
    while some := [_Task.of(request) for request in islice(waiting, _AT_A_TIME * pool.jobs)]:
        laid = layouts.lay_out([task.dot for task in some])
        yield from (task.drawn(laid[task.dot]) for task in some)
    cache.prune()


class _Layouts(Struct, frozen=True):
    """Makes layouts: workers, and the cache of former builds."""

    pool: LayoutPool
    cache: LayoutCache

    def lay_out(self, dots: Iterable[str]) -> Layouts:
        """Return the layouts by their DOT; a ribbon is tried from left to right as well."""
        result = self._positions(dots)
        ribbons = {dot: turned(dot) for dot, layout in result.items() if _is_ribbon(layout)}
        other = self._positions(ribbons.values())
        for dot, way in ribbons.items():
            result[dot] = min(result[dot], other[way], key=_stretch)
        return result

    def _positions(self, dots: Iterable[str]) -> Layouts:
        """Return the layouts by their DOT, from the cache where they are there."""
        keys = {layout_key(dot): dot for dot in dots}
        positions: Layouts = {}
        for key, dot in keys.items():
            if kept := self.cache.get(key):
                positions[dot] = kept
        missing = [(key, dot) for key, dot in keys.items() if dot not in positions]
        for key, layout in self.pool.layout_many(missing):
            positions[keys[key]] = layout
            if isinstance(layout, Layout):
                self.cache.put(key, layout)
        return positions


def _is_ribbon(layout: Layout | LayoutFailure) -> bool:
    return isinstance(layout, Layout) and layout.width > max(_WIDE, _RIBBON * layout.height)


def _stretch(layout: Layout | LayoutFailure) -> float:
    """Return how far a layout is from the shape of a screen; a failure is farthest."""
    if not isinstance(layout, Layout):
        return math.inf
    return max(layout.width / layout.height / 1.6, 1.6 * layout.height / layout.width)


def _noted(drawing: Drawing, note: str) -> Drawing:
    return replace(drawing, notes=(*drawing.notes, note)) if note else drawing


def _without_frames(request: PictureRequest) -> PictureRequest:
    return replace(
        request, drawings=tuple(replace(drawing, groups=()) for drawing in request.drawings)
    )


_DRAWING = "drawing pictures"


class Renderer(Struct, frozen=True):
    """Draws with the workers of a pool; layouts are kept in the folder `cache`."""

    pool: LayoutPool
    cache: Path
    progress: ProgressCallback
    asked: set[InstructionKey] = field(default_factory=set)
    """The requests so far."""

    def draw(self, requests: Iterable[PictureRequest]) -> Iterator[PictureResult]:
        """Yield pictures that were not requested yet, equal ones once."""
        drawn = draw_with(self.pool, self._once(requests), self.cache)
        for done, picture_result in enumerate(drawn, len(self.asked) + 1):
            self.progress(_DRAWING, done, len(self.asked))
            yield picture_result

    def again(self, requests: Iterable[PictureRequest]) -> Iterator[PictureResult]:
        """Yield pictures that were drawn before, without notes."""
        return draw_with(self.pool, requests, self.cache)

    def _once(self, requests: Iterable[PictureRequest]) -> Iterator[PictureRequest]:
        """Yield the requests that are new, and record them."""
        for request in requests:
            if request.place not in self.asked:
                self.asked.add(request.place)
                yield request
