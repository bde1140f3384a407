from tests.readers.parsers import Parser, with_path

from xlareport.readers.textproto import read_textproto

DECISIONS = b"""fusion_steps {
  fusion {
    fusion_name: "f"
    producer_name: "a"
    consumer_name: "b"
    us_fused: 1e-3
  }
}
"""
PARSERS = (Parser(with_path(read_textproto), DECISIONS, (b"a {\n", b"}\n")),)
"""For `tests/properties/test_parsers.py`."""


def test_fields_and_messages() -> None:
    message, problems = read_textproto(b'# note\na: 1\nb {\n  c: "x\\"y"\n  c: 2\n}\n', "t")
    assert problems == []
    assert message.text("a") == "1"
    assert message.number("a") == 1
    (inner,) = message.messages("b")
    assert inner.texts("c") == ('x"y', "2")
    assert (inner.text("missing"), inner.number("missing"), message.text("b")) == ("", None, "")


def test_what_does_not_close_is_a_problem() -> None:
    message, problems = read_textproto(b"a {\n b: 1\n?\n", "t")
    assert message.messages("a")[0].text("b") == "1"
    assert [(problem.line, problem.message) for problem in problems] == [
        (3, "neither a field nor a brace: ?"),
        (None, "the text ends inside a message"),
    ]


def test_very_deep_messages_end() -> None:
    _, problems = read_textproto(b"a {\n" * 10_000, "t")
    assert problems
