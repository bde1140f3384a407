"""Why two instructions were not fused: a plain sentence, and XLA's own text."""

from xlareport.analysis.code.unfused_pairs import SLOWER, UnfusedPair
from xlareport.pages.history.refusals import refusal_words

TILES = (
    "Fusion can not be tiled with SymbolicTileAnalysis: Failed to compute symbolic tile for "
    "(d0)[s0] -> (s0 / 4), domain: d0 in [0, 3] of %mul.1058.1"
)


def pair(reason: str, consumers: int = 1, fused: float | None = None) -> UnfusedPair:
    return UnfusedPair("gemm", "add", reason, fused, fused, "matched", consumers)


def test_a_plain_sentence_stands_before_the_text_of_xla() -> None:
    said, text = refusal_words(pair(TILES))
    assert said.startswith("XLA cannot tile the fused computation")
    assert "SymbolicTileAnalysis" not in said
    assert text.startswith(TILES)
    assert "equal fusion elsewhere" in text


def test_a_long_text_that_is_not_known_begins_alone() -> None:
    said, text = refusal_words(pair("Not this one: " + "x" * 200))
    assert said == "“Not this one”, in XLA's words."
    assert text == "Not this one: " + "x" * 200


def test_a_short_text_stands_for_itself() -> None:
    assert refusal_words(pair("too small", fused=1.5)) == (
        "“too small”, in XLA's words. XLA's estimate: 1.5 µs fused, 1.5 µs unfused.",
        "",
    )


def test_of_several_consumers_it_is_said_which_the_reason_is_about() -> None:
    said, _ = refusal_words(pair("not fusing because there are only bitcast users", 2))
    assert said.endswith("value. That holds for all 2 consumers of %gemm.")
    said, _ = refusal_words(pair(TILES, 2))
    assert "%gemm has 2 consumers; the log gives this reason without the consumer" in said
    said, _ = refusal_words(pair(SLOWER, 4))
    assert "The estimate is of all 4 consumers of %gemm together." in said


def test_a_reason_that_has_no_plain_sentence_is_quoted_as_it_is() -> None:
    reason = "fusion into output of a reduce fusion would create a loop fusion"
    assert refusal_words(pair(reason)) == (f"“{reason}”, in XLA's words.", "")
    order = "Do not fuse into the output of scatter."
    assert refusal_words(pair(order))[0].startswith(f"“{order}”, in XLA's words.")
