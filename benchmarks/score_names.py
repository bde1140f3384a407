"""Scores what is known of names: kinds of file, round trip, and the passes that dumps name.

A pass counts as known where its entry was read in its source or seen at work in real dumps; entries
that rest on the name alone are counted apart, since they say of themselves that they are guesses.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dumps import dumps

from xlareport.dump.classify import classify
from xlareport.dump.filename import DumpName
from xlareport.dump.source import open_source
from xlareport.knowledge import custom_calls, flags, passes, stages


class Named(NamedTuple):
    """A name that a dump gives, in the place where it stands."""

    name: str
    is_pipeline: bool


_TARGET = re.compile(rb'custom_call_target="([^"\n]{1,200})"')
_FLAG = re.compile(rb"^(?:--([a-z]\w{1,200})=|([a-z]\w{1,200}): )", re.MULTILINE)
_FLAG_FILES = (".flagfile", ".tpu_comp_env.txt", ".debug_options")
_ENOUGH = 0.95
_ORDER = ("source", "dumps", "step", "name", "not known")


def names_of(dump: Path) -> Sequence[tuple[str, DumpName]]:
    """Return every path of a dump with its name taken apart."""
    with open_source(dump) as source:
        heads = {entry.path: entry for entry in source.entries}
        name = classify(list(heads), peek=lambda path: heads[path].head())
        return list(zip(heads, name, strict=True))


def named_passes(name: DumpName) -> Iterator[Named]:
    """Yield what stands for a pass or a pipeline in a name."""
    if name.stage == "pass" and name.kind.startswith("hlo"):
        if name.pipeline:
            yield Named(name.pipeline, is_pipeline=True)
        yield from (Named(one, is_pipeline=False) for one in (name.after, name.before) if one)


def basis(named: Named) -> str:
    """Return what the entry of a pass or pipeline rests on; some names are both."""
    pipeline = passes.find_pipeline(named.name) if named.is_pipeline else None
    found = pipeline or passes.find(named.name)
    if found is not None:
        return found.known_from
    return "step" if stages.find_step(named.name) else "not known"


def stated(dump: Path) -> tuple[set[str], set[str]]:
    """Return the custom call targets that texts of a dump name, and the flags of its flagfiles."""
    targets, options = set[bytes](), set[bytes]()
    with open_source(dump) as source:
        for entry in source.entries:
            if entry.path.endswith(_FLAG_FILES):
                options.update(match[1] or match[2] for match in _FLAG.finditer(entry.read()))
            elif entry.path.endswith((".txt", ".hlo")):
                targets.update(_TARGET.findall(entry.read()))
    return {target.decode() for target in targets}, {option.decode() for option in options}


def main() -> None:
    """Print the scores of all dumps together, and what is missing."""
    targets, options = set[str](), set[str]()
    files, unknown, broken = 0, [], []
    met: Counter[Named] = Counter()
    for dump in dumps():
        calls, settings = stated(dump)
        targets |= calls
        options |= settings
        for path, name in names_of(dump):
            files += 1
            unknown += [path] if name.kind == "unknown" else []
            broken += [path] if str(name) != path else []
            met.update(named_passes(name))
    print(f"{files:,} files; kind unknown: {len(unknown)}; round trip broken: {len(broken)}")
    for path in [*unknown[:20], *broken[:20]]:
        print(f"  {path}")
    _print_passes(met)
    _print_explained(targets, options)


def _print_explained(targets: set[str], options: set[str]) -> None:
    known = {target for target in targets if custom_calls.find(target)}
    print(f"\n{len(known)} of {len(targets)} custom call targets have an entry with a source.")
    print("Said to be unknown:", ", ".join(sorted(targets - known)) or "none")
    told = {option for option in options if flags.find(option)}
    family = {option for option in options - told if flags.find_family(option)}
    print(f"{len(told)} of {len(options)} flags have an entry with a source,")
    print(f"{len(family)} are said to be unknown but for their beginning, the others unknown:")
    print(", ".join(sorted(options - told - family)) or "none")


def _print_passes(met: Counter[Named]) -> None:
    by_basis: dict[str, list[Named]] = defaultdict(list)
    for name in met:
        by_basis[basis(name)].append(name)
    print(f"\n{'entry rests on':<15} {'names':>6} {'share':>7} {'in file names':>14}")
    for one in _ORDER:
        found = by_basis[one]
        uses = sum(met[name] for name in found)
        print(f"{one:<15} {len(found):>6} {len(found) / len(met):>7.1%} {uses:>14,}")
    known = sum(len(by_basis[one]) for one in ("source", "dumps", "step"))
    has = len(met) - len(by_basis["not known"])
    print(f"\n{has / len(met):.1%} have an entry (wanted: {_ENOUGH:.0%}),")
    print(f"{known / len(met):.1%} one that was read or seen, not guessed from the name.")
    print("Not known:", ", ".join(sorted(one.name for one in by_basis["not known"])) or "none")


if __name__ == "__main__":
    main()
