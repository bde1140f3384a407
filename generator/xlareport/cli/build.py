"""`xlareport build`: a dump in, a site out."""

import os
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlareport.analysis.cost.options import CostOptions
from xlareport.cli.options import OUT_FOLDER, limited
from xlareport.cli.terminal import print_problems, printable, say
from xlareport.knowledge.devices import DeviceTableError, device_named, devices, parse_devices
from xlareport.ptxas import find_ptxas
from xlareport.readers.replay_result import ReplayResult, read_replay_result
from xlareport.runtime.limits import Limits
from xlareport.site.builder import MkdocsWorker
from xlareport.site.sizes import describe_sizes, find_overruns, measure_site

if TYPE_CHECKING:
    from xlareport.pages.pictures.requests import PictureChoice
    from xlareport.report import BuildOptions, Built

_BREACH = 1


class _BuildCommand(click.Command):
    """Takes `--ptxas` alone as well as `--ptxas=PATH`, and never the next argument as its path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        return super().parse_args(ctx, ["--ptxas=" if each == "--ptxas" else each for each in args])


@click.command(name="build", cls=_BuildCommand)
@click.argument("dump")
@click.option(
    "--out",
    type=OUT_FOLDER,
    default=Path(),
    help="Where mkdocs.yml, site_src/ and site/ go; the current folder by default.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default=True,
    help="Number of processes.",
)
@click.option(
    "--marker",
    metavar="REGEX",
    help="The main program is the module that contains this: an op_name, opcode, constant, "
    "custom call target, source file or shape.",
)
@click.option(
    "--pictures",
    type=click.Choice(["all", "changed", "main", "none"]),
    default="changed",
    show_default=True,
    help="Which graphs are drawn: all; those of modules below a size limit and of each step with "
    "changes; the same for the main program only; none.",
)
@click.option(
    "--devices",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A TOML file of devices with their peak rates (see the guide); they take "
    "precedence over built-in ones.",
)
@click.option(
    "--device",
    metavar="NAME",
    help="Assume this device, whatever the dump names: a key or name of the table of devices, "
    "such as nvidia-h100.",
)
@click.option(
    "--ptxas",
    metavar="[PATH]",
    help="Compile the PTX of the dump with this assembler of NVIDIA's, that of "
    "xlareport[ptxas] without =PATH, to know registers and spills of GPU kernels.",
)
@click.option(
    "--with-source",
    is_flag=True,
    help="Show the source lines that the dump names, if their files are on this "
    "machine. The report then contains parts of them.",
)
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="DIR",
    help="A profile of JAX, TensorFlow or PyTorch/XLA (*.xplane.pb, *.trace.json.gz); "
    "repeatable. plugins/profile in or next to DUMP is found automatically.",
)
@click.option(
    "--replay",
    "replays",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="What `xlareport replay --bisect --json` printed for a module of DUMP; repeatable.",
)
@click.option(
    "--history",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Add this night's figures to DIR/history.jsonl and show the nightly trend.",
)
@click.option(
    "--keep", type=click.IntRange(min=2), help="Number of nights kept in DIR; all by default."
)
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with code 1 if anything could not be read, or nothing was compiled.",
)
@click.option("--no-html", is_flag=True, help="Write site_src/ and report.json, do not run mkdocs.")
@click.option("--quiet", "-q", is_flag=True, help="No progress bar.")
@limited
def command(
    dump: str,
    out: Path,
    jobs: int,
    marker: str | None,
    pictures: "PictureChoice",
    *,
    history: Path | None,
    keep: int | None,
    devices: Path | None,
    device: str | None,
    ptxas: str | None,
    profiles: tuple[str, ...],
    replays: tuple[Path, ...],
    with_source: bool,
    strict: bool,
    no_html: bool,
    quiet: bool,
    limits: Limits,
) -> None:
    """Read DUMP and write a static site.

    DUMP is the directory given to --xla_dump_to, an archive of one (.zip, .tar.gz, .tar.zst), one
    HLO file, a captured log of --xla_dump_to=-, or another report, which carries the texts. A URL
    (gs://, s3://, https://) leads to any of these on another machine, `-` is standard input.

    Afterwards open OUT/site/index.html, or run `mkdocs serve` in OUT.
    """
    cost_options = _cost_options(devices, device, with_source=with_source)
    begun = time.monotonic()
    with nullcontext() if no_html else MkdocsWorker() as mkdocs_worker:  # prepares meanwhile
        from xlareport.cli.terminal import progress_bar  # noqa: PLC0415
        from xlareport.report import BuildOptions, build  # noqa: PLC0415

        options = BuildOptions(
            out=out,
            jobs=jobs,
            marker=marker,
            pictures=pictures,
            cost_options=cost_options,
            history=history,
            keep=keep,
            limits=limits,
            profiles=profiles,
            replays=tuple(map(_replay_result, replays)),
            ptxas=None if ptxas is None else find_ptxas(ptxas),
            html=not no_html,
        )
        with progress_bar(quiet=quiet) as progress:
            built = build(dump, options, progress, mkdocs_worker)
    _summarize(built, options, time.monotonic() - begun)
    incomplete = built.report.problems or not built.report.modules
    click.get_current_context().exit(_BREACH if strict and incomplete else 0)


def _summarize(built: "Built", options: "BuildOptions", seconds: float) -> None:
    """Print warnings, problems, sizes and the page to open."""
    report = built.report
    if built.warnings:
        say(built.warnings, err=True)
    if not report.modules:
        from xlareport.pages.words import without_modules  # noqa: PLC0415 - `--help` needs no pages

        say(printable(without_modules(report)), err=True)
    print_problems(report.problems, "the Dump contents page lists all")
    if options.html:
        _print_sizes(options.out, report.dump.bytes, seconds)
    say(_last_line(options.out, report.main.name if report.main else None, html=options.html))


def _cost_options(table: Path | None, name: str | None, *, with_source: bool) -> CostOptions:
    """Read the user's table and find the device; raises click.BadParameter, naming the fault."""
    try:
        own = parse_devices(table.read_text("utf-8")) if table else {}
    except (DeviceTableError, OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(str(error), param_hint="--devices") from error
    every = {**devices(), **own}
    device = (device_named(name, own) or device_named(name, every)) if name else None
    if name and device is None:
        known = ", ".join(every)
        raise click.BadParameter(f"{name} is none of {known}.", param_hint="--device")
    return CostOptions(own, device, with_source)


def _replay_result(path: Path) -> ReplayResult:
    """Read the user's file; raises click.BadParameter."""
    try:
        result, problems = read_replay_result(path.read_bytes(), str(path))
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}", param_hint="--replay") from error
    if result is None:
        raise click.BadParameter(str(problems[0]), param_hint="--replay")
    return result


def _print_sizes(out: Path, dump: int, seconds: float) -> None:
    """Print how large the site is, and what of it is larger than planned."""
    sizes = measure_site(out / "site")
    for line in describe_sizes(sizes, dump, seconds):
        say(line)
    for overrun in find_overruns(sizes, dump):
        say(f"Larger than planned: {overrun}.")


def _last_line(out: Path, main: str | None, *, html: bool) -> str:
    where = out / ("site/index.html" if html else "site_src")
    program = f"the main program is {main}" if main else "no module was found"
    return f"Open {where.resolve()} ({program})."
