"""The step from the first to the final snapshot, which alone a dump of both ends has."""

from pathlib import Path

from xlareport import api
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import step

_EXAMPLE = Path(__file__).parents[3] / "examples/transformer.tar.zst"


def test_loops_of_random_bits_are_followed_into_fusions() -> None:
    with api.read(_EXAMPLE) as report:
        module = next(module for module in report.modules if module.name == "jit_init_params")
        snapshots = module.read.snapshots
        told = step(snapshots[0].hlo, snapshots[-1].hlo)
    assert not [change for change in told.changes if change.kind is Kind.UNTRACED]
    rounds = {"add", "or", "shift-left", "shift-right-logical", "xor"}
    added = [change for change in told.changes if change.kind is Kind.ADDED]
    assert not [change for change in added if rounds.intersection(change.opcodes)]
    assert all(isinstance(change.before or change.after, Place) for change in told.changes)
