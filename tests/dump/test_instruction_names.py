import pytest

from xlareport.dump.instruction_names import LONGEST, explain_instruction
from xlareport.dump.tokens import joined


@pytest.mark.parametrize(
    ("name", "base", "changes", "elements"),
    [
        ("add", "add", (), ()),
        ("%add.5", "add", (), ()),
        ("add.5.clone.1", "add", ("clone",), ()),
        ("fusion.3.remat2", "fusion", ("remat",), ()),
        ("dot.1.remat_compressed", "dot", ("remat_compressed",), ()),
        ("constant.66..sunk.10", "constant", ("sunk",), ()),
        ("wide.wide.region_2.14.clone", "region_2", ("wide", "wide", "clone"), ()),
        ("main.8_spmd", "main", ("spmd",), ()),
        ("gemm_fusion_dot.3_computation", "gemm_fusion_dot", ("computation",), ()),
        ("all-gather.4.cloned.1.call-start", "all-gather", ("cloned", "call-start"), ()),
        ("p0#1", "p0", (), (1,)),
        ("while.5#0#12", "while", (), (0, 12)),
    ],
)
def test_a_name_is_a_base_with_what_passes_added(
    name: str, base: str, changes: tuple[str, ...], elements: tuple[int, ...]
) -> None:
    parts = explain_instruction(name)

    assert (parts.base, parts.changes) == (base, changes)
    picked = tuple(int(token.text) for token in parts.tokens if token.field == "element")
    assert picked == elements
    assert joined(parts.tokens) == name


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("loop_add_fusion.2", ["manner", "fused", "fusion", "number"]),
        ("multiply_add_fusion", ["fused", "fusion"]),
        ("gemm_fusion_dot.3", ["triton", "operation", "number"]),
        ("cudnn-conv.1", ["library", "number"]),
        ("parallel_wrapped_scatter", ["manner", "wrapped", "operation"]),
        ("wrapped_add_computation.3", ["wrapped", "operation", "computation", "number"]),
        ("fused_computation.3", ["computation", "number"]),
        ("region_0.5", ["region", "region_number", "number"]),
        ("param_0.1", ["parameter", "parameter_number", "number"]),
        ("Arg_0.97", ["parameter", "parameter_number", "number"]),
        ("copy-start.1", ["async", "manner", "number"]),
        ("constant_7_clone_1", ["constant", "number", "copied", "copy_number"]),
        ("p__params____h_0____bias__.1", ["argument", "path", "number"]),
        ("jit__uniform_.7", ["inlined", "operation", "number"]),
        ("jvp_jit_log_softmax__.4", ["transformed", "operation", "number"]),
        ("StatelessRandomNormalV2.109", ["tensorflow", "number"]),
        ("cluster_0__XlaNumConstantArgs_0_.9", ["entry", "number"]),
        ("broadcast_in_dim.0", ["born", "number"]),
    ],
)
def test_the_first_part_tells_where_it_came_from(name: str, fields: list[str]) -> None:
    tokens = explain_instruction(name).tokens

    assert [token.field for token in tokens if token.meaning] == fields


def test_the_manner_of_a_fusion_is_told() -> None:
    tokens = explain_instruction("input_reduce_fusion").tokens

    assert "reduction" in tokens[0].meaning


def test_an_element_is_told_with_its_number() -> None:
    assert "Element 12" in explain_instruction("t.3#12").tokens[-1].meaning


@pytest.mark.parametrize("name", ["", "a b", "x.y z", "\x1b[31m", "x" * (LONGEST + 1), "a#b", "."])
def test_what_is_no_name_stays_whole(name: str) -> None:
    assert joined(explain_instruction(name).tokens) == name
