"""The reason of a collective in terms of the program: scope, phase, mesh axes."""

from collections import Counter

from xlareport.analysis.collectives.collective_rows import CollectiveOrigin, CollectiveRow
from xlareport.analysis.collectives.sharding_pair import ShardingPair
from xlareport.analysis.source.scopes import (
    Phase,
    phase_of,
    scope_of,
    split_merged,
    split_path,
    without_control_flow,
)
from xlareport.records.shardings import MeshRecord, words_along
from xlareport.runtime.english import capitalize, first_few, fits_code, plain

_MOST_PLACES = 2
"""Ops of a combined collective that a cell names."""
_MOST_UPDATES = 3


def describe_reason(
    row: CollectiveRow, axes: tuple[str, ...], mesh: MeshRecord | None = None
) -> str:
    """Return a cell: scope and phase of the framework's op, the axes of its groups, and the cause.

    Of a combined collective these are the ops of the largest parts.
    """
    return plain(describe_coded_reason(row, axes, mesh))


def _reason(row: CollectiveRow, axes: tuple[str, ...], cause: str) -> str:
    where = _op_words(row)
    along = f"along mesh axis {axes[0]}" if len(axes) == 1 else ""
    if len(axes) > 1:
        along = f"along mesh axes {', '.join(axes)}"
    place = ", ".join(filter(None, (where, along if where else capitalize(along))))
    reason = f"{place}. {capitalize(cause)}" if place else capitalize(cause)
    return f"{reason} {_update_words(row)}".rstrip()


def _update_words(row: CollectiveRow) -> str:
    """Return the arguments that are updated with what a collective reduces: a gradient mostly."""
    if not row.updates:
        return ""
    names = first_few([f"`{name}`" for name in row.updates if fits_code(name)], _MOST_UPDATES)
    names_of_ops = [row.op_name, *(member.op_name for member in row.members)]
    is_gradient = any(phase_of(name) is Phase.BACKWARD for name in names_of_ops)
    return f"{'The gradient' if is_gradient else 'What it reduces'} updates {names}."


def _op_words(row: CollectiveRow) -> str:
    """Return the ops of a collective with their phases, of a combined one the largest ones."""
    if not row.members:
        names = split_merged(row.op_name)
        return _scope_words(names[0]) if len(names) == 1 else ""
    sizes: Counter[str] = Counter()
    for member in row.members:
        sizes[_scope_words(member.op_name)] += member.data_bytes or 0
    sizes.pop("", None)
    places = [place for place, _ in sizes.most_common()]
    return first_few(_run_on(places[:_MOST_PLACES]), _MOST_PLACES, len(places))


def _run_on(places: list[str]) -> list[str]:
    """Return places as one capitalized list: a phase is written only where it changes."""
    shortened, last = places[:1], places[0].partition(" ")[0] if places else ""
    for place in places[1:]:
        phase, _, path = place.partition(" ")
        other = f"{phase.lower()} {path}" if path else place
        shortened.append(path if path and phase == last else other)
        last = phase
    return shortened


def cause_words(
    origin: CollectiveOrigin, pair: ShardingPair | None, mesh: MeshRecord | None
) -> str:
    """Return the cause of a collective, with its shardings along the axes of the mesh."""
    return plain(_coded_cause(origin, pair, mesh))


def describe_coded_reason(
    row: CollectiveRow, axes: tuple[str, ...], mesh: MeshRecord | None = None
) -> str:
    """Return the same as `describe_reason`, with names in backticks."""
    return _reason(row, axes, _coded_cause(row.origin, row.sharding, mesh))


def _coded_cause(
    origin: CollectiveOrigin, pair: ShardingPair | None, mesh: MeshRecord | None
) -> str:
    detail = origin.detail or origin.cause_reason or ""
    for written in (pair.from_, pair.to) if pair else ():
        if written:
            detail = detail.replace(f"`{written}`", _sharding_words(written, mesh))
    return detail


def _sharding_words(written: str, mesh: MeshRecord | None) -> str:
    """Return a sharding as a part of a sentence: without its explanation, several in brackets."""
    words = words_along(written, mesh, explained=False)
    return f"({words})" if "," in words else words


def _scope_words(op_name: str) -> str:
    """Return phase and path, `backward block3/ffn/dot_general`, without levels of control flow."""
    if "/" not in op_name:
        return ""
    path = [*scope_of(op_name).split("/"), split_path(op_name)[-1]]
    phase = phase_of(op_name)
    words = "" if phase is Phase.OTHER else f"{capitalize(phase.value)} "
    return f"{words}{'/'.join(without_control_flow(filter(None, path)))}"
