from collections.abc import Mapping

from xlareport.analysis.cost.residency import PeakBuffer
from xlareport.analysis.cost_report.argument_groups import ArgumentGroup, group_arguments


def groups(sizes: Mapping[str, int]) -> list[ArgumentGroup]:
    names = {f"param.{number}": name for number, name in enumerate(sizes)}
    buffers = [
        PeakBuffer(parameter, (), sizes[name], "parameter", "", "", None)
        for parameter, name in names.items()
    ]
    temporary = PeakBuffer("dot.1", (), 1 << 30, "dot", "", "", None)
    return list(group_arguments([*buffers, temporary], names))


def test_arguments_are_grouped_by_the_first_part_of_their_names() -> None:
    sizes = {"params['emb']": 32, "params['w'][0]": 8, "cache[0]['k']": 16, "tok": 1}
    assert groups(sizes) == [
        ArgumentGroup("params", 2, 40, "params['emb']", 32),
        ArgumentGroup("cache", 1, 16, "cache[0]['k']", 16),
        ArgumentGroup("tok", 1, 1, "tok", 1),
    ]


def test_a_single_argument_is_divided_by_the_next_part() -> None:
    named = [group.name for group in groups({"state.params['w']": 8, "state.opt[0]": 16})]
    assert named == ["state.opt", "state.params"]


def test_names_that_do_not_differ_make_no_groups() -> None:
    assert groups({"x": 8}) == []
    assert groups({}) == []
