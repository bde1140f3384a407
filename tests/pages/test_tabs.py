"""Tabs of a module's page: their titles, and the template that tabs of tables share."""

from xlareport.pages.large_figures import Figure
from xlareport.pages.module.module_pages import TABS
from xlareport.pages.rendering.environment import prose
from xlareport.pages.rendering.templates import write_template
from xlareport.pages.tables import Column, Table
from xlareport.pages.tabs import PlainTab, TabSection


def test_tabs_have_names_of_their_own() -> None:
    assert len({tab.name for tab in TABS}) == len({tab.label for tab in TABS}) == len(TABS)
    labels = {tab.name: tab.label for tab in TABS}
    assert (labels["texts"], labels["tpu"], labels["cost"]) == ("HLO", "TPU programs", "Cost")


def test_each_tab_has_a_place_of_its_own_by_use() -> None:
    places = [tab.place for tab in TABS]

    assert places == sorted(set(places))
    assert [tab.name for tab in TABS][:3] == ["steps", "cost", "time"]
    assert TABS[-1].name == "files"


def test_a_tab_of_sentences_figures_and_tables_needs_no_template() -> None:
    page = PlainTab(
        tables={"rows": Table((Column("Row"),), [])},
        heading="Rows",
        lead="3 rows.",
        notes=(prose("Of `file`."), "A < B."),
        figures=(Figure("Rows", "3", "of 4"),),
        sections=(TabSection("rows", "All rows", "In order."), TabSection("drawn", shows="tpu")),
    )
    text = write_template("plain_tab", page=page, name="jit_f", slug="jit_f")
    assert "# Rows of jit_f" in text
    assert '<p class="xr-lead">3 rows&#46;</p>' in text
    assert "<p>Of&#32;<code>file</code>&#46;</p>" in text
    assert "<p>A &#60; B&#46;</p>" in text
    assert "<dd>3</dd>" in text
    assert "## All rows\n\n<p>In order&#46;</p>" in text
    assert 'class="xr-table" data-xr-table="m/jit_f/rows"' in text
    assert 'class="xr-tpu" data-xr-tpu="m/jit_f/drawn"' in text
    assert "xr-muted" not in text
