"""Scores the guess for the main program and the roles of modules against labels made by hand.

Usage: `python benchmarks/score_main.py`; XLAREPORT_DUMPS names a folder of further unpacked dumps,
XLAREPORT_LABELS further tables of dump and main program. Every dump is read as it is, and once more
with every module and function name replaced by a meaningless one.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from cases import Label, analyzed, in_order_of, mains, opened, place_of, roles_of

from xlareport.analysis.modules.ranking import guess_main, rank_modules
from xlareport.analysis.modules.roles import assign_roles
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.knowledge.main_record import main_record


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one dump was judged."""

    place: int | None
    """Place of the first right answer in the ranking, from 1."""
    roles_right: int
    roles_labeled: int
    wrong: tuple[str, ...]
    sureness: str


def largest_text(summaries: Sequence[ModuleSummary]) -> int | None:
    """Return the module that people take: the one with the largest final text."""
    sizes = [summary.text_bytes for summary in summaries]
    return sizes.index(max(sizes)) if any(sizes) else None


def right(label: Label, name: str) -> bool:
    """Return whether a module is one of the right answers."""
    return any(fnmatchcase(name, answer) for answer in label.answers)


def judged(label: Label, names: Sequence[str], summaries: Sequence[ModuleSummary]) -> Outcome:
    """Judge one dump; `names` are the true names of the modules."""
    called = {one.files.key: name for one, name in zip(summaries, names, strict=True)}
    ranked = [called[module.summary.files.key] for module in rank_modules(summaries).modules]
    place = next((at for at, name in enumerate(ranked, 1) if right(label, name)), None)
    guess = guess_main(rank_modules(summaries))
    played = assign_roles(summaries, guess)
    wrong, labeled = [], 0
    for name, role in zip(names, played, strict=True):
        wanted = roles_of(label.dump, name)
        labeled += bool(wanted)
        if wanted and role.name not in wanted:
            wrong.append(f"{name} is {'|'.join(wanted)}, said to be {role.name}: {role.reason}")
    sureness = guess.sureness if guess else ""
    return Outcome(place, labeled - len(wrong), labeled, tuple(wrong), sureness)


def main() -> None:
    """Print one line for each labeled dump, and the sums."""
    sums: Counter[str] = Counter()
    print(f"{'dump':34}{'answers':>8}{'size rule':>11}{'as is':>7}{'anonymous':>11}  sure    roles")
    for label in mains():
        place = place_of(label.dump)
        if place is None:
            continue
        with opened(place, anonymous=False) as source:
            original = analyzed(source)
        plain = original.summaries
        names = [summary.display_name for summary in plain]
        with opened(place, anonymous=True) as source:
            hidden = in_order_of(original, analyzed(source))
        outcomes = judged(label, names, plain), judged(label, names, hidden)
        largest = largest_text(plain)
        by_size = largest is not None and right(label, names[largest])
        print(_line(label, outcomes, by_size=by_size))
        _add(sums, label, outcomes, by_size=by_size)
    _print_sums(sums)


def _line(label: Label, outcomes: tuple[Outcome, Outcome], *, by_size: bool) -> str:
    plain, hidden = outcomes
    size = "right" if by_size else "wrong"
    told = [str(outcome.place or "-") for outcome in outcomes]
    roles_told = f"{plain.roles_right}/{plain.roles_labeled}"
    told_hidden = f"{hidden.roles_right}/{hidden.roles_labeled}"
    start = f"{label.dump:34}{len(label.answers):>8}{size:>11}{told[0]:>7}{told[1]:>11}"
    start += f"  {plain.sureness:6}"
    if "-v" in sys.argv:
        start += "".join(f"\n    {line}" for outcome in outcomes for line in outcome.wrong)
    return f"{start}  {roles_told}, {told_hidden} anonymous"


def _add(
    sums: Counter[str], label: Label, outcomes: tuple[Outcome, Outcome], *, by_size: bool
) -> None:
    kind = "one" if len(label.answers) == 1 else "several"
    last = 1 if kind == "one" else 2
    sums[kind] += 1
    sums[f"{kind} size"] += by_size
    group = "held" if label.is_held else "sure"
    for degree in (outcomes[0].sureness, "unseen"):
        sums[f"{group} {degree}"] += 1
        sums[f"{group} {degree} right"] += outcomes[0].place == 1
    for way, outcome in zip(("plain", "hidden"), outcomes, strict=True):
        sums[f"{kind} {way}"] += outcome.place is not None and outcome.place <= last
        sums[f"roles {way}"] += outcome.roles_right
        sums[f"roles labeled {way}"] += outcome.roles_labeled


def _print_sums(sums: Counter[str]) -> None:
    print()
    for kind, words in (
        ("one", "one right answer, found first"),
        ("several", "several right answers, one among the first two"),
    ):
        total = sums[kind]
        size = f"by size {sums[f'{kind} size']}/{total}"
        ours = f"as is {sums[f'{kind} plain']}/{total}, anonymous {sums[f'{kind} hidden']}/{total}"
        print(f"{words}: {size}, {ours}")
    for name, record in main_record().items():
        held = f"{sums[f'held {name} right']}/{sums[f'held {name}']}"
        others = f"{sums[f'sure {name} right']}/{sums[f'sure {name}']}"
        said = f"{record.right}/{record.of}"
        print(f"{name}: right {held} held, {others} others; main_record.toml says {said}")
    for way, words in (("plain", "as they are"), ("hidden", "anonymous")):
        found, labeled = sums[f"roles {way}"], sums[f"roles labeled {way}"]
        share = found / labeled if labeled else 0
        print(f"roles right, {words}: {found}/{labeled} ({share:.1%})")


if __name__ == "__main__":
    main()
