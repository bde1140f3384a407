"""`xlareport pack`: a report as one file to attach to a bug report."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlareport.cli.options import OUT_FILE, jobs_option
from xlareport.cli.terminal import printable, progress_bar, say
from xlareport.runtime import units
from xlareport.site.fitting import LIMIT

if TYPE_CHECKING:
    from xlareport.share import Shared

_SIZE = 1_000_000


@click.command(name="pack")
@click.argument("report", metavar="[SITE]", type=click.Path(path_type=Path), default=Path())
@click.option(
    "--output",
    "-o",
    "target",
    metavar="FILE",
    type=OUT_FILE,
    help="The file to write; by default xla-report.zip, or xla-report.html.",
)
@click.option(
    "--single-file",
    "single",
    is_flag=True,
    help="One HTML file that opens by double click: the home page, the main program with all its "
    "pages, and the search over it.",
)
@click.option(
    "--limit",
    type=click.FloatRange(min=0.1),
    default=LIMIT / _SIZE,
    show_default=True,
    help="Size limit in megabytes; the least important data is left out first.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Remove user and host names, absolute and source paths, addresses and values of "
    "variables; the report is rebuilt from the rest.",
)
@jobs_option
def command(
    report: Path, target: Path | None, limit: float, *, single: bool, redact: bool, jobs: int
) -> None:
    """Put the report in SITE, the current folder by default, into one file to share.

    Recipients unpack the zip and open index.html; the HTML file of --single-file opens directly.
    Both contain the HLO, so any command of xlareport takes them instead of the dump. The site of a
    comparison is packed as a zip of its pages only.

    --redact lists on standard error what it removed. Names of modules, functions and ops are kept,
    since they are the program itself: check before sharing.
    """
    from xlareport.report import BuildOptions
    from xlareport.share import PackOptions, share, share_redacted

    target = target or Path("xla-report.html" if single else "xla-report.zip")
    options = PackOptions(target, int(limit * _SIZE), single)
    if redact:
        with progress_bar() as progress:
            done = share_redacted(report, options, BuildOptions(jobs=jobs), progress)
        _print_redacted(done)
    else:
        done = share(report, options)
    packed = done.packed
    say(f"{target}: {units.byte_size(packed.size)}, {units.plural(packed.files, 'file')}.")
    if packed.left_out:
        left_out = [f"{what} ({units.plural(count, 'file')})" for what, count in packed.left_out]
        say(f"Left out: {', '.join(left_out)}.", err=True)
    if not single:
        say("Mail filters may block a zip with scripts: --single-file writes HTML.", err=True)


def _print_redacted(done: "Shared") -> None:
    say(f"Removed: {units.plural(len(done.replaced), 'different text')}.", err=True)
    for text, instead in done.replaced.items():
        say(f"  {printable(text)} -> {instead}", err=True)
