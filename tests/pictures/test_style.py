"""The style sheet has a light value for every color and lets a page set another."""

import re
import subprocess
import sys
from pathlib import Path

from xlareport.knowledge import colors
from xlareport.pictures.style import dark_rules, style_sheet
from xlareport.runtime.resources import find_resource


def test_only_the_families_in_use_have_rules() -> None:
    sheet = style_sheet({"dark-blue", "white"})
    assert set(re.findall(r"\.n-([a-z-]+)", sheet)) == {"dark-blue", "white"}


def test_a_family_has_the_colors_of_xla() -> None:
    scheme = colors.all_entries()["dark-blue"]
    sheet = style_sheet({"dark-blue"})
    assert f"fill:var(--xg-dark-blue,{scheme.fill})" in sheet
    assert f"stroke:var(--xg-dark-blue-line,{scheme.border})" in sheet
    assert f"fill:var(--xg-dark-blue-text,{scheme.text})" in sheet


def test_every_property_has_a_light_value() -> None:
    sheet = style_sheet(colors.all_entries())
    assert not re.findall(r"var\(--xg-[a-z-]+\)", sheet)


def test_nothing_is_loaded() -> None:
    sheet = style_sheet(colors.all_entries())
    assert not re.search(r"@|url|//|expression|<", sheet)


def test_states_are_told_apart_without_color() -> None:
    dashes = dict(re.findall(r"\.n\.s-(\w+)>.*?stroke-dasharray:([^}]*)}", style_sheet(())))
    assert len(set(dashes.values())) == len(dashes) == 3


def test_a_mode_shows_its_own_and_no_other() -> None:
    sheet = style_sheet((), has_modes=True)
    assert ".xg .legend,.xg .mark{display:none}" in sheet
    assert ".xg.by-cost .of-cost{display:inline}" in sheet
    assert '.xg.by-cost .n[data-cost="4"]>.box{fill:var(--xg-heat-4,' in sheet
    assert "by-cost" not in style_sheet(())
    assert not re.findall(r"var\(--xg-[a-z0-9-]+\)", sheet)


def test_a_page_has_the_dark_colors_of_a_file() -> None:
    sheet = find_resource("site_src").joinpath("assets", "picture_colors.css").read_text("utf-8")
    of_page = dict(re.findall(r"(--xg-[\w-]+):\s*([^;]+);", sheet))
    assert len(of_page) > 60
    assert dict(re.findall(r"(--xg-[\w-]+):([^;}]+)", dark_rules())) == of_page


def test_what_is_made_from_the_table_is_current() -> None:
    script = Path(__file__).parents[2] / "scripts" / "picture_style.py"
    done = subprocess.run([sys.executable, script, "--check"], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
