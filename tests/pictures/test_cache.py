"""Layouts are kept as numbers; whatever is wrong with a kept one, it is made again."""

import os
from pathlib import Path

import pytest

from xlareport.pictures import cache
from xlareport.pictures.cache import LayoutCache, layout_key
from xlareport.pictures.layout import Layout, Rectangle

LAYOUT = Layout(
    100.5,
    50.0,
    (Rectangle(1.0, 2.0, 3.0, 4.0),),
    (((0.0, 0.5), (1.0, 1.5)),),
    (Rectangle(0.0, 0.0, 9.0, 9.0),),
)


def test_a_layout_comes_back(tmp_path: Path) -> None:
    LayoutCache(tmp_path / "new" / "folder").put("abcdef", LAYOUT)
    assert LayoutCache(tmp_path / "new" / "folder").get("abcdef") == LAYOUT


def test_what_was_not_kept_is_not_there(tmp_path: Path) -> None:
    assert LayoutCache(tmp_path).get("abcdef") is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b"\xff\xfe", b'{"size":[1,"x"],"nodes":[],"edges":[],"groups":[]}'],
)
def test_what_is_broken_is_not_there(tmp_path: Path, content: bytes) -> None:
    layouts = LayoutCache(tmp_path)
    layouts.put("abcdef", LAYOUT)
    [kept] = tmp_path.rglob("*.json")
    kept.write_bytes(content)
    assert layouts.get("abcdef") is None
    layouts.put("abcdef", LAYOUT)
    assert layouts.get("abcdef") == LAYOUT


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    layouts = LayoutCache(tmp_path / "file" / "layouts")
    layouts.put("abcdef", LAYOUT)
    layouts.prune()
    assert layouts.get("abcdef") is None


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    cache = LayoutCache(tmp_path)
    (tmp_path / "ab").write_text("in the way")
    cache.put("abcdef", LAYOUT)
    assert cache.get("abcdef") is None


def test_no_scraps_are_left(tmp_path: Path) -> None:
    LayoutCache(tmp_path).put("abcdef", LAYOUT)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["cdef.json"]


def test_equal_texts_have_equal_keys() -> None:
    assert layout_key("digraph {}") == layout_key("digraph {}") != layout_key("digraph { }")


def test_what_was_not_asked_for_longest_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MOST_KEPT", 2)
    kept = LayoutCache(tmp_path)
    for place, key in enumerate(("aaaa", "bbbb", "cccc")):
        kept.put(key, LAYOUT)
        os.utime(tmp_path / key[:2] / f"{key[2:]}.json", (place, place))
    assert kept.get("aaaa") == LAYOUT
    kept.prune()
    assert [kept.get(key) for key in ("aaaa", "bbbb", "cccc")] == [LAYOUT, None, LAYOUT]
