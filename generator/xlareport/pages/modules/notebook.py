"""The static table that a notebook shows of a dump; no module is read for it."""

import os
import sys
from collections.abc import Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from xlareport.dump.modules import ModuleFiles
from xlareport.pages.rendering.environment import visible

_MOST_MODULES = 50
_TABLE = Markup(
    "<p>{}</p><table><thead><tr><th>module</th><th>snapshots</th><th>files</th></tr></thead>"
    "<tbody>{}</tbody></table>{}"
)


def notebook_table(title: str, modules: Sequence[ModuleFiles]) -> str:
    """Return the modules with their snapshots and files as HTML without script and style."""
    rows = Markup("").join(_module_row(module) for module in modules[:_MOST_MODULES])
    more = len(modules) - _MOST_MODULES
    remark = Markup("<p>and {:,} more</p>").format(more) if more > 0 else Markup("")
    return str(_TABLE.format(visible(title), rows, remark))


def show_file(file: Path, table: str, *, embed: bool) -> None:
    """Show a report in one file in the notebook that runs, under a table; else print its name.

    The frame is sandboxed: what a report does stays in it.
    """
    if "IPython" not in sys.modules or import_module("IPython").get_ipython() is None:
        sys.stdout.write(f"{file.resolve()}\n")
        return
    display = import_module("IPython.display")
    display.display(display.HTML(framed(file, table, embed=embed)))


def framed(file: Path, table: str, *, embed: bool) -> str:
    """Return a table and below it a frame with a report, by its address or with its contents."""
    address = quote(os.path.relpath(file).replace(os.sep, "/"))
    inside = f'srcdoc="{escape(file.read_text("utf-8"))}"' if embed else f'src="{address}"'
    return (
        f'{table}<p><a href="{address}">{escape(file.name)}</a></p>'
        f'<iframe {inside} sandbox="allow-scripts allow-popups allow-downloads" '
        'style="width: 100%; height: 40em; border: 1px solid" title="XLA report"></iframe>'
    )


def _module_row(module: ModuleFiles) -> Markup:
    return Markup("<tr><td><code>{}</code></td><td>{:,}</td><td>{:,}</td></tr>").format(
        visible(module.key), len(module.stages), len(module.artifacts)
    )
