"""A page as part of one document: nothing is loaded, and no script runs but those of the site."""

import base64
import hashlib
from pathlib import Path

import pytest

from xlareport.runtime.errors import UnreadableInputError
from xlareport.site.one_page import Page, policy_element, read_page, script_hash

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'">
<title>Cost &amp; memory</title>
<link rel="stylesheet" href="../style.css"><link rel="next" href="other.html">
<script src="../main.js"></script></head><body><header data-md-component="search"></header>
<main class="main">{main}</main><footer>foot</footer></body></html>
"""


def page_of(site: Path, main: str = '<article>text <img src="p.svg"></article>') -> Page:
    (site / "m").mkdir(exist_ok=True)
    (site / "m" / "cost.html").write_text(PAGE.format(main=main), "utf-8")
    (site / "m" / "p.svg").write_text("<svg/>", "utf-8")
    (site / "style.css").write_text("a { background: url('x.png') }", "utf-8")
    (site / "main.js").write_text("run()", "utf-8")
    return read_page(site, "m/cost.html")


def test_the_main_part_is_a_template_with_its_pictures(tmp_path: Path) -> None:
    template = page_of(tmp_path).template()
    assert template.startswith(
        '<template data-page="m/cost.html" data-title="Cost &amp; memory"><article>text '
    )
    picture = base64.b64encode(b"<svg/>").decode()
    assert f'<img src="data:image/svg+xml;base64,{picture}">' in template


def test_the_frame_has_styles_and_scripts_in_it_and_a_policy_for_these_alone(
    tmp_path: Path,
) -> None:
    before, between, after = page_of(tmp_path).frame("early()", "late()", "<p>note</p>", "MARK")
    assert "MARK" in before
    assert "<style>a { background: none }</style>" in before
    assert "<link" not in before
    assert 'data-xr-component="search"' in before
    assert before.count("Content-Security-Policy") == 1
    scripts = [text for text in ("early()", "run()", "late()") if script_hash(text) in before]
    assert scripts == ["early()", "run()", "late()"]
    assert "<script>late()</script>" in between
    assert "<p>note</p></footer>" in between + after


def test_without_scripts_links_to_other_pages_lead_nowhere(tmp_path: Path) -> None:
    main = '<article><a href="x.html">x</a><a href="#y">y</a><script>z()</script></article>'
    content = page_of(tmp_path, main).without_scripts("note")
    assert content == ('<noscript>note<article><a>x</a><a href="#y">y</a></article></noscript>\n')


@pytest.mark.parametrize("style", ["</style><p>", "<!-- "])
def test_a_style_that_would_end_its_element_is_refused(tmp_path: Path, style: str) -> None:
    page = page_of(tmp_path)
    (tmp_path / "style.css").write_text(style, "utf-8")
    with pytest.raises(UnreadableInputError, match="cannot be embedded"):
        page.frame("", "", "", "")


def test_a_page_without_a_main_part_or_a_charset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<body>text</body>", "utf-8")
    with pytest.raises(UnreadableInputError, match="no main part"):
        read_page(tmp_path, "index.html")
    with pytest.raises(UnreadableInputError, match="names no charset"):
        Page(tmp_path, "index.html", "<head>", "", "</body>").frame("", "", "", "")


def test_a_file_outside_of_the_site_is_not_embedded(tmp_path: Path) -> None:
    (tmp_path / "secret.svg").write_text("secret", "utf-8")
    site = tmp_path / "site"
    site.mkdir()
    template = page_of(site, '<article><img src="../../secret.svg"></article>').template()
    assert 'src="../../secret.svg"' in template


def test_a_policy_forbids_what_it_does_not_name() -> None:
    assert policy_element(["img-src data:"]) == (
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "base-uri 'none'; form-action 'none'\">"
    )
    digest = base64.b64encode(hashlib.sha256(b"x").digest()).decode()
    assert script_hash("x") == f"'sha256-{digest}'"
