"""Shares of a site: every page in one of them, few pages in each, and what pages link to."""

import json
from pathlib import Path

import pytest

from xlareport.site import site_shares
from xlareport.site.site_shares import SHARE, SiteShare, own_share, share_paths, write_shares


def pages_of(path: Path | None) -> list[str]:
    assert path is not None
    pages: list[str] = json.loads(path.read_text("utf-8"))["pages"]
    return pages


def sources_with(folder: Path, pages: int) -> Path:
    sources = folder / "site_src"
    (sources / "m").mkdir(parents=True)
    (sources / "m/x").mkdir()
    for number in range(pages):
        (sources / f"m/{number}.md").write_text("---\ntitle: x\nbetween_headings: html\n---\n# x\n")
    return sources


@pytest.mark.parametrize(("jobs", "number"), [(1, 120), (2, 120), (1, 1700), (5, 1700)])
def test_each_page_is_made_once_and_few_in_a_process(
    tmp_path: Path, jobs: int, number: int
) -> None:
    written = write_shares(sources_with(tmp_path, number), tmp_path, jobs)
    if written == [None]:
        assert (jobs, number) == (1, 120)
        return
    pages = [pages_of(path) for path in written]
    made = sorted(page for some in pages for page in some)
    assert made == sorted(f"m/{page}.md" for page in range(number))
    assert max(map(len, pages)) <= 500
    assert len(pages) >= jobs
    if jobs == 2:
        assert len(pages[0]) + 60 == len(pages[1]), "the first makes all else"


@pytest.mark.parametrize(
    ("changed", "shares"), [(1, [1200]), (100, [570, 630]), (101, [440, 500, 260])]
)
def test_pages_that_are_kept_are_many_in_a_process(
    tmp_path: Path, changed: int, shares: list[int]
) -> None:
    sources, former = sources_with(tmp_path, 1200), tmp_path / "site"
    (former / "m").mkdir(parents=True)
    for number in range(changed, 1200):
        (former / f"m/{number}.html").write_text("")
    written = write_shares(sources, tmp_path, 2, former)
    assert [len(pages_of(path)) for path in written] == shares


def test_a_process_without_a_share_makes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SHARE, raising=False)
    assert own_share() is None
    monkeypatch.setenv(SHARE, "")
    assert own_share() is None


def test_a_share_lists_no_other_pages_of_modules_and_no_payloads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_shares, "_MOST_PAGES", 70)
    sources = sources_with(tmp_path, 100)
    for name in ("assets/data/m/1/steps.js", "pictures/m/1.svg", "assets/mine.css", "m/x/own.png"):
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text("")
    (sources / "index.md").write_text("# Home\n")
    (sources / "about.md").write_text("[one](m/7.md#top) [none](m/none.md) [up](../m/8.md)\n")
    first, other = write_shares(sources, tmp_path, 1)[:2]
    monkeypatch.setenv(SHARE, str(first))
    share = own_share()
    assert share is not None
    outside = ["index.md", "about.md", "assets/mine.css", "m/x/own.png"]
    modules = sorted({*share.pages, "m/7.md"})
    assert list(share_paths(share, sources)) == [*outside, *modules]
    later = SiteShare(is_first=False, pages=frozenset(pages_of(other)))
    assert list(share_paths(later, sources)) == [*outside[:3], *sorted(later.pages)]
