"""`xlareport finish`: what MkDocs does through its plugin, for the site of any other generator."""

from pathlib import Path

import click

from xlareport.cli.terminal import say
from xlareport.runtime import units


@click.command(name="finish")
@click.argument(
    "site",
    metavar="[SITE]",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path("site"),
)
def command(site: Path) -> None:
    """Make the pages in SITE, ./site by default, safe to open anywhere.

    For a generator that runs no MkDocs plugins, such as Zensical: after `zensical build` in the
    folder of a report. Each page gets a Content-Security-Policy and a note for browsers without
    scripts, and the styles become one file. Doing it twice changes nothing.
    """
    from xlareport.site.finish import finish_site

    pages = finish_site(site)
    say(f"{site}: {units.plural(pages, 'page')} finished.")
