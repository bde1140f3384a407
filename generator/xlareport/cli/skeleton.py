"""`xlareport skeleton`: a module in the order in which it runs."""

import json
import os
import shutil
import sys
from pathlib import Path

import click

from xlareport.cli.options import OUT_FILE, limit_options
from xlareport.cli.terminal import progress_bar, say, write_output
from xlareport.runtime.limits import Limits

_WIDTH_IN_FILES = 160


@click.command(name="skeleton")
@click.argument("dump")
@click.option("--module", "module_name", metavar="MODULE", help="By key or name; main if none.")
@click.option("--full", is_flag=True, help="A line for every instruction, nothing folded.")
@click.option("--json", "as_json", is_flag=True, help="Every item as JSON.")
@click.option(
    "--trace",
    type=OUT_FILE,
    metavar="OUT.json",
    help="Write a trace for Perfetto or chrome://tracing.",
)
@limit_options
def command(
    dump: str,
    *,
    module_name: str | None,
    full: bool,
    as_json: bool,
    trace: Path | None,
    limits: Limits,
) -> None:
    """Print the instructions of a module of DUMP in execution order.

    It shows the trip counts of loops, the kernels between start and done of asynchronous
    collectives, and the members of command buffers. Times are estimates, by the roofline or the
    TPU compiler's cycles, not measured. Repeated layers are folded to fit one screen.
    """
    from xlareport.analysis.skeleton.skeleton_trace import make_trace
    from xlareport.report import BuildOptions, read_one_module
    from xlareport.skeleton import module_skeleton, skeleton_text, skeleton_value

    options = BuildOptions(jobs=os.cpu_count() or 1, limits=limits)
    wanted = None if module_name == "main" else module_name
    with progress_bar() as progress:
        module = read_one_module(dump, wanted, options, progress)
    skeleton = module_skeleton(module)
    if trace is not None:
        write_output(trace, json.dumps(make_trace(skeleton)))
    if as_json:
        say(json.dumps(skeleton_value(skeleton)))
    elif trace is not None:
        say(str(trace))
    if not as_json and (full or trace is None):
        say(skeleton_text(skeleton, full=full, width=_width()))


def _width() -> int:
    """Return how wide a line may be: the terminal, or enough for a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH_IN_FILES
