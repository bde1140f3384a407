"""Work without op_name that two modules count with different operations."""

import pytest

from xlareport.analysis.compare.module_facts import Facts
from xlareport.analysis.compare.moved_work import align_facts
from xlareport.analysis.compare.operations import Operation, OperationKey, UnnamedWork
from xlareport.analysis.source.scopes import Phase


def facts(op: str, *, seconds: float = 2.0, line: str = "") -> Facts:
    """Return those of a loop of 3 s and a fill, which is counted with `op`."""
    key, loop = OperationKey(Phase.OTHER, "", op, line), OperationKey(Phase.OTHER, "", "while", "")
    fill = UnnamedWork("broadcast", "f32[64]", ((key, seconds, 256),), key, is_kernel=True)
    own = Operation(loop, 3.0, 8, 0, 1, (("while", 1),), ())
    if op == "while":
        opcodes = ("broadcast", 1), ("while", 1)
        both = Operation(loop, 3.0 + seconds, 264, 0, 2, opcodes, ())
        return Facts(operations=(both,), unnamed=(fill,))
    filled = Operation(key, seconds, 256, 0, 1, (("broadcast", 1),), ())
    return Facts(operations=(own, filled), unnamed=(fill,))


@pytest.mark.parametrize(
    ("base", "head", "changes"),
    [
        (facts("fill"), facts("while"), {("while", 0), ("fill", 0)}),
        (facts("while"), facts("fill"), {("while", 0)}),
        (facts("fill"), facts("while", seconds=9.0), {("while", 9), ("fill", -2)}),
        (facts("fill", line="a.py:1"), facts("fill", line="a.py:2"), {("while", 0), ("fill", 0)}),
    ],
)
def test_work_that_both_have_is_no_saving(
    base: Facts, head: Facts, changes: set[tuple[str, float]]
) -> None:
    aligned = align_facts(base, head)
    assert {(change.key.op, change.seconds) for change in aligned} == changes
