"""What a comparison asks of a module: the types that its collectives send."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.modules import parse_module

from xlareport.analysis.compare import cause_words
from xlareport.analysis.compare.comparison import compare_figure
from xlareport.analysis.compare.module_facts import count_collective_types
from xlareport.analysis.compare.program_changes import ChangeKind, ProgramChange

MODULE = b"""HloModule m

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

ENTRY %main (a: f32[8], b: bf16[8], n: s32[8]) -> (f32[8], bf16[8]) {
  %a = f32[8]{0} parameter(0)
  %b = bf16[8]{0} parameter(1)
  %n = s32[8]{0} parameter(2)
  %loss = f32[] constant(0)
  %mean = f32[] all-reduce(%loss), replica_groups={}, to_apply=%add
  %r = f32[8]{0} all-reduce(%a), replica_groups={}, to_apply=%add
  %t = (f32[8]{0}, bf16[8]{0}) all-to-all(%a, %b), replica_groups={{0,1}}
  %g = bf16[16]{0} all-gather(%b), replica_groups={{0,1}}, dimensions={0}
  %i = s32[16]{0} all-gather(%n), replica_groups={{0,1}}, dimensions={0}
  ROOT %out = (f32[8]{0}, bf16[8]{0}) tuple(%r, %b)
}
"""


@pytest.mark.parametrize(
    ("base", "head", "words"),
    [
        ("0", "7", "jax.checkpoint recomputes 7 instructions of the program, none in the base."),
        (
            "7",
            "0",
            "jax.checkpoint recomputed 7 instructions of the program in the base, now none.",
        ),
        ("7", "9", "jax.checkpoint recomputes 9 instructions of the program instead of 7."),
    ],
)
def test_nothing_is_recomputed_zero_times(base: str, head: str, words: str) -> None:
    change = ProgramChange(ChangeKind.RECOMPUTATION, base, head)
    assert cause_words.program(change, cast("Any", None)) == words


def test_collectives_are_counted_by_the_floating_point_types_they_send() -> None:
    module = parse_module(MODULE)
    counts = dict(count_collective_types(module))
    assert counts == {("f32",): 1, ("bf16", "f32"): 1, ("bf16",): 1}


@pytest.mark.parametrize(
    ("types", "sent", "told"),
    [
        ((("f32",), 3), (8, 8), " 3 of 4 floating-point collectives send f32; the bytes sent are"),
        ((("f32",), 1), (8, 6), " 1 of 2 floating-point collectives sends f32."),
        ((("bf16", "f32"), 3), (8, 6), "in bf16 instead of f32."),
    ],
)
def test_collectives_that_keep_the_wider_type_are_told(
    types: tuple[tuple[str, ...], int], sent: tuple[int, int], told: str
) -> None:
    facts = SimpleNamespace(
        collective_types=(types, (("bf16",), 1)),
        typed_products=(),
        program=SimpleNamespace(typed_products=()),
    )
    head = SimpleNamespace(facts=facts)
    quantities = (compare_figure("wire_bytes", *sent),)
    comparison = cast("Any", SimpleNamespace(head=head, quantities=quantities))
    words = cause_words.program(ProgramChange(ChangeKind.TYPE, "f32", "bf16"), comparison)
    assert told in words
    assert words.endswith(".")
    assert ("send" in words) == (types[0] == ("f32",))


def test_names_that_are_left_out_are_counted() -> None:
    assert cause_words.listed(["a", "b", "c", "d"], 6) == "`a`, `b`, `c`, `d` and 2 more"
    assert cause_words.listed(["a", "b", "c", "d", "e"]) == "`a`, `b`, `c`, `d` and 1 more"
    assert cause_words.listed(["a", "b"], 2) == "`a`, `b`"
