"""The differences between two compilations of a module that are counted."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from tests.analysis.compare.conftest import compared as compared_dumps

from xlareport.analysis.compare.comparison import Comparison
from xlareport.analysis.compare.module_facts import WRAPPED, Facts
from xlareport.analysis.compare.placed_collectives import PlacedCollective
from xlareport.analysis.source.scopes import Phase


def compared(base: tuple[str, ...], head: tuple[str, ...]) -> Comparison:
    """Return a comparison of modules with collectives of some kinds, and other opcodes."""
    sides = [
        SimpleNamespace(
            facts=Facts(
                collectives=tuple(
                    PlacedCollective(kind, Phase.OTHER, "", "f32[8]", kind, 1.0) for kind in kinds
                )
            )
        )
        for kinds in (base, head)
    ]
    opcodes = (("all-gather-start", 1, 5), ("add", 1, 2))
    return Comparison(*cast("Any", (None, *sides, None)), opcodes=opcodes)


def test_the_parts_of_a_collective_are_one() -> None:
    """Each step of a TPU's asynchronous collective fusion has the opcode again."""
    gathers = compared(("all-reduce",), ("all-reduce", "all-gather", "all-gather"))
    assert gathers.collectives == (("all-gather", 0, 2),)
    reduces = compared(("all-reduce", "all-reduce"), ("all-reduce", "reduce-scatter"))
    assert reduces.collectives == (("all-reduce", 2, 1), ("reduce-scatter", 0, 1))


def test_opcodes_count_where_the_modules_were_not_read_for_collectives() -> None:
    assert compared((), ()).collectives == (("all-gather-start", 1, 5),)


def test_fusions_of_one_instruction_are_counted(pairs: Path) -> None:
    main = compared_dumps(pairs / "cpu-conv-base", pairs / "cpu-conv-layer").main
    assert main is not None
    figures = {figure.name: figure for figure in main.figures}
    wrapped, fusions = figures[WRAPPED], figures["fusions"]
    assert wrapped.base is not None
    assert fusions.base is not None
    assert 0 < wrapped.base < fusions.base
