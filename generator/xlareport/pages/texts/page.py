"""The page that shows every text of a module whole."""

from dataclasses import dataclass

from xlareport.pages import navigation, words
from xlareport.records.report import ModuleRecord


@dataclass(frozen=True, slots=True)
class TextsPage:
    """Everything on the page beside the payload."""

    name: str
    key: str


def texts_page(module: ModuleRecord) -> TextsPage:
    """Make the page that the page script fills."""
    return TextsPage(
        name=words.short_name(module.name),
        key=navigation.texts_key(module.slug),
    )
