import base64
import hashlib
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import Environment, Template
from mkdocs.theme import Theme

from xlareport import mkdocs_plugin
from xlareport.mkdocs_plugin import XlareportPlugin
from xlareport.runtime.resources import find_resource
from xlareport.site.builder import build_site
from xlareport.site.site_shares import SiteShare
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
SCRIPT = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile]) -> Path:
    out = tmp_path_factory.mktemp("plugin")
    cells = "<dl><div><dt>term</dt><dd>its meaning</dd></div></dl>"
    module = ("m/x.md", f"# x\n\n{HOSTILE}\n\n{cells}\n\n<div data-xr-table='t'></div>\n")
    write_sources(out, [*(few_page for few_page in few_pages if few_page[0] != module[0]), module])
    build_site(out)
    return out / "site"


def policy(page: str) -> dict[str, list[str]]:
    (content,) = POLICY.findall(page)
    return {name: rest for name, *rest in (part.split() for part in content.split("; "))}


def hashed(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@pytest.mark.parametrize("name", ["index.html", "m/x.html", "404.html"])
def test_every_page_allows_its_own_files_and_the_themes_scripts(site: Path, name: str) -> None:
    page = (site / name).read_text()
    rules = policy(page)
    inline = [
        text
        for attributes, text in SCRIPT.findall(page.replace(HOSTILE, ""))
        if "src=" not in attributes and "json" not in attributes
    ]

    assert rules["default-src"] == ["'none'"]
    assert rules["script-src"][0] == "'self'"
    assert set(rules["script-src"][1:]) == set(map(hashed, inline))
    assert rules["style-src"] == ["'self'", "'unsafe-inline'"]
    assert rules["img-src"] == ["'self'", "data:"]
    assert rules["base-uri"] == rules["form-action"] == ["'none'"]


def test_the_search_parts_the_texts_of_cells(site: Path) -> None:
    index = (site / "search/search_index.json").read_text()
    assert "its meaning" in index
    assert "termits" not in index


def test_the_policy_comes_before_whatever_it_guards(site: Path) -> None:
    page = (site / "index.html").read_text()

    assert page.index("Content-Security-Policy") < min(page.index("<script"), page.index("<link"))


def test_a_script_in_the_content_is_not_allowed(site: Path) -> None:
    page = (site / "m/x.html").read_text()

    assert HOSTILE in page
    assert hashed("alert(1)") not in page


def test_pages_that_scripts_draw_say_so_where_there_are_none(site: Path) -> None:
    assert "<noscript>" in (site / "m/x.html").read_text()
    assert "<noscript>" not in (site / "index.html").read_text()


def test_404_finds_its_files_from_where_it_lies(site: Path) -> None:
    page = (site / "404.html").read_text()

    assert 'src="./assets/xlareport.js"' in page
    assert 'href="/' not in page
    assert "not in the report" in page


def test_a_page_loads_one_script_and_one_style_of_the_report(site: Path) -> None:
    page = (site / "m/x.html").read_text()

    assert re.findall(r'src="../(assets/[^/"]*)"></script>', page) == [
        "assets/iframe-worker.js",
        "assets/xlareport.js",
    ]
    assert re.findall(r'href="../(assets/[^/"]*\.css)"', page) == ["assets/xlareport.css"]
    source = (find_resource("site_src") / "assets" / "paper.css").read_text()
    assert source.strip() in (site / "assets" / "xlareport.css").read_text()
    assert not (site / "assets" / "paper.css").exists()


def test_the_frame_of_a_page_is_small(site: Path) -> None:
    page = (site / "m/x.html").read_text()

    assert len(page) < 12_500
    assert "getting-a-dump" not in page
    assert "getting-a-dump" in (site / "guide/index.html").read_text()


def test_what_finds_words_of_other_languages_is_there_for_those_only(
    tmp_path: Path, few_pages: list[SiteFile]
) -> None:
    write_sources(tmp_path, few_pages)
    build_site(tmp_path)
    assert not (tmp_path / "site/assets/javascripts/lunr").exists()
    with (tmp_path / "mkdocs.yml").open("a") as settings:
        settings.write("theme:\n  language: de\n")
    build_site(tmp_path)
    assert (tmp_path / "site/assets/javascripts/lunr/min/lunr.de.min.js").is_file()


def test_templates_of_the_theme_are_compiled_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    mkdocs_plugin.compile_theme()
    monkeypatch.setattr(Environment, "compile", None)
    templates = mkdocs_plugin.theme_templates(Theme(name="material"))

    for name in ("main.html", "404.html", "base.html", "partials/languages/en.html"):
        assert templates.get_template(name).name == name


def test_mkdocs_lists_no_hidden_files_of_the_theme() -> None:
    theme = Theme(name="material")
    listed = Theme.get_env(theme).list_templates()
    visible = [name for name in listed if not any(p.startswith(".") for p in name.split("/"))]

    assert mkdocs_plugin.theme_templates(theme).list_templates() == visible
    assert len(visible) < len(listed)


def test_a_site_keeps_its_data_though_the_next_build_writes_others(
    tmp_path: Path, few_pages: list[SiteFile]
) -> None:
    write_sources(tmp_path, [*few_pages, ("assets/data/x.js", "1")])
    build_site(tmp_path)
    data = tmp_path / "site/assets/data/x.js"
    assert data.samefile(tmp_path / "site_src/assets/data/x.js")

    write_sources(tmp_path, [*few_pages, ("assets/data/x.js", "2")])
    assert data.read_text() == "1"
    build_site(tmp_path)
    assert data.read_text() == "2"


def test_what_cannot_be_linked_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_name(target: object, path: object) -> None:
        raise OSError(path, target)

    (tmp_path / "data/m").mkdir(parents=True)
    (tmp_path / "data/m/x.js").write_text("1")
    mkdocs_plugin.link_below(tmp_path / "data", tmp_path / "linked")
    monkeypatch.setattr(os, "link", one_name)
    mkdocs_plugin.link_below(tmp_path / "data", tmp_path / "copied")
    mkdocs_plugin.link_below(tmp_path / "none", tmp_path / "never")
    for name, is_linked in (("linked", True), ("copied", False)):
        assert (tmp_path / name / "m/x.js").read_text() == "1"
        assert (tmp_path / name / "m/x.js").samefile(tmp_path / "data/m/x.js") is is_linked
    assert not (tmp_path / "never").exists()


def test_of_the_page_of_another_process_only_the_title_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin, meta = XlareportPlugin(), dict[str, Template]()
    monkeypatch.setattr(plugin, "_share", SiteShare(is_first=False, pages=frozenset({"m/x.md"})))
    page: Any = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"), meta=meta)
    assert plugin.on_page_markdown("# Home\n\nlong\n", page=page) == "# Home"
    assert meta["template"].render() == ""


def test_serving_allows_the_inline_script_of_live_reload() -> None:
    plugin = XlareportPlugin()
    plugin.on_startup(command="serve", dirty=False)
    page = plugin.on_post_template(
        '<meta charset="utf-8"><script>x</script>', template_name="404.html"
    )

    assert policy(page)["script-src"] == ["'self'", "'unsafe-inline'"]


def test_other_templates_stay_as_they_are() -> None:
    assert XlareportPlugin().on_post_template("<x/>", template_name="x.xml") == "<x/>"


def test_the_navigation_holds_what_is_there_and_what_the_user_added(
    tmp_path: Path, few_pages: list[SiteFile]
) -> None:
    write_sources(tmp_path, [few_page for few_page in few_pages if few_page[0] != "program.md"])
    (tmp_path / "site_src/notes.md").write_text("# Notes\n")
    build_site(tmp_path, strict=False)  # the guide links to the page that is not there
    tabs = re.findall(
        r'<a href="([^"]*)" class="md-tabs__link', (tmp_path / "site/index.html").read_text()
    )

    assert tabs[0] in {"index.html", "."}
    assert "notes.html" in tabs
    assert not any("m/x.html" in tab or "program" in tab for tab in tabs)
