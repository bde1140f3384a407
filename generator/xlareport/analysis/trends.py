"""Figures over the nights: which changes are steps, and which are noise."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from msgspec import Struct, field

_BEFORE = 7
"""Nights before that a night is held against."""
_NOISE = 4.0
"""Deviations from the median within which a figure is held for noise."""
_TO_DEVIATION = 1.4826
"""From the median of absolute deviations to the deviation of normal noise."""
_LEAST_STEP = 0.01
"""A share of the median below which a change is never a step."""


class Night(Struct, frozen=True):
    """The figures of one report."""

    when: str
    """UTC, `2026-11-21T02:00:00Z`."""
    dump: str
    report: str
    """The report's first page, relative to the folder of the history."""
    main: str | None
    """The main program's name in `figures`."""
    figures: Mapping[str, Mapping[str, int | None]]
    """By module, then by figure; None where it is not known."""
    slugs: Mapping[str, str] = field(default_factory=dict)
    """By module, what names its pages."""

    def figure(self, module: str | None, name: str) -> int | None:
        """Return a figure of a module; None where it is not known, and of no module."""
        return self.figures.get(module or "", {}).get(name)


def labels(names: Iterable[str]) -> tuple[str, ...]:
    """Return unique labels for names, by order: `jit_f`, `jit_f (2)`."""
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(unique)


def select_slugs(
    named: Sequence[str], slugs: Sequence[str], former: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the slugs of tonight's modules: those of the night before where they had one."""
    former_slugs = [former.get(label) for label in named]
    taken = {text for text in former_slugs if text is not None}
    chosen: list[str] = []
    for slug_now, former_slug in zip(slugs, former_slugs, strict=True):
        slug, number = former_slug or slug_now, 1
        while former_slug is None and slug in taken:
            number += 1
            slug = f"{slug_now}-{number}"
        taken.add(slug)
        chosen.append(slug)
    return tuple(chosen)


class Step(Struct, frozen=True):
    """A night on which a figure came to another level."""

    night: int
    before: float
    """The median of the nights before."""
    after: int


def find_steps(values: Sequence[int | None]) -> tuple[Step, ...]:
    """Find the steps in a figure over the nights.

    A night is a step when it differs from the median of up to seven nights since the last step by
    more than one percent and by more than four deviations of these nights, estimated by their
    median absolute deviation; and when the next night, if there is one, is on the same side. So one
    odd night is no step, and noise raises the bar by itself.
    """
    steps: list[Step] = []
    level: list[int] = []
    for night, value in enumerate(values):
        if value is None:
            continue
        following = next((value for value in values[night + 1 :] if value is not None), None)
        if level and _is_step(level, value, following):
            steps.append(Step(night, median(level), value))
            level = []
        level = [*level, value][-_BEFORE:]
    return tuple(steps)


def _is_step(level: Sequence[int], value: int, following: int | None) -> bool:
    middle = median(level)
    noise = _TO_DEVIATION * median(abs(number - middle) for number in level)
    bar = max(_LEAST_STEP * abs(middle), _NOISE * noise)
    beyond = abs(value - middle) > bar
    stays = following is None or (
        abs(following - middle) > bar and (following > middle) == (value > middle)
    )
    return beyond and stays
