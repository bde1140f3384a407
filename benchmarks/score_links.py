"""Scores the links between modules against labels made by hand, and against TensorFlow's graphs.

Usage: `python benchmarks/score_links.py`; XLAREPORT_DUMPS names a folder of further unpacked dumps.
A link is right if tests/labels/links.tsv has the pair; a pair of `-` says that a dump has none. A
row counts as found if some link fits it.
"""

from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase

from cases import Label, analyzed, mains, opened, place_of, rows

from xlareport.analysis.modules.module_links import ModuleLink, link_modules
from xlareport.analysis.modules.processes import assign_processes
from xlareport.side_files import read_graphs

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """The links of one dump, and the labels that could be met there."""

    links: list[tuple[ModuleLink, Pair]]
    labels: list[Pair]


def labeled(dump: str) -> list[Pair]:
    """Return the patterns of the links of a dump that somebody knows."""
    return [
        (source, target) for name, source, target in rows("links.tsv") if fnmatchcase(dump, name)
    ]


def fits(pair: Pair, label: Pair) -> bool:
    """Return whether a pair of module names fits a label."""
    return fnmatchcase(pair[0], label[0]) and fnmatchcase(pair[1], label[1])


def found_links(label: Label, known: list[Pair]) -> Found | None:
    """Return the links of a dump with the names of their modules; None where it is not there."""
    place = place_of(label.dump)
    if place is None:
        return None
    with opened(place, anonymous=False) as source:
        made = analyzed(source)
        graphs, _ = read_graphs(made.grouped.others)
    names = {summary.files.key: summary.display_name for summary in made.summaries}
    linked = [
        (one, (names[one.source], names[one.target]))
        for one in link_modules(made.summaries, assign_processes(made.summaries), graphs)
    ]
    possible = [one for one in known if _is_there(one, list(names.values()))]
    return Found(linked, possible)


def _is_there(label: Pair, names: list[str]) -> bool:
    return all(any(fnmatchcase(name, one) for name in names) for one in label)


def main() -> None:
    """Print one line for each dump whose links are known, and the sums."""
    sums: Counter[str] = Counter()
    print(f"{'dump':34}{'exact':>7}{'guessed':>9}{'right':>7}{'known':>7}{'met':>5}")
    for label in mains():
        known = labeled(label.dump)
        found = found_links(label, known) if known else None
        if found is not None:
            _print_dump(label.dump, found, known, sums)
    for grade in ("exact", "guessed"):
        share = sums[f"{grade} right"] / sums[grade] if sums[grade] else 0
        print(f"{grade} links that are right: {sums[f'{grade} right']}/{sums[grade]} ({share:.1%})")
    print(f"known links that were found: {sums['met']}/{sums['known']}")


def _print_dump(dump: str, found: Found, known: list[Pair], sums: Counter[str]) -> None:
    right = [one for one, pair in found.links if any(fits(pair, label) for label in known)]
    met = [label for label in found.labels if any(fits(pair, label) for _, pair in found.links)]
    exact = sum(one.grade == "exact" for one, _ in found.links)
    guessed = len(found.links) - exact
    print(f"{dump:34}{exact:>7}{guessed:>9}{len(right):>7}{len(found.labels):>7}{len(met):>5}")
    for one, pair in found.links:
        if one not in right:
            print(f"    not right: {pair[0]} -> {pair[1]}, {one.grade}: {one.reason}")
        sums[one.grade] += 1
        sums[f"{one.grade} right"] += one in right
    for source, target in (one for one in found.labels if one not in met):
        print(f"    not found: {source} -> {target}")
    sums["known"] += len(found.labels)
    sums["met"] += len(met)


if __name__ == "__main__":
    main()
