"""What must hold of every step of every dump at hand, whatever it changed."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.walks import LONG_WALKS

from xlareport import api
from xlareport.analysis.passes.step_boundaries import has_same_form
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange
from xlareport.pages.steps.payload import step_payload
from xlareport.snapshots import ParsedSnapshot

DATA = Path(__file__).parents[2] / "data"
PAIRS = ("pairs", "pairs-unseen")
"""Many dumps in an archive, a quarter of a minute of work each."""
ALL = sorted(path.name for path in DATA.glob("*.tar.zst"))
PACKED = ALL if LONG_WALKS else [name for name in ALL[::5] if name.split(".")[0] not in PAIRS]
"""Archives of dumps: `make walks` reads all of them, which takes a minute or two."""


def steps(dump: Path) -> Iterator[tuple[ParsedSnapshot, ParsedSnapshot, StepChange]]:
    """Yield each step of a dump with the snapshots on both sides."""
    with api.read(dump) as report:
        for module in report.modules:
            snapshots = module.read.snapshots
            yield from zip(snapshots, snapshots[1:], module.steps, strict=False)


def check_balance(change: StepChange) -> None:
    """Check that what is shown as added and removed is how much the module grew."""
    growth = change.after.instructions - change.before.instructions
    assert len(change.added) - len(change.removed) == growth
    story = step_payload(change, None, "", {})
    shown: Counter[str] = Counter()
    for group in story["groups"]:
        shown[group["kind"]] += group["count"]
    first = Counter(str(row.kind) for row in change.changes)
    assert shown >= first
    assert shown <= Counter(str(kind) for row in change.changes for kind in row.kinds)
    assert sum(count - before for _, before, count in change.opcode_delta) == growth
    rebuilt = [row.details for row in change.modified if row.kind is Kind.REBUILT]
    assert not [texts for texts in rebuilt if all("moved into %" in str(text) for text in texts)]


def check_content(before: ParsedSnapshot, after: ParsedSnapshot, change: StepChange) -> None:
    """Check that a step is told to change nothing where both snapshots hold the same, only then."""
    same = before.hlo.computations == after.hlo.computations
    headers = before.hlo.header == after.hlo.header or not has_same_form(before, after)
    assert change.identical == (same and headers)
    assert change.headline.endswith("did not change the module.") == change.identical


@pytest.mark.parametrize("name", PACKED)
def test_growth_is_what_was_added_less_what_was_removed(name: str) -> None:
    for before, after, change in steps(DATA / name):
        check_balance(change)
        check_content(before, after, change)


def test_growth_in_large_dumps(dumps: Path) -> None:
    for dump in sorted(dumps.iterdir()):
        for before, after, change in steps(dump / dump.name):
            check_balance(change)
            check_content(before, after, change)
