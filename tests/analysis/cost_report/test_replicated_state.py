"""Optimizer state and parameters that several devices hold alike."""

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.cost_report.replicated_state import find_replicated_arguments
from xlareport.analysis.shardings.sharding_report import report_shardings

MODULE = """HloModule m, num_partitions=8

ENTRY e {
  w = f32[16,8]{1,0} parameter(0), sharding={devices=[2,1,4]<=[4,2]T(1,0) \
last_tile_dim_replicate}, metadata={op_name="p['w']"}
  b = f32[3]{0} parameter(1), sharding={replicated}, metadata={op_name="p['b']"}
  m = f32[16,8]{1,0} parameter(2), sharding={devices=[2,1,4]<=[4,2]T(1,0) \
last_tile_dim_replicate}, metadata={op_name="s[0].mu['w']"}
  x = f32[16,8]{1,0} parameter(3), sharding={replicated}, metadata={op_name="x"}
  d = f32[16,8]{1,0} convert(w), metadata={op_name="jit(f)/jvp()/convert"}
  a = f32[16,8]{1,0} add(d, m), metadata={op_name="jit(f)/add"}
  ROOT r = (f32[16,8]{1,0}, f32[16,8]{1,0}, f32[3]{0}) tuple(a, x, b)
}"""


def groups_of(text: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...], int, int]]:
    module = parse_module(text)
    shardings = report_shardings([module])
    return [
        (group.kind, group.names, group.axes, group.count, group.saved)
        for group in find_replicated_arguments(module, module, shardings)
    ]


def test_state_has_names_and_dimensions_of_parameters_and_no_reader_in_the_passes() -> None:
    assert groups_of(MODULE) == [
        ("state", ("s[0].mu",), ("axis_0",), 1, 512 * 3 // 4),
        ("parameters", ("p",), ("axis_0",), 1, 512 * 3 // 4),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jit(f)/jvp()/convert", "jit(f)/convert"),  # no parameters known
        ("jit(f)/add", "jit(f)/jvp()/add"),  # the forward pass reads it
        ("s[0].mu['w']", "s[0].mu['v']"),
        ("devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate", "devices=[8,1]<=[8]"),
        (", num_partitions=8", ""),
    ],
)
def test_other_arguments_are_none(before: str, after: str) -> None:
    assert before in MODULE
    assert groups_of(MODULE.replace(before, after)) == []


def test_what_the_axis_does_not_divide_is_left_out() -> None:
    odd = MODULE.replace("16,8", "14,7")
    assert [group[2] for group in groups_of(odd)] == []


def test_what_all_devices_hold_is_split_along_all_axes() -> None:
    whole = MODULE.replace("metadata={op_name=\"s[0].mu['w']\"}", "OF_STATE")
    whole = whole.replace(
        "devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}, OF_STATE",
        "replicated}, metadata={op_name=\"s[0].mu['w']\"}",
    )
    assert groups_of(whole)[0] == ("state", ("s[0].mu",), ("axis_0", "axis_1"), 1, 512 * 7 // 8)


def test_parameters_in_the_same_argument_have_the_beginning_of_their_names() -> None:
    state = MODULE.replace("p['w']", "s['p']['w']").replace("s[0].mu['w']", "s['mu']['w']")
    assert [group[1] for group in groups_of(state)] == [("s['mu']",), ("s['p']",)]


def test_an_axis_that_saves_next_to_nothing_is_left_out() -> None:
    whole = "sharding={replicated}, metadata={op_name=\"p['b']\"}"
    small = MODULE.replace("b = f32[3]{0}", "b = f32[8]{0}").replace(
        "f32[3]{0}) tuple(a, x, b)", ("f32[8]{0}) tuple(a, x, y)")
    )
    assert whole in small
    small = small.replace(
        "  x = f32[16,8]{1,0} parameter(3)",
        (
            "  n = f32[8]{0} parameter(4), sharding={replicated}, "
            "metadata={op_name=\"s[0].mu['b']\"}\n"
            '  e = f32[8]{0} convert(b), metadata={op_name="jit(f)/jvp()/convert"}\n'
            '  y = f32[8]{0} add(e, n), metadata={op_name="jit(f)/add"}\n'
            "  x = f32[16,8]{1,0} parameter(3)"
        ),
    )
    assert groups_of(small)[0] == ("state", ("s[0].mu",), ("axis_0",), 2, (512 + 32) * 3 // 4)


WEIGHTS = """HloModule m, input_output_alias={ {0}: (1, {}, may-alias) }, num_partitions=8

ENTRY e {
  w = f32[16,8]{1,0} parameter(0), sharding={devices=[2,1,4]<=[4,2]T(1,0) \
last_tile_dim_replicate}, metadata={op_name="p['w']"}
  c = f32[16,8]{1,0} parameter(1), sharding={devices=[2,1,4]<=[4,2]T(1,0) \
last_tile_dim_replicate}, metadata={op_name="cache['k']"}
  x = f32[16,8]{1,0} parameter(2), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}, \
metadata={op_name="x"}
  a = f32[16,8]{1,0} add(w, c), metadata={op_name="jit(f)/add"}
  b = f32[16,8]{1,0} add(a, x), metadata={op_name="jit(f)/add"}
  ROOT r = (f32[16,8]{1,0}, f32[16,8]{1,0}) tuple(a, b)
}"""


def test_weights_are_split_along_an_axis_of_other_arguments() -> None:
    assert groups_of(WEIGHTS) == [("weights", ("p",), ("axis_0",), 1, 512 * 3 // 4)]
    alike = WEIGHTS.replace("devices=[4,1,2]<=[8]", "devices=[2,1,4]<=[4,2]T(1,0)")
    assert groups_of(alike) == []
    assert groups_of(WEIGHTS.replace("jit(f)/add", "jit(f)/jvp()/add")) == []


def test_a_table_of_which_rows_are_looked_up_is_told_apart() -> None:
    lookup = """  i = s32[2,1]{1,0} parameter(3)
  g = f32[2,8]{1,0} gather(w, i), offset_dims={1}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
  ROOT r"""
    for text, tables in ((WEIGHTS, ()), (WEIGHTS.replace("  ROOT r", lookup), ("p['w']",))):
        module = parse_module(text)
        (group,) = find_replicated_arguments(module, module, report_shardings([module]))
        assert group.tables == tables


def test_weights_of_which_each_use_takes_a_part_need_no_gather() -> None:
    module = parse_module(WEIGHTS)
    shardings = report_shardings([module])
    assert shardings is not None
    (group,) = find_replicated_arguments(module, module, shardings)
    assert (group.cut, group.saved_of_cut) == ((), 0)
    cut = replace(shardings, cut_parameters=((0, 4),))
    (group,) = find_replicated_arguments(module, module, cut)
    assert (group.cut, group.saved_of_cut) == (("p['w']",), 512 * 3 // 4)
