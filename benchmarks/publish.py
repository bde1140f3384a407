"""Writes the tables of recorded scores into the guide's page: `python benchmarks/publish.py`.

With `--check` it writes nothing; the exit status is 1 if the page does not show what was recorded.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from record import Row, recorded

_PAGE = Path(__file__).resolve().parent.parent / "site_src/guide/matching.md"
_END = "<!-- end of scores -->"
_BACKENDS = {"cpu": "CPU", "gpu": "GPU", "tpu": "TPU", "all": "**all**"}
_ByPlace = dict[tuple[str | int, str | int, str | int], Row]
_STEPS = {
    "steps": "Steps that change something",
    "count": "of these, the count of instructions is not what was added less what was removed",
    "nothing": "of these, said to change nothing, and do",
    "histories": "Modules with histories",
    "gone": "heavy instructions said to be gone though the last snapshot has their op_name",
    "made": "heavy instructions said to be the program's that the first snapshot does not have",
    "holds": "fusions graded exact with other sources than held, or that omit what went into them",
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
        "steps": _steps(recorded("steps"), recorded("steps_of_test_data")),
        "rewrites": _rewrites(recorded("rewrites")),
    }
    for section, lines in tables.items():
        head, mark, tail = page.partition(f"<!-- scores: {section} -->\n")
        text = "\n".join(["", *lines, "", ""]) if lines else "\n"
        page = head + mark + text + tail[tail.index(_END) :] if mark else page
    return page


def _trails(rows: Sequence[Row]) -> list[str]:
    by_place = {(row["seen"], row["backend"], row["direction"]): row for row in rows}
    shown = dict.fromkeys((row["seen"], row["backend"]) for row in sorted(rows, key=_order))
    head = ["The matcher saw", "Backend", "Back: right", "wrong", "Forward: right", "wrong"]
    cells = [
        [str(seen), _BACKENDS[str(backend)], *_ended(by_place, seen, backend)]
        for seen, backend in shown
    ]
    return _table(head, cells) if rows else []


def _order(row: Row) -> tuple[bool, bool, bool, str | int]:
    seen = str(row["seen"])
    alone, total = "alone" in seen, row["backend"] == "all"
    return alone, not seen.startswith("shared"), total, row["backend"]


def _ended(by_place: _ByPlace, seen: str | int, backend: str | int) -> Iterable[str]:
    for direction in ("back", "forward"):
        row = by_place[seen, backend, direction]
        asked = sum(int(row[key]) for key in ("right", "wrong", "lost"))
        yield f"{row['right']:,} of {asked:,}, {_share(row, 'right', 'wrong', 'lost')}"
        yield f"{row['wrong']:,}"


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


def _steps(every: Sequence[Row], small: Sequence[Row]) -> list[str]:
    """Return the counts and whose they are: of the test data alone where nothing else was read."""
    cells = [[_STEPS[str(row["of"])], f"{row['count']:,}"] for row in every or small]
    dumps = _EVERY_DUMP if every else _TEST_DATA
    return [dumps, "", *_table(["What was checked", "Count"], cells)] if cells else []


_EVERY_DUMP = "Counted over the test data of the repository and the available dumps."
_TEST_DATA = "Counted over the test data of the repository only."


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


def _share(row: Row, part: str, *others: str) -> str:
    """Return the share of one count of several in percent; empty where there is nothing."""
    whole = sum(int(row[key]) for key in (part, *others))
    return f"{100 * int(row[part]) / whole:.1f}%" if whole else ""


def _table(head: Sequence[str], cells: Iterable[Sequence[str]]) -> list[str]:
    rows = [head, ["---"] * len(head), *cells]
    return [f"| {' | '.join(row)} |" for row in rows]


if __name__ == "__main__":
    main()
