from xlareport.analysis.chains import Chains, chains


def test_groups_and_the_longest_chain() -> None:
    found = chains([("init", "train"), ("train", "train"), ("train", "eval"), ("a", "b")])
    assert found == Chains((("eval", "init", "train"), ("a", "b")), ("init", "train", "eval"))


def test_a_circle_counts_once() -> None:
    found = chains([("a", "b"), ("b", "a"), ("b", "c")])
    assert found.groups == (("a", "b", "c"),)
    assert found.longest == ("a", "c")


def test_without_links() -> None:
    assert chains([]) == chains([("a", "a")]) == Chains((), ())
