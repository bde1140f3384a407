"""Why two dumps differ, the likeliest cause first: options, compiler, program, tuning, a pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xlareport.analysis.compare.comparison import (
    DEVICE,
    Comparison,
    OptionChange,
    Sketched,
)
from xlareport.analysis.compare.divergence import SnapshotDigest, Where
from xlareport.analysis.matching.pairing import Grade
from xlareport.runtime import units

_SHOWN = 4
_DISABLED = "xla_disable_hlo_passes"
_START = "pipeline-start"
_OTHER_COMPILER = 2
"""Pipelines that only one side begins, from which on they are taken as a sign of another one."""
_PICKERS = ("autotun", "algorithm_picker", "algorithm-picker")
"""Passes, and pipelines of passes, that time alternatives on the device and take the fastest."""
_END = "after_optimizations"


@dataclass(frozen=True, slots=True)
class Cause:
    """One answer to why the dumps differ."""

    kind: str
    """`device`, `option`, `compiler`, `program`, `modules`, `autotuning` or `pass`."""
    sentence: str
    """Names stand between backticks."""
    grade: Grade
    modules: tuple[str, ...]
    """Keys of the modules that show it, as the head has them, else as the base had them."""


def find_causes(comparisons: Sequence[Comparison]) -> tuple[Cause, ...]:
    """Return the causes, the one that explains most first; empty where nothing differs."""
    return (
        *_options(comparisons),
        *_compiler(comparisons),
        *_programs(comparisons),
        *_modules(comparisons),
        *_ways(comparisons),
    )


def _keys(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    return tuple(comparison.one.sketch.key for comparison in comparisons)


def _options(comparisons: Sequence[Comparison]) -> Iterator[Cause]:
    changed: dict[OptionChange, list[Comparison]] = {}
    for comparison in comparisons:
        for option in comparison.options:
            changed.setdefault(option, []).append(comparison)
    for option, members in changed.items():
        base, head = (_value(value) for value in (option.base, option.head))
        what = (
            "device it was compiled for" if option.name == DEVICE else f"XLA option `{option.name}`"
        )
        message = f"The {what} is {base} in the base and {head} in the head."
        kind = "device" if option.name == DEVICE else "option"
        yield Cause(kind, message, Grade.EXACT, _keys(members))


def _value(value: str | None) -> str:
    return "at its default" if value is None else f"`{value}`"


def _compiler(comparisons: Sequence[Comparison]) -> Iterator[Cause]:
    """Tell another compiler by pipelines that begin with another pass, as no program can cause."""
    disabled = {
        name
        for comparison in comparisons
        for option in comparison.options
        if option.name == _DISABLED
        for value in (option.base, option.head)
        for name in (value or "").split(",")
    }
    began = {
        (*each, comparison.one.sketch.key)
        for comparison in comparisons
        for each in _begun_otherwise(comparison)
    }
    signs = [each for each in sorted(began) if not disabled & {each[1], each[2]}]
    if signs:
        pipeline, base, head, _ = signs[0]
        message = (
            f"Another version of the compiler, by the passes it has: `{pipeline}` begins with "
            f"`{base}` in the base and with `{head}` in the head."
        )
        modules = dict.fromkeys(each[3] for each in signs)
        yield Cause("compiler", message, Grade.MATCHED, tuple(modules))
    else:
        yield from _other_pipelines(comparisons)


def _other_pipelines(comparisons: Sequence[Comparison]) -> Iterator[Cause]:
    """Tell another compiler by several pipelines that only one side ever begins."""
    pairs = [comparison for comparison in comparisons if comparison.base and comparison.head]
    ours = dict.fromkeys(name for pair in pairs for name in _first_passes(_moments(pair.base)))
    theirs = dict.fromkeys(name for pair in pairs for name in _first_passes(_moments(pair.head)))
    only = {
        "base": [name for name in ours if name not in theirs],
        "head": [name for name in theirs if name not in ours],
    }
    if not ours or not theirs or sum(map(len, only.values())) < _OTHER_COMPILER:
        return
    result = [f"only the {side} has {_listed(names)}" for side, names in only.items() if names]
    message = f"Another version of the compiler, by its pipelines: {', '.join(result)}."
    yield Cause(
        "compiler", message, Grade.GUESSED, _keys([pair for pair in pairs if not pair.same])
    )


def _moments(side: Sketched | None) -> Sequence[SnapshotDigest]:
    return side.moments if side else ()


def _begun_otherwise(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """Yield (pipeline, first pass of the base, of the head) where these differ."""
    if comparison.base is None or comparison.head is None:
        return
    ours, theirs = _first_passes(comparison.base.moments), _first_passes(comparison.head.moments)
    for pipeline in ours.keys() & theirs.keys():
        if not ours[pipeline] & theirs[pipeline]:
            yield pipeline, min(ours[pipeline]), min(theirs[pipeline])


def _first_passes(moments: Sequence[SnapshotDigest]) -> Mapping[str, set[str]]:
    """Return, by pipeline, the passes with which it began: every start of one is dumped."""
    result: dict[str, set[str]] = {}
    for moment in moments:
        if moment.after == _START and moment.pipeline and moment.before:
            result.setdefault(moment.pipeline, set()).add(moment.before)
    return result


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _programs(comparisons: Sequence[Comparison]) -> Iterator[Cause]:
    changed = [
        comparison for comparison in comparisons if comparison.divergence.where is Where.INPUT
    ]
    if changed:
        names = _listed(list(dict.fromkeys(comparison.one.sketch.name for comparison in changed)))
        message = f"The program itself differs before any pass ran, in {names}."
        yield Cause("program", message, Grade.EXACT, _keys(changed))


def _modules(comparisons: Sequence[Comparison]) -> Iterator[Cause]:
    for side, there in (("base", "head"), ("head", "base")):
        alone = [comparison for comparison in comparisons if getattr(comparison, there) is None]
        if alone:
            names = _listed(list(dict.fromkeys(comparison.one.sketch.name for comparison in alone)))
            how_many = units.plural(len(alone), "module")
            message = f"Only the {side} has {how_many}: {names}."
            yield Cause("modules", message, Grade.EXACT, _keys(alone))


def _ways(comparisons: Sequence[Comparison]) -> Iterator[Cause]:
    """Yield what tells same programs apart: what autotuning chose, and the first pass to differ."""
    parted = [
        comparison
        for comparison in comparisons
        if comparison.divergence.where in (Where.PASS, Where.UNKNOWN)
    ]
    yield from _tuning(parted)
    by_pass: dict[str, list[Comparison]] = {}
    for comparison in parted:
        by_pass.setdefault(parting(comparison), []).append(comparison)
    for text, members in sorted(by_pass.items(), key=lambda each: -_size(each[1])):
        where = units.plural(len(members), "module")
        yield Cause("pass", f"{text} ({where}).", Grade.EXACT, _keys(members))


def _tuning(parted: Sequence[Comparison]) -> Iterator[Cause]:
    """Tell autotuning: other settings of the same instructions, or parted where passes time."""
    settings = [comparison for comparison in parted if comparison.tuned]
    if settings:
        message = (
            f"Autotuning chose differently: {_names(settings)} ends in the same instructions, with "
            "other backend configurations."
        )
        yield Cause("autotuning", message, Grade.MATCHED, _keys(settings))
    timed = [
        comparison
        for comparison in parted
        if not comparison.tuned and _parts_at_a_picker(comparison)
    ]
    if timed:
        message = (
            f"Autotuning chose differently: {_names(timed)} is the same until the pass that times "
            "alternatives, and not after it."
        )
        yield Cause("autotuning", message, Grade.MATCHED, _keys(timed))


def _names(comparisons: Sequence[Comparison]) -> str:
    return _listed(list(dict.fromkeys(comparison.one.sketch.name for comparison in comparisons)))


def _parts_at_a_picker(comparison: Comparison) -> bool:
    sides = (
        (comparison.base, comparison.divergence.base),
        (comparison.head, comparison.divergence.head),
    )
    ran = [side.moments[at] for side, at in sides if side is not None and at is not None]
    words = [f"{each.pipeline} {each.after}" for each in ran]
    return bool(words) and all(any(sign in each for sign in _PICKERS) for each in words)


def _size(members: Sequence[Comparison]) -> int:
    """Return the instructions of all, so that what concerns the larger modules comes first."""
    return sum(member.one.summary.final.instructions or 0 for member in members)


def parting(comparison: Comparison) -> str:
    """Say in words where two compilations part, without a full stop."""
    if (
        comparison.base is None
        or comparison.head is None
        or comparison.divergence.where is Where.NOWHERE
    ):
        return "They do not part"
    if comparison.divergence.where is Where.UNKNOWN:
        return "The same program ends differently; no snapshots in between say which pass did it"
    if comparison.divergence.where is Where.INPUT:
        return "Input HLO differs (model change, not a compiler change)"
    base = _ran(comparison.base.moments, comparison.divergence.base)
    head = _ran(comparison.head.moments, comparison.divergence.head)
    if base == head:
        return f"They agree until {base}, which leaves something else in the head"
    return f"They agree, then part: next the base is changed by {base}, the head by {head}"


def _ran(moments: Sequence[SnapshotDigest], number: int | None) -> str:
    """Name the pass that ran last before a snapshot."""
    if number is None:
        return "nothing more"
    moment = moments[number]
    if moment.key == _END:
        return "something before the end"
    if moment.after is None:
        return f"what ran before {moment.label}"
    return f"`{moment.after}` in `{moment.pipeline}`" if moment.pipeline else f"`{moment.after}`"
