import pytest

from xlareport.runtime import english


@pytest.mark.parametrize(
    ("noun", "expected"),
    [("copy", "copies"), ("broadcast", "broadcasts"), ("reshape", "reshapes"), ("tanh", "tanhs"),
     ("multiply", "multiplies"), ("array", "arrays"), ("class", "classes")],
)  # fmt: skip
def test_plurals(noun: str, expected: str) -> None:
    assert english.pluralize(noun) == expected


def test_a_sentence_begins_with_a_capital_and_ends_at_its_period() -> None:
    assert english.capitalize("hLO is kept. As is.") == "HLO is kept. As is."
    assert english.first_sentence("Removes v1.2 ops. Then more.") == "Removes v1.2 ops."
    assert english.first_sentence("No period") == "No period"


def test_the_first_few_are_named_and_the_others_counted() -> None:
    assert english.first_few(["a", "b"], 2) == "a, b"
    assert english.first_few(["a", "b", "c"], 2) == "a, b and 1 more"
    assert english.first_few(["a"], 2, 1_002) == "a and 1,001 more"
    assert english.first_few([], 2) == ""


def test_a_sentence_without_its_backticks() -> None:
    assert english.plain("`%add` is gone") == "%add is gone"


def test_lists_and_articles() -> None:
    assert english.listing(["a", "b", "c"]) == "a, b and c"
    assert english.listing(["a"]) == "a"
    assert (english.with_article("add"), english.with_article("dot")) == ("an add", "a dot")
    assert english.with_article("`AllocateBuffer` call") == "an `AllocateBuffer` call"


@pytest.mark.parametrize(
    ("name", "fits"),
    [("params['w']", True), ("", False), ("a`b", False), ("a\nb", False), ("a\u202eb", False)],
)
def test_a_name_is_set_in_backticks_if_nothing_in_it_ends_them(name: str, fits: bool) -> None:  # noqa: FBT001 - the expected value of a case
    assert english.fits_code(name) is fits
