"""The words on weights: parameters, or constants of the module."""

import pytest
from msgspec.structs import replace
from tests.analysis.modules.test_ranking import summary

from xlareport.analysis.modules.features import EmbeddedConstant, Weights
from xlareport.pages.module.signature import signature_part


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
