"""Why two instructions were not fused, in a plain sentence, with the words of XLA behind it."""

from xlareport.analysis.code.unfused_pairs import SLOWER, UnfusedPair

_SENTENCES = (
    (
        "Fusion can not be tiled with SymbolicTileAnalysis",
        "XLA cannot tile the fused computation, which a fusion that Triton compiles needs.",
    ),
    ("not fusing because there are only bitcast users", "Only bitcasts use its value."),
    (
        "the producer is not fusible",
        "The producer is of a kind that the pass fuses into no consumer.",
    ),
    (
        "the consumer is not fusible",
        "The consumer is of a kind that the pass fuses no producer into.",
    ),
    (
        "both the producer and the consumer contain a reduce",
        "Both have a reduction; the pass does not put two one after the other into a fusion.",
    ),
)
"""Beginnings of XLA's texts, with their meanings."""
_REUSED = "Names in it can be those of an equal fusion elsewhere: XLA reuses such a text."
_OF_THE_PRODUCER = ("the producer is ", "not fusing because there are only bitcast users")
"""Beginnings of reasons that apply to the producer with every consumer."""
_ESTIMATED = (SLOWER, "the last estimate ")
"""How reasons begin that follow from estimates for the producer with all of its consumers."""
_LONGEST_QUOTE = 160
_LONGEST_TEXT = 2_000


def refusal_words(pair: UnfusedPair) -> tuple[str, str]:
    """Return the sentences that a panel shows, and XLA's own text; empty if they quote it whole."""
    known = next((plain for text, plain in _SENTENCES if pair.reason.startswith(text)), "")
    if not known and len(pair.reason) <= _LONGEST_QUOTE:
        return f"{_quoted(pair.reason)}{_about(pair)}{_estimate(pair)}", ""
    plain = known or _quoted(pair.reason[:_LONGEST_QUOTE].partition(":")[0])
    text = pair.reason[:_LONGEST_TEXT]
    note = f" {_REUSED}" if "%" in text else ""
    return f"{plain}{_about(pair)}{_estimate(pair)}", f"{text}{note}"


def _about(pair: UnfusedPair) -> str:
    """Return the consumers that a reason refers to: the log may refer to all of a producer."""
    if pair.consumers < 2:
        return ""
    if pair.reason.startswith(_ESTIMATED):
        return f" The estimate is of all {pair.consumers:,} consumers of %{pair.producer} together."
    if pair.reason.startswith(_OF_THE_PRODUCER):
        return f" That holds for all {pair.consumers:,} consumers of %{pair.producer}."
    return (
        f" %{pair.producer} has {pair.consumers:,} consumers; the log gives this reason without "
        "the consumer that it is about."
    )


def _estimate(pair: UnfusedPair) -> str:
    fused, apart = pair.microseconds_fused, pair.microseconds_unfused
    if fused is None or apart is None:
        return ""
    return f" XLA's estimate: {fused:,.3g} µs fused, {apart:,.3g} µs unfused."


def _quoted(text: str) -> str:
    """Return words of XLA as such: some are orders to the pass, or terms of its code."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}, in XLA's words."
