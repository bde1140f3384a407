"""Writes the tables of recorded scores into the guide's page: `python benchmarks/publish.py`.

The table of readings by hand is counted from `tests/labels/readings.tsv`.

With `--check` it writes nothing; the exit status is 1 if the page does not show what was recorded.
"""

import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from record import Row, recorded

_ROOT = Path(__file__).resolve().parent.parent
_PAGE = _ROOT / "site_src/guide/matching.md"
_READINGS = _ROOT / "tests/labels/readings.tsv"
_FIRST_ROUND = 19
"""The first round of readings that the guide counts: those before led to most of the rules."""
_END = "<!-- end of scores -->"
_BACKENDS = {"cpu": "CPU", "gpu": "GPU", "tpu": "TPU", "all": "All"}
_SNAPSHOTS = {"every snapshot": "all", "both ends alone": "first and final only"}
_KINDS = {"account": "step", "history": "history"}
_GRADES: Mapping[str, Callable[[Mapping[str, str]], bool]] = {
    "exact": lambda row: row["grade"] == "exact",
    "matched": lambda row: row["grade"] == "matched",
    "guessed": lambda row: row["grade"] == "guessed",
    "all": lambda _: True,
}
_ByPlace = dict[tuple[str | int, str | int, str | int], Row]
_STEPS = {
    "steps": "Steps with changes",
    "count": "Steps whose change in instruction count is not added minus removed",
    "nothing": "Steps reported as unchanged that are not",
    "histories": "Modules with histories",
    "gone": "Heavy instructions reported as removed though the final snapshot has their op_name",
    "made": "Heavy instructions attributed to the program that the first snapshot does not have",
    "reasons": "Changes whose reason names a use that is not in the snapshots",
    "inlined": "Computations with more calls reported as inlined than are gone",
    "holds": "Fusions graded exact with a wrong or an incomplete list of sources",
    "crosses": "Pairs that shapes, places, attributes or start values contradict",
    "equals": "Merged or cloned instructions of which readers read another, equal one",
    "lengths": "Steps with float sums of a new length and no change of numerics named",
}


def main() -> None:
    """Replace what stands between the marks of each section, or check it."""
    page = _PAGE.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--check"]:
        sys.exit(page != published(page))
    _PAGE.write_text(published(page), encoding="utf-8")


def published(page: str) -> str:
    """Return a page with the recorded tables between its marks; other text stays."""
    tables = {
        "trails": _trails(recorded("trails")),
        "unseen_trails": _trails(recorded("unseen_trails")),
        "op_names": _op_names(recorded("op_names")),
        "ends": _ends(recorded("ends")),
        "roots": _roots(recorded("roots")),
        "steps": _steps(recorded("steps"), recorded("steps_of_test_data")),
        "rewrites": _rewrites(recorded("rewrites")),
        "values": _values(recorded("values"), recorded("missed_values")),
        "readings": _readings(),
    }
    for section, lines in tables.items():
        head, mark, tail = page.partition(f"<!-- scores: {section} -->\n")
        text = "\n".join(["", *lines, "", ""]) if lines else "\n"
        page = head + mark + text + tail[tail.index(_END) :] if mark else page
    return page


def _trails(rows: Sequence[Row]) -> list[str]:
    """Return a row for each input of the matcher; a cell has the shares right back and forward."""
    by_place = {(row["seen"], row["backend"], row["direction"]): row for row in rows}
    seen = dict.fromkeys(str(row["seen"]) for row in sorted(rows, key=_order))
    head = ["op_names", "Snapshots", *_BACKENDS.values(), "Wrong"]
    cells = [[*_input(name), *_ended(by_place, name)] for name in seen]
    return _table(head, cells) if rows else []


def _input(seen: str) -> tuple[str, str]:
    names, _, snapshots = seen.partition(", ")
    return names.removesuffix(" op_names"), _SNAPSHOTS[snapshots]


def _order(row: Row) -> tuple[bool, bool]:
    seen = str(row["seen"])
    return "alone" in seen, not seen.startswith("shared")


def _ended(by_place: _ByPlace, seen: str) -> Iterable[str]:
    for backend in _BACKENDS:
        pair = [by_place[seen, backend, direction] for direction in ("back", "forward")]
        yield " / ".join(_share(row, "right", "wrong", "lost") for row in pair)
    yield " / ".join(f"{row['wrong']:,}" for row in pair)


def _op_names(rows: Sequence[Row]) -> list[str]:
    head = ["The matcher saw", "Direction", "Instructions", "Recall", "Precision"]
    cells = [
        [
            str(row["seen"]),
            str(row["direction"]),
            f"{sum(int(row[key]) for key in ('right', 'wrong', 'lost')):,}",
            _share(row, "right", "wrong", "lost"),
            _share(row, "right", "wrong"),
        ]
        for row in rows
        if row["opcode"] == "all"
    ]
    return _table(head, cells) if rows else []


def _ends(rows: Sequence[Row]) -> list[str]:
    """Return the section with its heading: without figures there is none."""
    cells = [
        [
            _ENDS[str(row["end"])],
            f"{int(row['right']) + int(row['wrong']):,}",
            _share(row, "right", "wrong"),
            f"{row['unknown']:,}",
        ]
        for row in rows
    ]
    table = _table(["Instructions", "With a reason", "Of these right", "Not known"], cells)
    return ["### Before and after alone", "", _BOTH_ENDS, "", *table] if rows else []


_ENDS = {"first": "reported as removed", "final": "reported as added"}
_BOTH_ENDS = (
    "A dump without the passes in between has one step, from the first snapshot to the final one. "
    "In dumps of every pass, the histories over all snapshots tell whether an instruction was "
    "removed or added. New constants are not counted."
)


def _roots(rows: Sequence[Row]) -> list[str]:
    cells = [
        [
            _DEVICES[str(row["devices"])],
            f"{sum(int(row[verdict]) for verdict in _VERDICTS):,}",
            *(_share(row, verdict, *(set(_VERDICTS) - {verdict})) for verdict in _VERDICTS),
        ]
        for row in rows
    ]
    head = ["Modules", "Final instructions", *_VERDICTS.values()]
    return [_ROOTS, "", *_table(head, cells)] if rows else []


_VERDICTS = {
    "right": "Equal",
    "partly": "Partly equal",
    "wrong": "Others",
    "invented": "New by the histories",
    "missed": "Not known",
}
_DEVICES = {"one": "of one device", "several": "of several devices"}
_ROOTS = (
    "From which instructions of the first snapshot each final instruction comes, by the one step "
    "and by the histories over all snapshots. Reshapes, bitcasts, copies, constants and tuples are "
    "not counted."
)


def _steps(every: Sequence[Row], small: Sequence[Row]) -> list[str]:
    """Return the counts and whose they are: of the test data alone where nothing else was read."""
    cells = [[_STEPS[str(row["of"])], f"{row['count']:,}"] for row in every or small]
    dumps = _EVERY_DUMP if every else _TEST_DATA
    return [dumps, "", *_table(["What was checked", "Count"], cells)] if cells else []


_EVERY_DUMP = "Counted over the test data of the repository and the available dumps."
_TEST_DATA = "Counted over the test data of the repository only."


def _values(rows: Sequence[Row], missed: Sequence[Row]) -> list[str]:
    """Return the section with its heading, by grade: without figures there is none."""
    cells = []
    for grade in dict.fromkeys(str(row["grade"]) for row in rows):
        equal, other = (
            sum(int(row[key]) for row in rows if row["grade"] == grade)
            for key in ("equal", "other")
        )
        share = f"{equal:,} ({100 * equal / (equal + other):.2f}%)" if equal + other else ""
        cells.append([grade, f"{equal + other:,}", share])
    table = _table(["Grade", "Pairs run", "Equal values"], cells)
    more = [_MISSED, "", *_missed_values(missed)] if missed else []
    dumps = f"{_RUN} Counted over {missed[0]['dumps']} dumps." if missed else _RUN
    return ["### Run on the CPU", "", dumps, "", *table, "", *more] if rows else []


def _missed_values(rows: Sequence[Row]) -> list[str]:
    head = ["Snapshots", "Reported as", "Run", "Value on the other side", "Not reported"]
    cells = [
        [str(row["snapshots"]), str(row["told"]), *(f"{row[key]:,}" for key in _COUNTED)]
        for row in rows
        if row["run"]
    ]
    return _table(head, cells)


_COUNTED = "run", "equal", "missed"
_MISSED = (
    "The same programs also show what is missed. Counted are instructions that a step reports and "
    "that compute at least eight floats. Where the same value is on the other side, the step has "
    "to connect the two. All floats have 64 bits here, so equal values differ by rounding alone."
)


_RUN = (
    "Entry computations and loop bodies before and after each step run on the same random inputs. "
    "Loops, collectives and custom calls are inputs, and so are instructions that are reported to "
    "read other operands. Modules have up to 1,500 instructions; of each pass one step in a dump "
    "is run. Steps of the SPMD partitioner are left out. Elements may be in another order; the "
    "relative tolerance is 1%, or 6% for types of fewer than 32 bits."
)


def _rewrites(rows: Sequence[Row]) -> list[str]:
    """Return the section with its heading: without figures there is none."""
    head = ["Rewrite", "Exact right", "Matched right", "Recall", "To find"]
    cells = [
        [
            f"**{row['rewrite']}**" if row["rewrite"] == "all" else str(row["rewrite"]),
            _share(row, "exact_right", "exact_wrong"),
            _share(row, "matched_right", "matched_wrong"),
            f"{100 * int(row['found']) / int(row['to_find']):.2f}%" if row["to_find"] else "",
            f"{row['to_find']:,}",
        ]
        for row in rows
    ]
    return ["### Known rewrites", "", _KNOWN_REWRITES, "", *_table(head, cells)] if rows else []


_KNOWN_REWRITES = (
    "Real modules are rewritten in known ways, so every match can be checked. *Right* is the share "
    "of correct matches of a grade. *Recall* is the share of true matches that were found. "
    "Unchanged lines are not counted: a pure reordering has nothing to find."
)


def _readings() -> list[str]:
    """Return the verdicts of the later rounds, by what was read and by its grade."""
    with _READINGS.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    head = ["Read", "Grade", "Count", "Right", "Vague", "Misleading", "Wrong"]
    later = [row for row in rows if int(row["round"]) >= _FIRST_ROUND]
    cells = [
        [name, grade, *_verdicts(row for row in later if row["kind"] == kind and fits(row))]
        for kind, name in _KINDS.items()
        for grade, fits in _GRADES.items()
    ]
    return _table(head, cells)


def _verdicts(rows: Iterable[Mapping[str, str]]) -> list[str]:
    counts = Counter(row["verdict"] for row in rows)
    count = counts.total()
    right = f"{counts['right']:,} ({100 * counts['right'] / count:.1f}%)"
    return [f"{count:,}", right, *(str(counts[key]) for key in ("vague", "misleading", "wrong"))]


def _share(row: Row, part: str, *others: str) -> str:
    """Return the share of one count of several in percent; empty where there is nothing."""
    whole = sum(int(row[key]) for key in (part, *others))
    return f"{100 * int(row[part]) / whole:.1f}%" if whole else ""


def _table(head: Sequence[str], cells: Iterable[Sequence[str]]) -> list[str]:
    rows = [head, ["---"] * len(head), *cells]
    return [f"| {' | '.join(row)} |" for row in rows]


if __name__ == "__main__":
    main()
