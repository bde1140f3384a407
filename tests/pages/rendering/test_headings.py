"""Headings between HTML; tests/site/test_parts.py holds them against what MkDocs makes of them."""

import re

from xlareport.pages.rendering.headings import headings_alone, html_of, put_back

PAGE = """# Cost

<p>*not* **Markdown**</p>

## By opcode

### By opcode

<p>the end</p>
"""


def test_headings_have_anchors_of_their_own() -> None:
    html = html_of(PAGE)
    assert re.findall(r'<h[23] id="([^"]+)"', html) == ["by-opcode", "by-opcode_1"]
    assert 'href="#by-opcode_1" title="Address of this section"' in html
    assert html_of(PAGE) == html


def test_what_stands_between_headings_comes_back_as_it_was() -> None:
    headings, kept = headings_alone(PAGE)
    assert "Markdown" not in headings
    assert put_back("<p>\ue0001\ue000</p>", kept) == "<p>*not* **Markdown**</p>"
    assert "<p>*not* **Markdown**</p>" in html_of(PAGE)
    assert html_of(PAGE).endswith("<p>the end</p>")
