"""`xlareport nights`: one page over many nightly jobs."""

from pathlib import Path

import click

from xlareport.cli.terminal import say


@click.command(name="nights")
@click.argument("root", type=click.Path(path_type=Path, exists=True, file_okay=False))
def command(root: Path) -> None:
    """Write ROOT/index.html: every nightly job below ROOT, with outcomes, steps and trends.

    Give each job a folder of its own, `xlareport nightly --root ROOT/JOB -- PROGRAM`, and run this
    after them.
    """
    from xlareport.site.night_jobs import write_jobs_page

    path, number = write_jobs_page(root)
    say(f"Open {path.resolve()} ({number:,} jobs).")
