"""Words and names of protos as HLO text has them."""

from xlareport.hlo.protos.text_pieces import name, numbered, word


def test_words() -> None:
    assert name(b"a b{c}") == "a_b_c_"
    assert name(b"") == "_"
    assert numbered(["a"] * 6) == "a, a, a, a, a, /*index=5*/a"
    assert word("fft", 0) == "FFT"
    assert word("fft", 9) == ""
