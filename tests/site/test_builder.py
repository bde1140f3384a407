import re
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from xlareport import mkdocs_plugin
from xlareport.runtime.worker_pool import WorkerPool
from xlareport.site import builder, kept_site, site_shares
from xlareport.site.builder import MissingPluginError, SiteBuildError, build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile


@pytest.fixture
def out(tmp_path: Path, few_pages: list[SiteFile]) -> Path:
    write_sources(tmp_path, few_pages)
    return tmp_path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, few_pages: list[SiteFile]) -> Path:
    out = tmp_path_factory.mktemp("built")
    write_sources(out, [*few_pages, ("report.json", "{}\n")])
    assert build_site(out) == ""
    return out


def test_a_report_is_built_without_a_word(built: Path) -> None:
    assert (built / "site/index.html").is_file()
    assert (built / "site/report.json").read_text() == "{}\n"
    assert (built / "site_src/report.json").is_file()
    assert not (built / ".xlareport").exists()


def test_a_failed_build_leaves_the_former_site_whole(built: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(built, tmp_path / "out"))
    (out / "site_src/index.md").write_text("# New\n\n[gone](gone.md)\n")

    with pytest.raises(SiteBuildError, match=r"gone\.md"):
        build_site(out)
    assert "Home" in (out / "site/index.html").read_text()


def test_without_strict_a_warning_is_told(out: Path) -> None:
    (out / "site_src/notes.md").write_text("# Notes\n\n[gone](gone.md)\n")

    assert "gone.md" in build_site(out, strict=False)
    assert (out / "site/notes.html").is_file()


def test_what_the_user_adds_survives(out: Path, few_pages: list[SiteFile]) -> None:
    settings = out / "mkdocs.yml"
    settings.write_text(
        settings.read_text().replace("# site_name: My report", "site_name: Mine")
        + "extra_css:\n  - assets/mine.css\nplugins:\n  tags: {}\n"
        + "theme:\n  language: de\n  palette:\n    primary: teal\n"
    )
    (out / "site_src/assets/mine.css").write_text("")
    (out / "site_src/notes.md").write_text("# Notes of mine\n")
    write_sources(out, few_pages)

    assert build_site(out) == ""
    page = (out / "site/index.html").read_text()
    assert "<title>Mine</title>" in page
    assert 'data-md-color-primary="teal"' in page
    assert "assets/xlareport.css" in page
    assert "assets/mine.css" in page
    assert 'href="notes.html"' in page
    assert "Content-Security-Policy" in page


def test_plugins_as_a_list_would_lose_ours(out: Path) -> None:
    with (out / "mkdocs.yml").open("a") as settings:
        settings.write("plugins:\n  - search\n")

    with pytest.raises(MissingPluginError, match="mapping"):
        build_site(out)
    assert not (out / "site").exists()


PAGE = """
<p id="lead" class="a">One &amp; <b>two</b>: [no](link.md) *as it is*</p>

# A &lt;heading&gt; of `mine`

<div><pre>
a

b \ue0000\ue000
</pre></div>
<p><a href="../index.html">Home</a></p>
## Another

### And one below
<p>The end</p>
"""


def test_html_between_headings_stays_as_it_is(tmp_path: Path, few_pages: list[SiteFile]) -> None:
    front = "---\ntitle: x\nsearch:\n  exclude: true\nbetween_headings: html\n---\n"
    plain = PAGE.replace("<p id", "before\n\n<p id").replace("<p>The", "\n<p>The")
    pages = [("m/fast.md", front + PAGE), ("m/plain.md", f"---\ntitle: x\n---\n{plain}")]
    write_sources(tmp_path, [*few_pages, *pages])
    (tmp_path / "site_src/notes.md").write_text("# Notes\n\n[there](m/fast.md#lead)\n")

    assert build_site(tmp_path) == ""
    fast = (tmp_path / "site/m/fast.html").read_text("utf-8")
    assert '<p id="lead" class="a">One &amp; <b>two</b>: [no](link.md) *as it is*</p>' in fast
    assert "<pre>\na\n\nb \ue0000\ue000\n</pre>" in fast
    slow = (tmp_path / "site/m/plain.html").read_text("utf-8")
    for one in (fast, slow):
        assert re.search(r'<h1 id="a-heading-of-mine">A &lt;heading&gt; of <code>mine</code>', one)
        assert '<a href="../index.html">Home</a></p>' in one
        assert '<h3 id="and-one-below">' in one


def contents(out: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (out / "site").rglob("*") if path.is_file()}


def test_several_runs_build_the_same_site(
    tmp_path: Path, few_pages: list[SiteFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process, in several, and in those of a pool."""
    front = "---\nsearch:\n  exclude: true\n---\n"  # as the pages of modules have it
    pages = [(f"m/{number}.md", f"{front}# {number}\n\n[x](x.md)\n") for number in range(6)]
    few = (few_page for few_page in few_pages if few_page[0] != "m/x.md")
    write_sources(tmp_path, [*few, ("m/x.md", f"{front}# x\n"), *pages])
    (tmp_path / "site_src/notes.md").write_text("# Notes\n\n[there](m/3.md) [gone](gone.md)\n")
    said = build_site(tmp_path, strict=False)
    alone = contents(tmp_path)
    for name, pages in {"_FEWEST": 2, "_REST": 1, "_MOST_PAGES": 2}.items():
        monkeypatch.setattr(site_shares, name, pages)
    assert said.count("gone.md") == 1
    for in_pool in (True, False):
        with WorkerPool(3) if in_pool else nullcontext() as workers:
            assert build_site(tmp_path, strict=False, workers=workers) == said
        assert contents(tmp_path) == alone, in_pool


def test_a_plugin_that_raises_is_told(out: Path) -> None:
    (out / "hook.py").write_text("def on_config(config):\n    raise RuntimeError('of my own')\n")
    settings = out / "mkdocs.yml"
    settings.write_text(settings.read_text() + "hooks:\n  - hook.py\n")
    with pytest.raises(SiteBuildError, match="of my own"):
        build_site(out)


def test_settings_that_are_no_yaml_are_told_in_a_few_words(out: Path) -> None:
    settings = out / "mkdocs.yml"
    settings.write_text(f"{settings.read_text()}\n: [\n")
    with pytest.raises(SiteBuildError, match="parsing the configuration file") as caught:
        build_site(out)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(("exists", "compiled"), [(False, ["theme", "ours"]), (True, [])])
def test_templates_are_compiled_before_the_first_build_of_a_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exists: bool, compiled: list[str]
) -> None:
    calls: list[str] = []

    def compile_ours() -> dict[str, bytes]:
        calls.append("ours")
        return {"a": b""}

    monkeypatch.setattr(kept_site, "user_folder", lambda: tmp_path)
    if exists:
        (tmp_path / "guide").mkdir()
    monkeypatch.setattr(mkdocs_plugin, "compile_theme", lambda: calls.append("theme"))
    monkeypatch.setattr(builder, "compile_templates", compile_ours)
    assert builder.prepare_mkdocs() == ({} if exists else {"a": b""})
    assert calls == compiled
