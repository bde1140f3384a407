"""The tab of a module's graphs: pictures of snapshots, neighborhoods, computations over steps."""

from collections.abc import Sequence

from markupsafe import Markup

from xlareport.pages import navigation
from xlareport.pages.pictures.requests import PictureView
from xlareport.pages.rendering.environment import prose
from xlareport.pages.tables import PartPage
from xlareport.pages.tabs import ModuleTab
from xlareport.records.report import ModuleRecord


class GraphPage(PartPage, frozen=True):
    """Everything on the tab."""

    pictures: tuple[PictureView, ...]
    no_pictures: Markup
    """Why there are none."""
    has_graph: bool
    """Whether the final snapshot could be read."""
    has_first_graph: bool
    """Whether the first snapshot is another one than the final one and is drawn."""
    has_history: bool
    """Whether any step changed something."""
    steps_address: str


def graph_page(record: ModuleRecord, pictures: Sequence[PictureView]) -> GraphPage:
    """Return the tab of one module."""
    page = navigation.module_page(record.slug)
    first_graph = navigation.module_key(record.slug, "graph-first")
    return GraphPage(
        tables={},
        pictures=tuple(pictures),
        no_pictures=prose(_no_pictures(record)),
        has_graph=record.final.instructions is not None,
        has_first_graph=any(picture.graph == first_graph for picture in pictures),
        has_history=record.changed_steps > 0,
        steps_address=navigation.module_address(record.slug, "steps", seen_from=page),
    )


TAB = ModuleTab(
    "graph",
    lambda shown: shown,
    lambda record, shown: graph_page(record, shown.pictures),
    wide=True,
    place=90,
)


def _no_pictures(module: ModuleRecord) -> str:
    if module.final.instructions is None:
        return "No graph: no snapshot of this module could be read."
    return (
        "No graph: the report was built with `--pictures none`; "
        "`xlareport build DUMP --pictures changed` draws them."
    )
