import pytest

from xlareport.dump.endings import (
    is_ending,
    kind_by_ending,
    kind_by_format,
    kind_by_report,
    read_plain,
)
from xlareport.dump.reading import NameReading
from xlareport.dump.tokens import joined


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("graph.dot", "hlo-dot"),
        ("kernel.PTX", "ptx"),
        ("nohup.out", "log"),
        ("Makefile", "foreign"),
        (".bashrc", "foreign"),
        ("picture.png", "foreign"),
        ("XLA_FLAGS", "flags"),
        ("result.txt", "unknown"),
        ("word", "unknown"),
        ("", "unknown"),
        ("a.", "unknown"),
    ],
)
def test_a_plain_name_is_told_by_itself_or_by_its_ending(name: str, kind: str) -> None:
    reading = NameReading()

    read_plain(reading, name)

    assert reading.kind == kind
    assert joined(reading.tokens) == name


def test_endings_formats_and_reports_have_kinds() -> None:
    assert kind_by_ending("cubin") == "object"
    assert kind_by_ending("xyz") == "unknown"
    assert kind_by_format("top_level.html") == "hlo-html"
    assert kind_by_report("buffer-assignment-values") == "buffer-values"


def test_endings_are_told_from_names_of_side_files() -> None:
    assert is_ending("txt")
    assert is_ending("ptx")
    assert not is_ending("debug_options")
