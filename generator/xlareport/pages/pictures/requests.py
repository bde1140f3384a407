"""The pictures of a module's pages: what to draw, where to store it."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import chain, groupby, starmap
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.steps.step import StepChange
from xlareport.pages import navigation
from xlareport.pages.pictures.levels import Record, level_record, picture_record, snapshot_levels
from xlareport.pictures.change import Pair, StepDrawings, step_pictures
from xlareport.pictures.draw import PictureRequest, PictureResult
from xlareport.pictures.drawing import Drawing, DrawingError
from xlareport.pictures.layered import layered_layout
from xlareport.pictures.shade import NO_COLOR_DATA, ColorData
from xlareport.program import ParsedModule
from xlareport.runtime import units
from xlareport.snapshots import ParsedSnapshot
from xlareport.storage.payloads import Payload, make_payload_file

_SIDES = ("before", "after")
_BOXES_TOGETHER = 600
"""Boxes of steps after which their payload is full: one is of about 100 bytes."""

PictureChoice = Literal["all", "changed", "main", "none"]
"""Which pictures to draw.

`all` pictures of every module; of each module the cheap ones, and of each step the `changed` ones;
the same for the `main` program only; or `none`.
"""


class PictureView(Struct, frozen=True):
    """A picture of a module's page: its address and description."""

    key: str
    """The key of its payload."""
    name: str
    """Its own in that payload."""
    source: str
    """Address of the .svg file, seen from the module's page; empty where there is none."""
    title: str
    alt: str
    notes: tuple[str, ...]
    levels: str
    """Key of the index of the pictures behind it; empty where it shows all."""
    graph: str
    """Key of the graph of its snapshot."""


class Pictures(Struct, frozen=True):
    """The pictures of one module's page, and the requests and payloads for them."""

    views: tuple[PictureView, ...] = ()
    requests: tuple[PictureRequest, ...] = ()
    """Requests of the same payload are adjacent."""
    payloads: tuple[Payload, ...] = ()


class StepPictures(Struct, frozen=True):
    """The pictures of a step as in its payload, and the requests for them."""

    before: dict[str, Any]
    after: dict[str, Any]
    left_out: tuple[str, ...]
    """The other changes, in words."""
    places: tuple[dict[str, Any], ...]
    """Pictures of some of these: a name, the line of `left_out` with it, before and after."""
    request: PictureRequest


class DrawnStep(Struct, frozen=True):
    """The drawings of a step, with their name by content."""

    drawings: StepDrawings
    name: str


class PictureStore(Struct):
    """Stores the pictures of a module's steps: several per payload, equal ones once."""

    slug: str
    _known: dict[str, str] = field(default_factory=dict)
    """The payload of each picture that has a place, by name."""
    _number: int = 0
    _boxes: int = 0

    def take(self, name: str, drawings: tuple[Drawing, ...]) -> str:
        """Return the payload's key for drawings of a name that are looked at together."""
        if name not in self._known:
            if self._boxes > _BOXES_TOGETHER:
                self._number, self._boxes = self._number + 1, 0
            self._boxes += sum(len(drawing.nodes) for drawing in drawings)
            self._known[name] = f"{navigation.module_key(self.slug, 'picture')}-{self._number}"
        return self._known[name]


class _Wanted(Struct, frozen=True):
    """A snapshot that the module's page shows."""

    slug: str
    word: str
    """Which of the module's snapshots it is."""
    title: str
    snapshot: ParsedSnapshot
    is_final: bool


def module_pictures(module: ParsedModule, choice: PictureChoice, known: ColorData) -> Pictures:
    """Draw the first and the final snapshot; one picture where these are the same.

    `known` is what is known of the final snapshot.
    """
    first, last = module.snapshots[0] if module.snapshots else None, module.final
    if first is None or last is None or choice == "none":
        return Pictures()
    slug = module.files.slug
    wanted = [
        _Wanted(slug, "first", "First snapshot", first, is_final=False),
        _Wanted(slug, "last", "Final snapshot", last, is_final=True),
    ]
    if first.hlo is last.hlo:
        title = "The only snapshot that could be read"
        wanted = [_Wanted(slug, "only", title, first, is_final=True)]
    drawn = [
        _overview(snapshot, known if snapshot.is_final else NO_COLOR_DATA, choice)
        for snapshot in wanted
    ]
    return Pictures(
        tuple(record for pictures in drawn for record in pictures.views),
        tuple(
            sorted(
                (request for pictures in drawn for request in pictures.requests),
                key=lambda request: request.bundle,
            )
        ),
        tuple(file for pictures in drawn for file in pictures.payloads),
    )


def step_pictures_of(change: StepChange, store: PictureStore) -> StepPictures | None:
    """Return the pictures of a step's changes; None if a picture cannot show them."""
    drawn = draw_step(change)
    return place_step(drawn, store) if drawn else None


def draw_step(change: StepChange) -> DrawnStep | None:
    """Return the drawings of a step's changes; None if a picture cannot show them."""
    try:
        drawings = step_pictures(change)
    except DrawingError:  # the page says that there is no picture, and has the text
        return None
    return None if drawings is None else DrawnStep(drawings, _picture_name(_all_drawings(drawings)))


def place_step(drawn: DrawnStep, store: PictureStore) -> StepPictures:
    """Give the drawings of a step their place among those of its module."""
    drawings, name = drawn.drawings, drawn.name
    at = store.take(name, _all_drawings(drawings)), name
    before, after = _sides(at, 0, drawings.pair)
    places = []
    for number, place in enumerate(drawings.places, 1):
        first, second = _sides(at, number, place.pair)
        places.append({"name": place.name, "line": place.line, "before": first, "after": second})
    others = tuple(place.pair for place in drawings.places)
    request = PictureRequest(name, drawings.pair, at[0], others=others)
    return StepPictures(before, after, drawings.pair[1].left_out, tuple(places), request)


def _all_drawings(drawings: StepDrawings) -> tuple[Drawing, ...]:
    return tuple(chain(drawings.pair, *(place.pair for place in drawings.places)))


def _picture_name(drawings: tuple[Drawing, ...]) -> str:
    """Return a name by content, so that equal pictures of a module are stored once."""
    return blake2b(repr(drawings).encode(), digest_size=10).hexdigest()


def _sides(at: tuple[str, str], number: int, pair: Pair) -> list[dict[str, Any]]:
    """Name the two pictures of the pair with that number in a payload."""
    key, name = at
    return [
        {
            "key": key,
            "name": name,
            "place": 2 * number + place,
            "alt": _alt(f"{side} the step", drawing),
        }
        for place, (side, drawing) in enumerate(zip(_SIDES, pair, strict=True))
    ]


def describe_pictures(pictures: StepPictures | None, note: str) -> dict[str, Any]:
    """Return the pictures' part of a step's payload; `note` says why there are none."""
    if pictures is None:
        return {"before": None, "after": None, "note": note}
    left_out = list(pictures.left_out)
    both = {"before": pictures.before, "after": pictures.after}
    places = {"places": list(pictures.places)} if pictures.places else {}
    return both | {"note": note, "left_out": left_out} | places


def picture_files(results: Iterable[PictureResult]) -> Iterator[tuple[str, str]]:
    """Yield the files of pictures that were drawn."""
    for bundle, together in groupby(results, key=lambda result: result.request.bundle):
        if bundle:
            pictures = {
                picture_result.request.key: _records(picture_result) for picture_result in together
            }
            yield make_payload_file(bundle, {"pictures": pictures})
            continue
        for picture_result in together:
            key = picture_result.request.key
            yield make_payload_file(key, {"pictures": _records(picture_result)})


def _records(picture_result: PictureResult) -> list[Record]:
    """Return the records of related pictures; the page lays out the others itself."""
    others = (level_record(drawing) for drawing in chain(*picture_result.request.others))
    return [*starmap(picture_record, picture_result.placed), *others]


def plain_files(results: Iterable[PictureResult]) -> Iterator[tuple[str, str]]:
    """Yield pictures as .svg files, which show themselves without a page and its script."""
    for result in results:
        yield _plain_file(result.request), result.svg


def _plain_file(request: PictureRequest) -> str:
    """Return the path of a picture's .svg file: `pictures/module_0042.jit_f-last.svg`."""
    if not request.bundle:
        return f"{request.key}.svg"
    return f"pictures/{request.bundle.split('/')[1]}-{request.key}.svg"


def left_out(requests: Iterable[PictureRequest], choice: PictureChoice) -> Iterator[PictureResult]:
    """Yield a note in place of each picture that the choice excludes."""
    words = (
        f"Left out, because the report was built with --pictures {choice}.",
        "xlareport build DUMP --pictures changed draws it.",
    )
    drawing = Drawing("Not drawn", (), notes=words, has_legend=False)
    placed = (drawing, layered_layout(drawing))
    for request in requests:
        many = len(request.drawings) + sum(map(len, request.others))
        yield PictureResult(replace(request, others=()), (placed,) * many, words[0])


def _overview(wanted: _Wanted, known: ColorData, choice: PictureChoice) -> Pictures:
    """Draw a snapshot: its first picture, and those behind it."""
    slug, snapshot = wanted.slug, wanted.snapshot
    key = navigation.module_key(slug, f"pictures-{wanted.word}")
    graph = (
        navigation.module_key(slug, "graph")
        if wanted.is_final
        else navigation.module_key(slug, "graph-first")
    )
    levels = snapshot_levels(key, graph, snapshot.hlo, known, every=choice == "all")
    if levels is None:
        return Pictures()
    drawing = levels.first.drawing
    bundle = navigation.module_key(slug, "picture")
    request = PictureRequest(wanted.word, (drawing,), bundle, plain=True)
    module = PictureView(
        key=bundle,
        name=wanted.word,
        source=f"../{_plain_file(request)}",
        title=f"{wanted.title} ({snapshot.stage.label})",
        alt=_alt(snapshot.stage.label, drawing),
        notes=drawing.notes,
        levels=key if levels.payloads else "",
        graph=graph,
    )
    return Pictures((module,), (request, *levels.requests), levels.payloads)


def _alt(what: str, drawing: Drawing) -> str:
    boxes, arrows = len(drawing.nodes), len(drawing.edges)
    return f"Graph {what}: {units.plural(boxes, 'box', 'boxes')}, {units.plural(arrows, 'arrow')}"
