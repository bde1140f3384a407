"""What a notebook shows of a dump: a small static table, for which nothing is read."""

from collections.abc import Sequence

from markupsafe import Markup

from xlareport.dump.modules import ModuleFiles
from xlareport.pages.rendering.environment import visible

_MOST = 50
_TABLE = Markup(
    "<p>{}</p><table><thead><tr><th>module</th><th>snapshots</th><th>files</th></tr></thead>"
    "<tbody>{}</tbody></table>{}"
)


def modules_table(title: str, modules: Sequence[ModuleFiles]) -> str:
    """Return the modules with their snapshots and files as HTML without script and style."""
    rows = Markup("").join(_row(module) for module in modules[:_MOST])
    more = len(modules) - _MOST
    rest = Markup("<p>and {:,} more</p>").format(more) if more > 0 else Markup("")
    return str(_TABLE.format(visible(title), rows, rest))


def _row(module: ModuleFiles) -> Markup:
    return Markup("<tr><td><code>{}</code></td><td>{:,}</td><td>{:,}</td></tr>").format(
        visible(module.key), len(module.stages), len(module.artifacts)
    )
