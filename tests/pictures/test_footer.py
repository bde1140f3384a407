"""Notes and legend stand below the picture and stay within its width."""

import re

from xlareport.pictures.footer import footer_lines
from xlareport.pictures.legend import LegendEntry, Section

ENTRIES = [LegendEntry("families", "white", "elementwise, bookkeeping")] * 9
SECTIONS = [Section("", ENTRIES)]


def test_a_long_note_is_wrapped() -> None:
    lines, bottom = footer_lines(["word " * 60], [], 10, 100, 400)
    texts = [re.sub(r"<[^>]*>", "", line) for line in lines]
    assert len(texts) > 4
    assert all(len(text) * 6.7 <= 380 for text in texts)
    assert bottom > 100 + 16 * len(texts)


def test_the_legend_begins_new_rows() -> None:
    lines, _ = footer_lines([], SECTIONS, 10, 0, 500)
    places = [float(x) for line in lines for x in re.findall(r'<text[^>]* x="([\d.]+)"', line)]
    rows = {y for line in lines for y in re.findall(r'<text[^>]* y="([\d.]+)"', line)}
    assert max(places) + 6.7 * len(ENTRIES[0].words) <= 500
    assert len(rows) == 5


def test_a_narrow_picture_has_an_entry_a_row() -> None:
    lines, _ = footer_lines([], SECTIONS, 10, 0, 100)
    assert len({y for line in lines for y in re.findall(r'<text[^>]* y="([\d.]+)"', line)}) == 9


def test_the_legends_of_modes_stand_in_the_same_place() -> None:
    modes = [Section("opcode", ENTRIES[:2]), Section("cost", ENTRIES[:1])]
    lines, bottom = footer_lines([], [Section("", ENTRIES[:1]), *modes], 10, 0, 260)
    assert [line for line in lines if line.startswith('<g class="legend')] == [
        '<g class="legend of-opcode">',
        '<g class="legend of-cost">',
    ]
    heights = [y for line in lines for y in re.findall(r'<text[^>]* y="([\d.]+)"', line)]
    assert heights == ["18", "34", "50", "34"]
    assert bottom > 50
