"""`xlareport export`: one module for another tool."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlareport.cli.options import OUT_FILE, limit_options
from xlareport.cli.terminal import progress_bar, say, write_output
from xlareport.runtime.limits import Limits

if TYPE_CHECKING:
    from xlareport.export import Exported


@click.command(name="export")
@click.argument("dump")
@click.option(
    "--model-explorer",
    "module_name",
    required=True,
    metavar="MODULE",
    help="Write a graph for Model Explorer: a module by key or name, `main` for the main program.",
)
@click.option("--stage", metavar="STAGE", help="The snapshot, by its key; the final one if none.")
@click.option(
    "-o",
    "--out",
    type=OUT_FILE,
    help="The file; MODULE.json if none. Node data goes into files next to it.",
)
@click.option("--profile", "profiles", multiple=True, metavar="DIR", help="As for build.")
@limit_options
def command(
    dump: str,
    *,
    module_name: str,
    stage: str | None,
    out: Path | None,
    profiles: tuple[str, ...],
    limits: Limits,
) -> None:
    """Write MODULE of DUMP as a file that Model Explorer opens.

    Framework scopes become layers of the graph. Node data files are written next to it: roofline
    time (estimate), confidence of the cost (1 exact, 2 matched, 3 guessed) and, with a profile,
    measured time.
    """
    from xlareport.export import export_stage
    from xlareport.report import BuildOptions, read_profiled_module

    wanted = None if module_name == "main" else module_name
    options = BuildOptions(jobs=os.cpu_count() or 1, limits=limits, profiles=profiles)
    with progress_bar() as progress:
        module, times = read_profiled_module(dump, wanted, options, progress)
    exported = export_stage(module, stage, times)
    place = out or Path(f"{module.files.slug}.json")
    for written in _write(exported, place):
        say(str(written))


def _write(exported: "Exported", place: Path) -> list[Path]:
    files = {place: exported.graphs}
    for name, data in exported.node_data.items():
        files[place.with_name(f"{place.stem}.{name}.json")] = data
    for path, content in files.items():
        write_output(path, json.dumps(content))
    return list(files)
