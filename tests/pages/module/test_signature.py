"""The words on weights: parameters, or constants of the module."""

import pytest
from msgspec.structs import replace
from tests.analysis.modules.test_ranking import summary

from xlareport.analysis.modules.features import EmbeddedConstant, Weights
from xlareport.pages.module.signature import signature_part
from xlareport.runtime import units


@pytest.mark.parametrize(
    ("size", "count", "words"), [(4, 2002, "Weights are not embedded"), (8192, 1, "Weights are p")]
)
def test_the_largest_constant_says_whether_weights_are_embedded(
    size: int, count: int, words: str
) -> None:
    plain = summary("module_0001")
    constant = EmbeddedConstant("main", "c", "u32[1]", size)
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
