"""Where finished pages are kept: with the site, and those of the guide with the user."""

from pathlib import Path

import pytest

from xlareport.site import kept_site as tested
from xlareport.site.kept_site import KEPT, KeptSite, kept_site, open_kept_site
from xlareport.storage.entry_store import EntryStore


def test_mkdocs_alone_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEPT, raising=False)
    assert kept_site() is None
    kept = KeptSite("program", EntryStore(Path("/a"), 3), EntryStore(Path("/b"), 4))
    monkeypatch.setenv(KEPT, kept.written())
    assert kept_site() == kept


def test_the_guide_is_kept_for_all_sites_where_the_user_has_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EntryStore(tmp_path / "store", 3)
    assert open_kept_site("program", store).guide == store
    monkeypatch.setattr(tested, "user_folder", lambda: tmp_path / "of-user")
    assert open_kept_site("program", store).guide.folder == tmp_path / "of-user/guide"


def test_both_places_are_pruned(tmp_path: Path) -> None:
    stores = [EntryStore(tmp_path / name, 1) for name in ("store", "guide")]
    for store in stores:
        store.put("ab" * 20, b"more than a byte")
    KeptSite("program", stores[0], stores[1]).prune()
    assert not [*tmp_path.glob("*/*/*.kept")]
