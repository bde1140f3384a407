"""Ranks on the page of the program: a matrix of modules by ranks, and where modules differ."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.ranks.numbers import RankNumbers
from xlareport.analysis.ranks.rank_groups import RankGroup
from xlareport.analysis.ranks.verdicts import RankDifference, RankVerdict
from xlareport.pages import navigation, words
from xlareport.pages.navigation import Link
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import Cell, Column, Table
from xlareport.records.module_outline import ModuleOutline
from xlareport.records.report import ReportRecord
from xlareport.runtime import units
from xlareport.runtime.grouping import group_by_key

RANKS_TABLE = "program-ranks"
"""The payload key of the matrix."""

_NONE = "\N{EN DASH}"
_NAMED = 3
_COLUMNS = 64
_DETAILS_SHOWN = 20
_WORDS: Mapping[RankVerdict, str] = {
    RankVerdict.DANGEROUS: "dangerous",
    RankVerdict.NUMBERS: "numbers and speed",
    RankVerdict.UNKNOWN: "not known",
    RankVerdict.DEVICE_LOCAL: "device-local",
    RankVerdict.HARMLESS: "harmless",
    RankVerdict.SAME: "same",
}
_SIGNS = {RankVerdict.DANGEROUS: "xr-removed", RankVerdict.NUMBERS: "xr-changed"}
"""Classes of the verdicts' chips; others are plain."""


class RankDetail(Struct, frozen=True):
    """A module that differs from that of most ranks."""

    module: Link
    verdict: str
    sign: str
    lead: Markup
    rows: tuple[tuple[str, str], ...]
    """Labels and values of the first difference."""


class RanksSection(Struct, frozen=True):
    """The page's section on ranks."""

    lead: Markup
    details: tuple[RankDetail, ...]
    more: str
    """How many differences are not shown; empty where all are."""


def ranks_section(report: ReportRecord) -> RanksSection | None:
    """Make the section; None where one process wrote the dump, or the processes are not known."""
    if len(report.ranks) < 2:
        return None
    shown = [
        (group, difference)
        for group in report.rank_groups
        for difference in (group.first, *group.others)
        if difference is not None
    ]
    shown.sort(key=lambda row: list(_WORDS).index(row[1].verdict))
    modules = report.by_key
    more = len(shown) - _DETAILS_SHOWN
    return RanksSection(
        lead=prose(describe_rank(report)),
        details=tuple(_detail(*row, modules, report.ranks) for row in shown[:_DETAILS_SHOWN]),
        more=f"And {units.plural(more, 'difference')} more, in report.json." if more > 0 else "",
    )


def describe_rank(report: ReportRecord) -> str:
    """Return in a few sentences how the modules of the ranks agree; names are in backticks."""
    total = units.plural(len(report.ranks), "rank")
    groups = report.rank_groups
    different = [group for group in groups if group.verdict is not RankVerdict.SAME]
    missing = [group for group in groups if group.missing]
    everywhere = sum(_is_everywhere(group, report) for group in groups)
    lone = len(report.outlines) - len({key for group in groups for key in group.modules})
    if not different and not missing and not lone and everywhere == len(groups):
        modules = "module" if len(groups) == 1 else f"{len(groups):,} modules"
        return f"All {total} compiled the same {modules}: no difference."
    sentences = [f"{total}; {units.plural(everywhere, 'module')} equal in all of them."]
    sentences += [_group_words(group, report) for group in different[:_NAMED]]
    if len(different) > _NAMED:
        sentences.append(f"{units.plural(len(different) - _NAMED, 'further module')} differ.")
    sentences += [_missing_words(group, report) for group in missing[:_NAMED]]
    if len(missing) > _NAMED:
        more = units.plural(len(missing) - _NAMED, "further module is", "further modules are")
        sentences.append(f"{more} missing in some ranks.")
    return " ".join(sentences)


def _is_everywhere(group: RankGroup, report: ReportRecord) -> bool:
    is_same = group.verdict is RankVerdict.SAME and len(group.ranks) == 1
    return is_same and count_ranks(group) == len(report.ranks)


def _group_words(group: RankGroup, report: ReportRecord) -> str:
    name = words.short_name(group.name)
    if group.first is None:
        return f"`{name}` differs; how was not determined."
    who = _who(group.ranks[group.modules.index(group.first.module)], report.ranks)
    return f"`{name}` of {who} differs: {_WORDS[group.first.verdict]}."


def _missing_words(group: RankGroup, report: ReportRecord) -> str:
    name, who = words.short_name(group.name), _who(group.missing, report.ranks)
    if not group.collectives:
        return f"`{name}` is missing in {who}."
    return (
        f"`{name}` is missing in {who}. It has collectives: where a rank that holds one of their "
        "devices does not run it, the others wait."
    )


def _who(ranks: RankNumbers, names: Sequence[str]) -> str:
    numbers = tuple(ranks)
    shown = [f"`{names[number - 1]}`" for number in numbers[:_NAMED]]
    more = len(numbers) - len(shown)
    if more == 1:
        return ", ".join([*shown, f"`{names[numbers[-1] - 1]}`"])
    return f"{', '.join(shown)} and {more:,} more" if more else ", ".join(shown)


def count_ranks(group: RankGroup) -> int:
    """Return how many processes compiled a program."""
    return sum(map(len, group.ranks))


def _detail(
    group: RankGroup,
    difference: RankDifference,
    modules: Mapping[str, ModuleOutline],
    names: Sequence[str],
) -> RankDetail:
    module = modules[difference.module]
    ranks = group.ranks[group.modules.index(difference.module)]
    others = group.ranks[group.modules.index(difference.reference)]
    return RankDetail(
        module=_link(module),
        verdict=_WORDS[difference.verdict],
        sign=_SIGNS.get(difference.verdict, ""),
        lead=prose(
            f"{_who(ranks, names)}, compared with {_who(others, names)}. {difference.reason}"
        ),
        rows=tuple(_difference_rows(difference)),
    )


def _difference_rows(difference: RankDifference) -> Iterator[tuple[str, str]]:
    where = "Step" if difference.computation or difference.attribute == "snapshot" else "In"
    instruction = difference.instruction or "none"
    reference = difference.reference_instruction or "none"
    if difference.instruction and instruction != reference and difference.reference_instruction:
        instruction = f"{instruction}; most ranks: {reference}"
    rows = (
        (where, difference.step),
        ("Computation", difference.computation),
        ("Instruction", instruction if difference.instruction or reference != "none" else ""),
        ("What differs", difference.attribute),
        ("Here", difference.value),
        ("Most ranks", difference.reference_value),
        ("Fusion pass", difference.decision),
        ("Grade", difference.grade),
    )
    yield from ((label, value) for label, value in rows if value)


def _link(module: ModuleOutline) -> Link:
    address = navigation.module_address(module.slug)
    return Link(words.short_name(module.name), address)


def tabulate_ranks(report: ReportRecord) -> Table:
    """Return the matrix: a row for each module, a column for ranks with equal modules.

    Letters identify the modules of one row: `A` is that of most ranks.
    """
    modules = report.by_key
    rows = list(_matrix_rows(report))
    ranks = range(1, len(report.ranks) + 1)
    patterns = group_by_key((tuple(row.letter(rank) for row in rows), rank) for rank in ranks)
    shown = list(patterns.values())[:_COLUMNS]
    columns = (
        Column("Module", "link"),
        Column("Verdict", "chip"),
        *(Column(_heading(numbers, report.ranks), "link") for numbers in shown),
    )
    return Table(columns, [_cells(row, shown, modules) for row in rows])


class _MatrixRow(Struct, frozen=True):
    """A program, the module of each rank, and the severity of their difference."""

    keys: tuple[str, ...]
    ranks: tuple[RankNumbers, ...]
    verdict: RankVerdict

    def place(self, number: int) -> int | None:
        """Return which of the modules a rank has; None where it has none."""
        return next((at for at, some in enumerate(self.ranks) if number in some), None)

    def letter(self, number: int) -> str:
        """Return the letter of the module that a rank has."""
        at = self.place(number)
        return _NONE if at is None else (chr(ord("A") + at) if at < 26 else f"A{at}")


def _matrix_rows(report: ReportRecord) -> Iterator[_MatrixRow]:
    """Yield the gravest rows first, then those in the order of the modules."""
    grouped = {key for group in report.rank_groups for key in group.modules}
    groups = [
        _MatrixRow(group.modules, group.ranks, group.verdict)
        for group in report.rank_groups
        if group.ranks
    ]
    lone = [
        _MatrixRow((module.key,), (module.ranks,), RankVerdict.SAME)
        for module in report.outlines
        if module.key not in grouped and module.ranks
    ]
    order = list(_WORDS)
    yield from sorted([*groups, *lone], key=lambda row: order.index(row.verdict))


def _heading(numbers: Sequence[int], names: Sequence[str]) -> str:
    first = names[numbers[0] - 1]
    return f"{first} and {len(numbers) - 1:,} more" if len(numbers) > 1 else first


def _cells(
    row: _MatrixRow, shown: Sequence[Sequence[int]], modules: Mapping[str, ModuleOutline]
) -> list[Cell]:
    first = _link(modules[row.keys[0]])
    cells: list[Cell] = [
        [first.name, first.address],
        [_verdict(row, shown), _SIGNS.get(row.verdict, "")],
    ]
    for numbers in shown:
        at = row.place(numbers[0])
        letter = row.letter(numbers[0])
        cells.append(letter if at is None else [letter, _link(modules[row.keys[at]]).address])
    return cells


def _verdict(row: _MatrixRow, shown: Sequence[Sequence[int]]) -> str:
    """Return the verdict; a program that some ranks did not compile is not the same in all."""
    missing = any(row.place(numbers[0]) is None for numbers in shown)
    same = row.verdict is RankVerdict.SAME
    return "not in every rank" if same and missing else _WORDS[row.verdict]
