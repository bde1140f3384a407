"""The head of a module's page."""

from msgspec.structs import replace
from tests.pages.records_of_modules import module, stage

from xlareport.pages.module.head import module_head

RECORD = replace(
    module("main", stage(5, label="first"), stage(7, changed=True, label="last"), stage(None)),
    key="module_0001.jit_f",
    slug="jit-f",
)


def test_the_overview_is_the_first_tab() -> None:
    head = module_head(RECORD, [("cost", "Cost"), ("time", "Measured")], (None, None))
    assert [(tab.label, tab.part) for tab in head.tabs] == [
        ("Overview", ""),
        ("Cost", "cost"),
        ("Measured", "time"),
    ]
    assert head.tabs[1].address.endswith("?cost")


def test_the_figures_are_of_the_last_snapshot_that_could_be_read() -> None:
    assert module_head(RECORD, (), (None, None)).snapshot == "last"
    unread = replace(RECORD, stages=(stage(None),))
    assert module_head(unread, (), (None, None)).snapshot == ""


def test_neighbors_are_addresses() -> None:
    head = module_head(RECORD, (), (None, "other"))
    assert head.previous is None
    assert head.next is not None
    assert "other" in head.next


def test_without_a_changed_step_there_is_no_history() -> None:
    assert module_head(RECORD, (), (None, None)).has_history
    unchanged = replace(RECORD, stages=(stage(5), stage(5, changed=False)))
    assert not module_head(unchanged, (), (None, None)).has_history
