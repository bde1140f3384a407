from xlareport.dump.tokens import Token, joined, table


def test_joined_tokens_are_the_text() -> None:
    assert joined([Token("a", "first"), Token(".", ""), Token("b", "second", "format")]) == "a.b"
    assert joined([]) == ""


def test_a_table_is_read_once() -> None:
    assert table("endings") is table("endings")
