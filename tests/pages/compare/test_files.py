"""The files that the sites of two and of many dumps share."""

from xlareport.pages.compare.files import frame_files


def test_the_frame_holds_settings_first_page_and_glossary() -> None:
    files = dict(frame_files("# Comparison", frozenset({"fusion"})))
    assert {"report.yml", "xlareport.yml", "index.md"} <= files.keys()
    assert files["index.md"] == "# Comparison"
    assert b"site_name" in bytes(files["report.yml"])


def test_what_is_named_is_explained() -> None:
    named, plain = (
        sorted(map(len, (str(text) for _, text in frame_files("", frozenset(names)))))
        for names in ({"algsimp"}, set())
    )
    assert named != plain
