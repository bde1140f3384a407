"""The lexer of HLO text for Pygments."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pygments.token import Comment, Keyword, Name, Number, String, Text, Token

from xlareport.pages.texts.hlo_lexer import HloLexer

LINE = (
    '%add.5 = f32[128,256]{1,0:T(8,128)} add(%a, b.1), metadata={op_name="jit(f)/add" x=-1.5e3}\n'
)


def pieces(text: str) -> list[tuple[object, str]]:
    return [(kind, part) for _, kind, part in HloLexer().get_tokens_unprocessed(text)]


def test_an_instruction() -> None:
    found = pieces(LINE)
    assert (Name.Variable, "%add.5") in found
    assert (Keyword.Type, "f32") in found
    assert (Name.Function, "add") in found
    assert (Name, "b.1") in found
    assert (Name.Attribute, "op_name") in found
    assert (String, '"jit(f)/add"') in found
    assert (Number, "-1.5e3") in found


def test_headers_and_comments() -> None:
    found = pieces("HloModule m\n\nENTRY %e (/*index=0*/p: f32[]) -> f32[] {\n  ROOT x = // end\n")
    assert [part for kind, part in found if kind is Keyword] == ["HloModule", "ENTRY", "ROOT"]
    assert [part for kind, part in found if kind in Comment] == ["/*index=0*/", "// end"]


@pytest.mark.parametrize(
    "dump", ["jax-cpu-train", "jax-0.4.13-cpu-train", "tpu-v5e-scan", "tf-add-multiply"]
)
def test_real_texts_of_every_dialect_are_known_whole(
    unpacked: Callable[[str], Path], dump: str
) -> None:
    texts = list(unpacked(dump).rglob("*after_optimizations.txt"))
    assert texts
    for path in texts:
        text = path.read_text()
        found = pieces(text)
        assert "".join(part for _, part in found) == text
        assert not [part for kind, part in found if kind in (Token.Error, Text)]


def test_it_is_known_by_its_looks() -> None:
    assert HloLexer.analyse_text("\nHloModule jit_f, is_scheduled=true\n") == 1.0
    assert HloLexer.analyse_text("int main() {}") == 0.0


@pytest.mark.parametrize(
    "piece",
    ['"', "/*", "/", "%", "a-", "1.", "1e", '"\\', "0x", " ", "FileNames ", "u9", "@", "a="],
)
def test_nothing_takes_more_than_one_walk(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert "".join(part for _, _, part in HloLexer().get_tokens_unprocessed(text)) == text
