"""The picture of the whole program: modules in the order of their compilation, links as arrows."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b

from xlareport.analysis.modules.links import ModuleLink
from xlareport.pages import words
from xlareport.pictures.draw import PictureRequest
from xlareport.pictures.drawing import Arrow, Box, Drawing, Family, Group
from xlareport.records.findings import HELPERS
from xlareport.records.report import ModuleView, ReportView
from xlareport.runtime import units

_DRAWN = 60
_LEAST = 2
_LABEL = 28
_FAMILIES: Mapping[str, Family] = {
    "main": "dark-blue",
    "evaluation": "green",
    "initialisation": "orange",
    "random numbers": "yellow",
    "report or summary": "purple",
    "cast or transfer": "gray",
}


def program_picture(report: ReportView) -> PictureRequest | None:
    """Draw what somebody wrote, and the helpers that are linked; None without two modules."""
    linked = {key for one in report.links for key in (one.source, one.target)}
    drawn = _first([one for one in report.modules if one.key in linked or one.role not in HELPERS])
    keys = {one.key for one in drawn}
    links = [one for one in report.links if one.source in keys and one.target in keys]
    if len(drawn) < _LEAST:
        return None
    left_out = len(report.modules) - len(drawn)
    notes = (_left_out(left_out),) if left_out else ()
    nodes = tuple(_node(one) for one in drawn)
    drawing = Drawing(
        title="The whole program",
        nodes=nodes,
        edges=tuple(map(_edge, links)),
        groups=_groups(drawn, report),
        notes=notes,
        has_legend=False,
    )
    key = blake2b(repr(drawing).encode(), digest_size=10).hexdigest()
    return PictureRequest(f"pictures/{key}", (drawing,), plain=True)


def _left_out(many: int) -> str:
    return (
        f"{units.plural(many, 'module')} not shown: single operations and other helpers that are "
        "linked to nothing, or more than fit."
    )


def _first(modules: Sequence[ModuleView]) -> list[ModuleView]:
    """Keep what fits, in its order: helpers go first, then what is ranked last."""
    kept = sorted(modules, key=lambda one: (one.role in HELPERS, one.rank))[:_DRAWN]
    keys = {one.key for one in kept}
    return [one for one in modules if one.key in keys]


def _node(one: ModuleView) -> Box:
    number = "" if one.id is None else f"module {one.id}: "
    name = words.short_name(one.name)
    if len(name) > _LABEL:
        name = f"{name[: _LABEL - 1]}\N{HORIZONTAL ELLIPSIS}"
    return Box(
        id=one.key,
        lines=(name, f"{number}{one.role}"),
        family=_FAMILIES.get(one.role, "white"),
        tooltip=f"{one.key}: {one.role_reason}",
    )


def _edge(one: ModuleLink) -> Arrow:
    many = "" if len(one.tensors) < 2 else str(len(one.tensors))
    return Arrow(one.source, one.target, many, "normal" if one.grade == "exact" else "thin")


def _groups(drawn: Sequence[ModuleView], report: ReportView) -> tuple[Group, ...]:
    """Frame what each of several processes compiled, else the compilations of one function."""
    if (report.processes or 0) > 1:
        return tuple(_of_processes(drawn))
    members: dict[int, list[str]] = {}
    for one in drawn:
        if one.retrace_group is not None and one.role not in HELPERS:
            members.setdefault(one.retrace_group, []).append(one.key)
    return tuple(
        Group(
            f"retrace-{place}",
            f"{report.retrace_groups[place].name}, compiled again",
            "scope",
            tuple(keys),
        )
        for place, keys in members.items()
        if len(keys) > 1
    )


def _of_processes(drawn: Sequence[ModuleView]) -> Iterator[Group]:
    members: dict[int, list[str]] = defaultdict(list)
    for one in drawn:
        if one.process is not None:
            members[one.process].append(one.key)
    for number, keys in members.items():
        yield Group(f"process-{number}", f"process {number}", "scope", tuple(keys))
