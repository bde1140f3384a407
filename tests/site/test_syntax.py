"""Colours of code, in a real browser."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from xlareport.site.builder import build_site
from xlareport.site.writer import File, write_sources

pytestmark = pytest.mark.browser

Tokens = Callable[[str], list[tuple[str, str]]]
PIECES = [
    '"',
    "/*",
    "/",
    "%",
    "a-",
    "1.",
    "1e",
    '"\\',
    "0x",
    " ",
    "u9",
    "@",
    "a=",
    "^",
    "a.",
    ";",
    "#",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, few_pages: list[File]) -> Path:
    out = tmp_path_factory.mktemp("syntax")
    write_sources(out, few_pages)
    build_site(out)
    return out / "site"


@pytest.fixture
def page(visitor: Any, site: Path) -> Iterator[Page]:
    page = visitor.open((site / "index.html").as_uri())
    yield page
    assert visitor.complaints == []


@pytest.fixture
def tokens(page: Page) -> Tokens:
    def of(line: str) -> list[tuple[str, str]]:
        found = page.evaluate("(line) => [...xlareport.tokens(line)]", line)
        return [(look, part) for part, look in found]

    return of


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '  ROOT %add.5 = f32[128]{0:T(8,128)} add(%a, b.1), metadata={op_name="jit(f)/add"}',
            [
                ("keyword", "ROOT"),
                ("variable", "%add.5"),
                ("type", "f32"),
                ("function", "add"),
                ("variable", "%a"),
                ("attribute", "op_name"),
                ("string", '"jit(f)/add"'),
            ],
        ),
        ("add.5 = bf16[] add(a)", [("variable", "add.5"), ("type", "bf16"), ("function", "add")]),
        (
            "ENTRY %e (/*index=0*/p: pred[]) {  // end",
            [
                ("keyword", "ENTRY"),
                ("comment", "/*index=0*/"),
                ("type", "pred"),
                ("comment", "// end"),
            ],
        ),
        (
            "define void @f(ptr %0) #0 { ; made",
            [
                ("keyword", "define"),
                ("type", "void"),
                ("function", "@f"),
                ("variable", "%0"),
                ("attribute", "#0"),
                ("comment", "; made"),
            ],
        ),
        (
            "  %3 = fadd float %2, -1.5e3",
            [("variable", "%3"), ("keyword", "fadd"), ("type", "float"), ("number", "-1.5e3")],
        ),
        ("loop.header:  ; preds = %a", [("label", "loop.header:"), ("comment", "; preds = %a")]),
        ("\tld.param.b64 \t%rd1, [x];", [("function", "ld.param.b64"), ("variable", "%rd1")]),
        (
            '^bb0(%a: tensor<4xf32> {mhlo.sharding = "x"}):',
            [("label", "^bb0"), ("variable", "%a"), ("type", "tensor"), ("string", '"x"')],
        ),
        (
            "%0 = stablehlo.add %a, %b loc(#loc3)",
            [("function", "stablehlo.add"), ("attribute", "#loc3")],
        ),
    ],
)
def test_what_stands_in_a_line(tokens: Tokens, line: str, expected: list[tuple[str, str]]) -> None:
    found = tokens(line)
    assert "".join(part for _, part in found) == line
    assert [one for one in found if one in expected] == expected


@pytest.mark.parametrize("piece", PIECES)
def test_no_line_is_lost_whatever_stands_in_it(tokens: Tokens, piece: str) -> None:
    line = piece * (2000 // len(piece))
    assert "".join(part for _, part in tokens(line)) == line


def test_a_long_line_stays_plain(tokens: Tokens) -> None:
    line = "%a = f32[] add(%b)" * 200
    assert tokens(line) == [("", line)]


def test_what_cannot_be_seen_is_written_out(page: Page) -> None:
    found = page.evaluate("() => xlareport.visible('a\\u202eb\\u0007c\\td\\ud83d\\ude00')")
    assert found == "a\\u202eb\N{SYMBOL FOR BELL}c\td\N{GRINNING FACE}"
