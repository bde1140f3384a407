"""The films of a module's computations for the page script: forms with the snapshots they last."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import sub
from typing import Any

from xlareport.analysis.history import Snapshots
from xlareport.analysis.lifelines import NOBODY, Film, Form, films, most_at_once
from xlareport.hlo.model import HloModule
from xlareport.pages import navigation
from xlareport.pages.instruction_columns import Interned, Seen, columns, flat
from xlareport.payload import payload, payload_path
from xlareport.pictures.shade import NOTHING

_MOST_FILMS = 24
_MOST_FORMS = 120_000
"""In all films of a module; those with fewer changes are left out, and the page says so."""
_FEWEST_INSTRUCTIONS = 3


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The films that are shown, and how many are not."""

    films: tuple[Film, ...]
    others: int


def film_payloads(
    slug: str, snapshots: Snapshots, stages: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield the list and the films as files; `stages` are keys and labels of the snapshots."""
    chosen = _choose(films(snapshots), snapshots.modules[-1])
    key = navigation.film_key(slug)
    index = {
        "stages": list(stages),
        "films": [[one.name, one.frames, one.end, most_at_once(one)] for one in chosen.films],
        "others": chosen.others,
    }
    yield payload_path(key), payload(key, index)
    for number, one in enumerate(chosen.films):
        name = f"{key}-{number}"
        yield payload_path(name), payload(name, _film(one, snapshots.modules))


def _choose(found: Sequence[Film], last: HloModule) -> _Chosen:
    """Take the entry, then what changes most often, as long as there is room."""
    entry = last.entry.name if last.entry else ""
    shown = [
        one for one in found if len(one.frames) > 1 and most_at_once(one) >= _FEWEST_INSTRUCTIONS
    ]
    shown.sort(key=lambda one: (one.name != entry, -len(one.frames), -len(one.forms)))
    room = _MOST_FORMS
    taken: list[Film] = []
    for one in shown[:_MOST_FILMS]:
        room -= len(one.forms)
        if room >= 0:
            taken.append(one)
    return _Chosen(tuple(taken), len(shown) - len(taken))


def _film(film: Film, modules: Sequence[HloModule]) -> dict[str, Any]:
    """Return the forms; lives are numbered anew in the order in which they begin.

    A life is told by its distance from that before it, what it uses by the distance above it.
    """
    lives = Interned()
    numbers = [lives.number(form.life) for form in film.forms]
    seen = (Seen(form.instruction, modules[form.first]) for form in film.forms)
    return {
        "lives": list(map(sub, numbers, [0, *numbers[:-1]])),
        "first": [form.first for form in film.forms],
        "end": [form.end for form in film.forms],
        "operands": flat(_operands(form, lives) for form in film.forms),
        "roots": [place for place, form in enumerate(film.forms) if form.instruction.is_root],
        **columns(seen, NOTHING),
    }


def _operands(form: Form, lives: Interned) -> list[int | str]:
    """Return how far above it the lives are that a form uses; `3#1` is element 1 of a tuple."""
    found: list[int | str] = []
    own = lives.number(form.life)
    for operand, life in zip(form.instruction.operands, form.operands, strict=True):
        if life != NOBODY:
            element = operand.partition("#")[2]
            above = own - lives.number(life)
            found.append(f"{above}#{element}" if element else above)
    return found
