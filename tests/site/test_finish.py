"""The step after the build, over pages of generators that run no plugin of MkDocs."""

import re
from pathlib import Path

import pytest

from xlareport.runtime.resources import find_resource
from xlareport.site.finish import Finish, UnfinishedPageError, finish_site, own_settings
from xlareport.site.one_page import script_hash

HEAD = """<html><head>
  <meta charset="utf-8">
  <script>theme()</script>
  <link rel="stylesheet" href="assets/xlareport.css">
  <link rel="stylesheet" href="assets/page.css">
  <link rel="stylesheet" href="assets/mine.css">
</head><body>"""
TAIL = """<script>late()</script><script src="assets/xlareport.js"></script></body></html>"""
FINISH = Finish(is_searched=True)


def page(around: str, content: str) -> str:
    return f"{HEAD}<{around} class='x'>{content}</{around}>{TAIL}"


def allowed(finished: str) -> set[str]:
    (scripts,) = re.findall(r"script-src 'self'([^;]*);", finished)
    return set(scripts.split())


@pytest.mark.parametrize("around", ["article", "main"])
def test_scripts_around_the_content_may_run_and_none_in_it(around: str) -> None:
    hostile = f"</{around}><script>hacked()</script>"
    finished = FINISH.finish_page(page(around, f"<h1>x</h1>{hostile}"))

    assert allowed(finished) == {script_hash("theme()"), script_hash("late()")}
    assert hostile in finished


def test_where_nothing_says_what_is_content_no_script_behind_the_head_may_run() -> None:
    finished = FINISH.finish_page(page("div", "<script>hacked()</script>"))

    assert allowed(finished) == {script_hash("theme()")}


def test_the_policy_and_the_index_come_first_and_the_styles_are_one() -> None:
    head = FINISH.finish_page(page("main", "")).partition("</head>")[0]

    assert head.index("Content-Security-Policy") < head.index("<script")
    assert 'name="xr-search" content="search/search_index.js"' in head
    assert re.findall(r'href="assets/(\w+)', head) == ["xlareport", "mine"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<p>text</p>", ""),
        ("<div data-xr-table='t'></div>", "The text and the links work."),
        ("<nav data-xr-parts='m'></nav>", "this is the overview of the module"),
    ],
)
def test_a_note_says_what_is_missing_without_scripts(content: str, words: str) -> None:
    finished = FINISH.finish_page(page("article", content))

    assert finished.count("<noscript>") == bool(words)
    assert words in finished


def test_a_finished_page_stays_as_it_is() -> None:
    once = FINISH.finish_page(page("article", "<div data-xr-table='t'></div>"))

    assert FINISH.finish_page(once) == once


def test_the_page_for_any_address_finds_its_files_from_where_it_lies() -> None:
    rooted = page("article", '<h1>404 - Not found</h1><a href="/index.html">').replace(
        'src="assets', 'src="/assets'
    )
    settings = ('"base": "/", "search": "/assets/x.js"', '"base":"/","search":"/assets/x.js"')
    finished = FINISH.finish_error_page(rooted.replace("</body>", f"{' '.join(settings)}</body>"))

    assert 'src="./assets/xlareport.js"' in finished
    assert 'href="./index.html"' in finished
    assert '"base": "./", "search": "./assets/x.js"' in finished
    assert '"base":"./","search":"./assets/x.js"' in finished
    assert "not in the report" in finished


def make_site(site: Path) -> None:
    (site / "assets").mkdir(parents=True)
    for name in own_settings()["extra_css"]:
        (site / name).write_text(f"/* {name} */")
    for name in ("sitemap.xml", "my-sitemap.xml", "search.js", "assets/x.js.map"):
        (site / name).write_text("x")
    (site / "index.html").write_text(page("article", "x"))
    (site / "404.html").write_text(page("article", "x"))


def test_a_site_is_finished_once(tmp_path: Path) -> None:
    make_site(tmp_path)
    assert finish_site(tmp_path) == 2
    files = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}

    names = {path.name for path in files}
    assert names == {"index.html", "404.html", "xlareport.css", "search.js", "my-sitemap.xml"}
    assert "/* assets/paper.css */" in (tmp_path / "assets/xlareport.css").read_text()
    assert finish_site(tmp_path) == 2
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == files


@pytest.mark.parametrize("text", ["<p>no head</p>", page("article", "").replace(".js", "")])
def test_what_is_no_page_of_a_report_is_refused(tmp_path: Path, text: str) -> None:
    make_site(tmp_path)
    (tmp_path / "other.html").write_text(text)

    with pytest.raises(UnfinishedPageError, match=r"other\.html is no page of a report"):
        finish_site(tmp_path)


def test_one_style_names_the_theme() -> None:
    assets = find_resource("site_src") / "assets"
    naming = {path.name for path in assets.glob("*.css") if "md-" in path.read_text("utf-8")}

    # picture_colors.css is generated: it asks only whether colors are dark
    assert naming == {"xlareport.css", "picture_colors.css"}
