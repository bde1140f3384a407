"""Where the pages of a comparison show a module, as links from its first page."""

from xlareport.pages import navigation
from xlareport.records.compare import ComparedRecord


def page_of(compared: ComparedRecord) -> str:
    """Return the address of a module's page from the first page."""
    return navigation.module_address(compared.slug)


def end_of(compared: ComparedRecord) -> str:
    """Return the address of the place that shows the last snapshots of a module side by side."""
    page = page_of(compared)
    return f"{page}#step={compared.contrasts[-1].id}" if compared.contrasts else page
