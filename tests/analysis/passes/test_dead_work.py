"""The part of a module's work that nothing live uses."""

from collections.abc import Callable

from xlareport.analysis.cost.totals import NO_COST
from xlareport.analysis.cost.work import Costs
from xlareport.analysis.passes.dead_work import count_dead_work
from xlareport.analysis.passes.growth import measure_growth
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_DOTS = """
%twice (p: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8]{1,0} parameter(0)
  ROOT %sum = f32[8,8]{1,0} add(%p, %p)
}

ENTRY %main (a: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %dot.1 = f32[8,8]{1,0} dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %dot.2 = f32[8,8]{1,0} dot(%a, %a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  %fusion.2 = f32[8,8]{1,0} fusion(%dot.2), kind=kLoop, calls=%twice
  ROOT %sine = f32[8,8]{1,0} negate(%dot.1)
}
"""
_DOT, _ADD, _ARRAY = 2 * 8 * 8 * 8, 8 * 8, 4 * 8 * 8


def test_dead_instructions_count_with_what_only_dead_ones_use_and_run(read: Read) -> None:
    dead = count_dead_work(read(_DOTS), Costs())
    assert dead is not None
    assert (dead.flops, dead.bytes_accessed) == (_DOT + _ADD, 5 * _ARRAY)


def test_a_module_without_dead_code_has_none(read: Read) -> None:
    live = _DOTS.replace("negate(%dot.1)", "add(%dot.1, %fusion.2)")
    assert count_dead_work(read(live), Costs()) == NO_COST


def test_the_figures_of_a_snapshot_have_it_within_the_whole(read: Read) -> None:
    (growth,) = measure_growth([read(_DOTS)], Costs())
    assert growth.dead_flops == _DOT + _ADD
    assert growth.flops == 2 * _DOT + 2 * _ADD
