"""Ranks: one program in several processes, the order of collectives first."""

from dataclasses import replace

from tests.analysis.conftest import Compile

from xlareport.analysis.modules.processes import assign_processes
from xlareport.analysis.modules.ranks import group_ranks
from xlareport.analysis.modules.summary import ModuleSummary

REDUCE = """\
  %x = f32[8]{0} parameter(0)
  %a = f32[8]{0} all-reduce(%x), replica_groups={{0,1}}, to_apply=%sum
  %g = f32[16]{0} all-gather(%x), replica_groups={{0,1}}, dimensions={0}
  ROOT %both = (f32[8]{0}, f32[16]{0}) tuple(%a, %g)"""


def other_process(one: ModuleSummary, *, turned: bool) -> ModuleSummary:
    calls = one.features.collectives[:: -1 if turned else 1]
    files = replace(one.files, key=f"{one.files.key}~2")
    return replace(one, files=files, features=replace(one.features, collectives=calls))


def test_the_order_of_collectives_is_compared_first(compiled: Compile) -> None:
    (one,) = compiled({"module_0000.jit_step.before_optimizations.txt": REDUCE})
    (group,) = group_ranks(
        [one, other_process(one, turned=True)],
        assign_processes([one, other_process(one, turned=True)]),
    )
    first, second = group.differences
    assert first.what == "collective 1 in order"
    assert [value.split()[0] for value in first.values] == ["all-reduce", "all-gather"]
    assert [value.split()[0] for value in second.values] == ["all-gather", "all-reduce"]


def test_equal_programs_are_put_together_without_a_difference(compiled: Compile) -> None:
    (one,) = compiled({"module_0000.jit_step.before_optimizations.txt": REDUCE})
    (group,) = group_ranks(
        [one, other_process(one, turned=False)],
        assign_processes([one, other_process(one, turned=False)]),
    )
    assert len(group.modules) == 2
    assert group.differences == ()


def test_one_process_has_no_ranks(compiled: Compile) -> None:
    files = {f"module_000{at}.jit_step.before_optimizations.txt": REDUCE for at in (0, 2)}
    assert group_ranks(compiled(files), assign_processes(compiled(files))) == ()
