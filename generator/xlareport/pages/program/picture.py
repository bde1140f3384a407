"""The picture of the whole program: modules in the order of their compilation, links as arrows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from heapq import nsmallest

from xlareport.analysis.modules.module_links import ModuleLink
from xlareport.analysis.modules.module_role import HELPERS, ModuleRole
from xlareport.pages import words
from xlareport.pictures.draw import PictureRequest
from xlareport.pictures.drawing import Arrow, Box, Drawing, Family, Group
from xlareport.records.module_outline import ModuleOutline
from xlareport.records.report import ReportRecord
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

_DRAWN = 60
_LEAST_MODULES = 2
_LABEL = 28
_FAMILIES: Mapping[str, Family] = {
    ModuleRole.MAIN: "dark-blue",
    ModuleRole.EVALUATION: "green",
    ModuleRole.INITIALIZATION: "orange",
    ModuleRole.RANDOM_NUMBERS: "yellow",
    ModuleRole.SUMMARY: "purple",
    ModuleRole.TRANSFER: "gray",
}


def program_picture(report: ReportRecord) -> PictureRequest | None:
    """Return the drawing of user programs and linked helpers; None without two modules."""
    linked = {key for link in report.links for key in link.ends}
    drawn = _modules_that_fit(
        module for module in report.outlines if module.key in linked or module.role not in HELPERS
    )
    keys = {module.key for module in drawn}
    links = [link for link in report.links if link.source in keys and link.target in keys]
    if len(drawn) < _LEAST_MODULES:
        return None
    left_out = Counter(module.role for module in report.outlines if module.key not in keys)
    notes = (_left_out(left_out),) if left_out else ()
    nodes = tuple(_node(module) for module in drawn)
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


def _left_out(roles: Counter[str]) -> str:
    """Return how many modules are not drawn, by role."""
    counted = ", ".join(f"{role} ({count:,})" for role, count in roles.most_common())
    return f"{units.plural(roles.total(), 'module')} not shown: {counted}."


def _modules_that_fit(modules: Iterable[ModuleOutline]) -> list[ModuleOutline]:
    """Return the modules that fit, in order: helpers are removed first, then the lowest ranked."""
    first = nsmallest(
        _DRAWN, enumerate(modules), key=lambda row: (row[1].role in HELPERS, row[1].rank)
    )
    return [module for _, module in sorted(first, key=lambda row: row[0])]


def _node(module: ModuleOutline) -> Box:
    number = "" if module.id is None else f"module {module.id}: "
    name = words.short_name(module.name)
    if len(name) > _LABEL:
        name = f"{name[: _LABEL - 1]}\N{HORIZONTAL ELLIPSIS}"
    return Box(
        id=module.key,
        lines=(name, f"{number}{module.role}"),
        family=_FAMILIES.get(module.role, "white"),
        tooltip=f"{module.key}: {module.role_reason}",
    )


def _edge(link: ModuleLink) -> Arrow:
    many = "" if len(link.tensors) < 2 else str(len(link.tensors))
    return Arrow(*link.ends, many, "normal" if link.grade == "exact" else "thin")


def _groups(drawn: Sequence[ModuleOutline], report: ReportRecord) -> tuple[Group, ...]:
    """Return frames for the modules of each process, or for recompilations of one function."""
    if (report.processes or 0) > 1:
        return tuple(_of_processes(drawn, report.ranks))
    members = group_by_key(
        (module.retrace_group, module.key)
        for module in drawn
        if module.retrace_group is not None and module.role not in HELPERS
    )
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


def _of_processes(drawn: Sequence[ModuleOutline], names: Sequence[str]) -> Iterator[Group]:
    known = ((module.process, module.key) for module in drawn if module.process is not None)
    for number, keys in group_by_key(known).items():
        name = names[number - 1]
        yield Group(f"process-{number}", name, "scope", tuple(keys))
