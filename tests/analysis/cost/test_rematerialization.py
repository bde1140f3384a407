from collections.abc import Callable

import pytest

from xlareport.analysis.cost.rematerialization import (
    RecomputedFlops,
    count_recomputed,
    find_rematerialized,
    is_in_loops_alone,
)
from xlareport.analysis.cost.work import count_cost
from xlareport.hlo.model import HloModule

TEXT = """ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] tanh(x)
  b = f32[4] negate(a)
  a.remat = f32[4] tanh(x)
  c.remat2 = f32[4] exponential(x)
  d = f32[4] cosine(x), metadata={op_name="jit(f)/checkpoint/rematted_computation/cos"}
  e.rematch = f32[4] add(b, a.remat)
  f = f32[4] add(c.remat2, d)
  ROOT r = f32[4] add(e.rematch, f)
}"""


def test_what_is_computed_again_and_by_whom(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(TEXT)
    found = find_rematerialized(module, count_cost(module))
    assert [(one.instruction, one.by, one.original) for one in found] == [
        ("a.remat", "XLA", "a"),
        ("c.remat2", "XLA", ""),
        ("d", "jax.checkpoint", ""),
    ]
    assert found[0].cost.transcendentals == 4


@pytest.mark.parametrize(
    ("scope", "is_inside"),
    [
        ("jit(f)/transpose(jvp())/while/body/closed_call/checkpoint", True),
        ("jit(f)/transpose(jvp(layer_0))/checkpoint", False),
        ("jit(f)/while/body/transpose(jvp(layer_0))/checkpoint", False),
    ],
)
def test_where_a_checkpoint_is_shows_in_the_names_of_what_it_recomputes(
    module_of: Callable[[str], HloModule], scope: str, *, is_inside: bool
) -> None:
    """What a reduction applies has the end of a name alone."""
    text = (
        'add {\n  p = f32[] parameter(0), metadata={op_name="checkpoint/rematted_computation/p"}\n'
    )
    text += "  ROOT q = f32[] add(p, p)\n}\n\n" + TEXT.replace("jit(f)/checkpoint", scope)
    assert is_in_loops_alone(module_of(text)) is is_inside
    assert not is_in_loops_alone(module_of(TEXT.replace("rematted_computation/", "")))


def test_what_accesses_the_most_bytes_comes_first(module_of: Callable[[str], HloModule]) -> None:
    large = TEXT.replace("d = f32[4] cosine(x)", "d = f32[8] concatenate(x, x), dimensions={0}")
    module = module_of(large)
    rows = find_rematerialized(module, count_cost(module))
    assert [row.instruction for row in rows] == ["d", "a.remat", "c.remat2"]


def test_what_is_computed_again_is_counted_inside_of_fusions(
    module_of: Callable[[str], HloModule],
) -> None:
    module = module_of(
        """again {
  p = f32[8] parameter(0)
  ROOT m = f32[8] multiply(p, p)
}

mixed {
  p = f32[8] parameter(0)
  n = f32[8] negate(p), metadata={op_name="jit(f)/checkpoint/rematted_computation/neg"}
  ROOT s = f32[8] add(n, p), metadata={op_name="jit(f)/checkpoint/add"}
}

ENTRY e {
  a = f32[8] parameter(0)
  fusion.remat = f32[8] fusion(a), kind=kLoop, calls=again
  other = f32[8] fusion(fusion.remat), kind=kLoop, calls=mixed
  ROOT r = f32[8] multiply(other, a)
}"""
    )
    cost = count_cost(module)
    assert (count_recomputed(module, cost).total, cost.flops) == (16, 32)


def test_no_more_is_computed_again_than_was_computed_first(
    module_of: Callable[[str], HloModule],
) -> None:
    """XLA merges a value with its repetition, whose name is what is left."""
    again = "jit(f)/transpose(jvp(f))/checkpoint/rematted_computation/mul"
    lines = [
        '  a = f32[8] multiply(x, x), metadata={op_name="jit(f)/jvp(f)/mul"}',
        f'  b = f32[8] multiply(a, x), metadata={{op_name="{again}"}}',
        f'  c = f32[8] multiply(b, x), metadata={{op_name="{again}"}}',
        '  d = f32[8] add(c, b), metadata={op_name="jit(f)/transpose(jvp(f))/add"}',
    ]
    text = "ENTRY e {\n  x = f32[8] parameter(0)\n%s\n  ROOT r = f32[8] negate(d)\n}"
    module = module_of(text % "\n".join(lines))
    assert count_recomputed(module, count_cost(module)).total == 8


def test_the_gradient_alone_of_a_checkpointed_loss_repeats_nothing(
    module_of: Callable[[str], HloModule],
) -> None:
    """JAX drops the first time where only the gradient is returned: jit(grad(checkpoint(loss)))."""
    scope = "jit(g)/transpose(jvp())/checkpoint"
    text = f"""ENTRY e {{
  x = f32[8] parameter(0)
  a = f32[8] multiply(x, x), metadata={{op_name="{scope}/rematted_computation/mul"}}
  ROOT d = f32[8] add(a, x), metadata={{op_name="{scope}/add"}}
}}"""
    module = module_of(text)
    assert count_recomputed(module, count_cost(module)).total == 0
    outside = module_of(text.replace("transpose(jvp())/", ""))
    assert count_recomputed(outside, count_cost(outside)).total == 8


def test_what_the_program_did_at_first_is_no_repetition(
    module_of: Callable[[str], HloModule],
) -> None:
    """Three multiplications were merged with their repetitions, and the names of two are left."""
    once = 'metadata={op_name="jit(f)/jvp(f)/mul"}'
    again = 'metadata={op_name="jit(f)/transpose(jvp(f))/checkpoint/rematted_computation/mul"}'
    text = """ENTRY e {
  x = f32[8] parameter(0)
  a = f32[8] multiply(x, x), %s
  b = f32[8] multiply(a, x), %s
  c = f32[8] multiply(b, x), %s
  ROOT d = f32[8] add(c, b), metadata={op_name="jit(f)/transpose(jvp(f))/add"}
}"""
    before = module_of(text % (once, once, once))
    module = module_of(text % (once, again, again))
    cost = count_cost(module)
    assert count_recomputed(module, cost).total == 8
    assert count_recomputed(module, cost, before).total == 0
    assert count_recomputed(module, cost, module_of(text % (once, once, again))).total == 8


def test_each_level_of_checkpoints_in_checkpoints_repeats_the_first_time(
    module_of: Callable[[str], HloModule],
) -> None:
    """Three times in all: at first, for the outer checkpoint, and for the one inside of it."""
    outer = "jit(f)/transpose(jvp(f))/checkpoint/rematted_computation/while/body/mul"
    inner = "jit(f)/transpose(jvp(f))/checkpoint/while/body/checkpoint/rematted_computation/mul"
    module = module_of(
        f"""ENTRY e {{
  x = f32[8] parameter(0)
  a = f32[8] multiply(x, x), metadata={{op_name="jit(f)/jvp(f)/mul"}}
  b = f32[8] multiply(a, x), metadata={{op_name="{outer}"}}
  c = f32[8] multiply(b, x), metadata={{op_name="{inner}"}}
  ROOT d = f32[8] add(c, b), metadata={{op_name="jit(f)/transpose(jvp(f))/add"}}
}}"""
    )
    assert count_recomputed(module, count_cost(module)).total == 16


def test_what_matmuls_repeat_is_told_from_what_fusions_may_repeat_anyway(
    module_of: Callable[[str], HloModule],
) -> None:
    again = "jit(f)/transpose(jvp(f))/checkpoint/rematted_computation"
    dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    module = module_of(
        f"""ENTRY e {{
  x = f32[8,8] parameter(0)
  a = f32[8,8] dot(x, x), {dims}, metadata={{op_name="jit(f)/jvp(f)/dot"}}
  b = f32[8,8] tanh(a), metadata={{op_name="jit(f)/jvp(f)/tanh"}}
  c = f32[8,8] negate(b), metadata={{op_name="jit(f)/jvp(f)/neg"}}
  d = f32[8,8] dot(c, x), {dims}, metadata={{op_name="{again}/dot"}}
  ROOT g = f32[8,8] negate(d), metadata={{op_name="{again}/neg"}}
}}"""
    )
    assert count_recomputed(module, count_cost(module)) == RecomputedFlops(1024 + 64, 1024)
