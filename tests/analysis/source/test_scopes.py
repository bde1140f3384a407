import pytest

from xlareport.analysis.source.scopes import (
    find_numbers,
    mask_numbers,
    plain_path,
    scope_of,
    split_merged,
    split_path,
)


@pytest.mark.parametrize(
    ("op_name", "expected"),
    [
        ("jvp(a/b)/mul", ["jvp(a/b)", "mul"]),
        ("a/b", ["a", "b"]),
        ("", [""]),
        ("/a/", ["", "a", ""]),
        ("f(a/b", ["f(a/b"]),
        ("a)/b(/c)/d", ["a)", "b(", "c)", "d"]),
    ],
)
def test_a_path_is_split_outside_of_parentheses(op_name: str, expected: list[str]) -> None:
    assert split_path(op_name) == expected


@pytest.mark.parametrize(
    ("op_name", "expected"),
    [
        ("jit(step)/jvp(layer_3)/mlp/dot_general", "layer_3/mlp"),
        ("jit(f)/jit(main)/transpose(jvp(GPT2))/h_1/attn/add", "GPT2/h_1/attn"),
        ("jit(f)/jit(main)/add", ""),
        ("add", ""),
        ("", ""),
        ("jit(f)/a(b/c)/d/e", "b/c/d"),
        ("jit(f)/scope/x;jit(f)/other/y", "scope"),
        ("jit(f)/layer/btd,dchk->btchk/dot_general", "layer/btd,dchk->btchk"),
        ("a" + "(" * 3000, ""),
        (
            "jit(f)/transpose(jvp(tower))/block_0/jvp(tower)/block_0/checkpoint/mlp/mul",
            "tower/block_0/checkpoint/mlp",
        ),
        (
            "jit(f)/transpose(jvp(tower))/block_0/jvp(head)/block_0/mul",
            "tower/block_0/head/block_0",
        ),
        ("jit(f)/tower/block_0/jvp(tower)/block_0/mul", "tower/block_0/tower/block_0"),
    ],
)
def test_scopes(op_name: str, expected: str) -> None:
    assert scope_of(op_name) == expected


@pytest.mark.parametrize(
    ("op_name", "expected"),
    [
        ("jit(step)/jvp(encoder)/mlp/dot_general", "encoder/mlp/dot_general"),
        ("jit(step)/transpose(jvp(encoder))/mlp/dot_general", "encoder/mlp/dot_general"),
        ("jit(f)/jvp(vmap(a)/b)/c/jit(relu)/max", "a/b/c/max"),
        ("jit(f)/jvp(a)/x;jit(f)/jvp(b)/y", "a/x;b/y"),
        ("jit(f)/transpose(jvp(a))/b/jvp(a)/b/checkpoint/c/mul", "a/b/c/mul"),
        ("jit(f)/jvp(a)/while/body/closed_call/mlp/dot", "a/mlp/dot"),
        ("encoder/mlp", "encoder/mlp"),
        ("a(" * 5000, ("a(" * 5000)[:2000]),
        ("a(" * 600 + ")" * 600, ""),
    ],
)
def test_plain_paths(op_name: str, expected: str) -> None:
    assert plain_path(op_name) == expected


def test_layers_are_alike_but_for_their_number() -> None:
    assert mask_numbers("layer_3/mlp_1") == mask_numbers("layer_12/mlp_0")
    assert find_numbers("layer_3/mlp_1") == ("3", "1")


def test_an_op_name_inside_a_call_that_merged_with_the_whole_one_is_the_same_op() -> None:
    assert split_merged("jit(f)/table/adagrad/mul;adagrad/mul") == ("jit(f)/table/adagrad/mul",)
    assert split_merged("jit(f)/a/mul;jit(f)/b/mul") == ("jit(f)/a/mul", "jit(f)/b/mul")
