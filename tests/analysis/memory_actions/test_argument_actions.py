from msgspec.structs import replace

from xlareport.analysis.cost.donation import DonationRow
from xlareport.analysis.cost.memory import collect_memory_figures
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.replicated_state import ReplicatedArguments
from xlareport.analysis.memory_actions.argument_actions import donation_action, replication_actions
from xlareport.analysis.source.argument_names import NamedArgument

EMPTY = MemoryReport(figures=collect_memory_figures(None, None, ()))


def test_an_argument_of_which_all_arrays_are_meant_is_named() -> None:
    rows = tuple(DonationRow(number, "m", 1 << 20, (0,), donated=False) for number in (2, 3))
    memory = replace(EMPTY, donations=rows, arguments=(NamedArgument("m", 1, (2, 3)),))
    [(size, words)] = donation_action(memory)
    assert size == 2 << 20
    assert words.startswith("2.0 MiB at most: donate all arrays of `m` (argument 1) with don")
    [(_, words)] = donation_action(replace(memory, arguments=()))
    assert words.startswith("2.0 MiB at most: donate 2 arguments (2, 3) with donate_argnums")


def test_state_that_devices_hold_alike_is_to_be_sharded_over_their_axis() -> None:
    state = ReplicatedArguments(
        *("state", ("mu", "nu", "g"), 9, 8 << 20),
        axes=("data",),
        devices=4,
        saved=6 << 20,
    )
    group = replace(state, kind="parameters", names=("p",))
    weights = replace(state, kind="weights")
    (size, words), (_, others), (_, last) = replication_actions(
        replace(EMPTY, replicated_arguments=(state, group, weights))
    )
    assert size == 6 << 20
    assert words.startswith(
        "6.0 MiB at most: shard the optimizer state over mesh axis `data`, whose 4 devices hold "
        "the same 8.0 MiB of `mu`, `nu` and 1 more (9 arrays)."
    )
    assert "Matched: names" in words
    assert "shard the parameters as well over mesh axis `data`" in others
    assert last.endswith(
        "An op that reads a whole array then needs an all-gather. (Matched: no gradients; these "
        "arrays are neither donated nor split along this axis, though others are.)"
    )
    cut = replace(group, kind="weights", cut=("p['a']", "p['b']"), saved_of_cut=3 << 20)
    ((_, words),) = replication_actions(replace(EMPTY, replicated_arguments=(cut,)))
    assert "No all-gather is needed for `p['a']`, `p['b']`: each use takes the same part" in words
    assert "they save 3.0 MiB of this" in words
    tables = replace(weights, cut=("p['a']",), tables=("p['a']", "p['t']"))
    ((_, words),) = replication_actions(replace(EMPTY, replicated_arguments=(tables,)))
    assert (
        "Only lookups and element-wise operations read `p['t']`: sharded along rows or columns,"
        in words
    )
    both = replace(state, axes=("data", "expert"), devices=8)
    ((_, words),) = replication_actions(replace(EMPTY, replicated_arguments=(both,)))
    assert "over mesh axes `data` and `expert`, along at least one of which devices hold" in words
