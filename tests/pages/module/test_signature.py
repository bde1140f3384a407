"""The words on weights: parameters, or constants of the module."""

import pytest
from msgspec.structs import replace
from tests.analysis.modules.test_ranking import summary

from xlareport.analysis.modules.features import EmbeddedConstant, Weights
from xlareport.analysis.modules.signature import Argument, Result, Signature
from xlareport.pages.module.signature import signature_part
from xlareport.runtime import units


@pytest.mark.parametrize(
    ("size", "count", "shape", "words"),
    [
        (4, 2002, "f32[1]", "Weights are not embedded: "),
        (8192, 1, "bf16[4096]", "Weights are partly embedded: "),
        (8192, 1, "u32[2048]", "Weights are not embedded, tables of other types are: "),
    ],
)
def test_the_largest_constant_says_whether_weights_are_embedded(
    size: int, count: int, shape: str, words: str
) -> None:
    plain = summary("module_0001")
    constant = EmbeddedConstant("main", "c", shape, size)
    weights = Weights(count, size * count, (constant,))
    part = signature_part(
        replace(plain, features=replace(plain.features, content="x", weights=weights))
    )
    assert part.weights_words.startswith(words)


def test_the_size_of_arguments_says_whether_it_is_with_tile_padding() -> None:
    plain = summary("module_0001")
    padded = signature_part(plain, 3 << 20).words
    bare = plain.signature.argument_bytes
    assert "without tile padding" not in signature_part(plain).words
    assert f"({units.byte_size(bare)} without tile padding, " in padded
    assert f"{units.byte_size(bare + (3 << 20))} with it). Results: " in padded


def test_pairs_of_equal_shape_and_aliases_are_counted_apart() -> None:
    plain = summary("module_0001")
    shapes = ("f32[2,128]", "f32[256]", "f32[8]")
    arguments = tuple(
        Argument(number, f"p{number}", "", shape, 32, donated=True, sharding="", aliased=True)
        for number, shape in enumerate(shapes)
    )
    results = tuple(Result(shape, 32) for shape in ("f32[256]", "f32[256]", "f32[8]"))
    signature = Signature(arguments, results, 1, reshaped_aliases=1)
    words = signature_part(replace(plain, signature=signature)).words
    assert words.endswith(
        "2 results pair off with arguments of the same shape. 3 arguments aliased with outputs "
        "(input_output_alias), 1 of them with outputs of another shape."
    )
    before = replace(signature, results=tuple(Result(shape, 32) for shape in shapes))
    given = replace(plain.features, given=before)
    words = signature_part(replace(plain, signature=signature, features=given)).words
    assert "of the same shape on each device, 3 by their shapes before partitioning." in words
