"""`xlareport build`: a dump in, a site out; with `--watch` again and again."""

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from xlareport.cli.options import OUT_FOLDER, limit_options, size
from xlareport.cli.terminal import print_problems, printable, say, short_name, warn_of_marker
from xlareport.runtime.errors import XlareportError, error_reason
from xlareport.runtime.limits import CACHE_BYTES

if TYPE_CHECKING:
    from xlareport.analysis.cost.cost_options import CostOptions
    from xlareport.readers.replay_result import ReplayResult
    from xlareport.records.outcome import BuildOutcome
    from xlareport.site.former_build import FormerBuild

_BREACH = 1
_LOOK = 2.0
"""Seconds between two looks at the files."""
_PATIENCE = 20.0
"""Seconds after which the files at rest are built while others still change."""
_NOT_DECIDING = ("cache_bytes", "jobs", "keep", "out", "scheduler")
"""Options of a build that leave its pages as they are."""


class _BuildCommand(click.Command):
    """Takes `--ptxas` alone as well as `--ptxas=PATH`, and never the next argument as its path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        return super().parse_args(ctx, ["--ptxas=" if arg == "--ptxas" else arg for arg in args])


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
    help="Output of `xlareport replay --bisect --json` for a module of DUMP; repeatable.",
)
@click.option(
    "--history",
    metavar="DIR",
    type=OUT_FOLDER,
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
@click.option(
    "--cache-size",
    type=size,
    default=CACHE_BYTES,
    show_default="2GB",
    help="Maximum size of OUT/.cache, which lets the next build read only changed files; "
    "0 disables it.",
)
@click.option(
    "--watch",
    is_flag=True,
    help="Serve the report on this machine and build it again whenever files of DUMP change; "
    "files still being written are read later.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option(
    "--scheduler",
    metavar="WHERE",
    help="Let a cluster of Dask read the modules: tcp://HOST:PORT, a scheduler file, local:N for "
    "N processes of this machine, or `dask` for what Dask's configuration names. Needs "
    "xlareport[dask], here and on every worker.",
)
@click.option("--no-html", is_flag=True, help="Write site_src/ and report.json, do not run mkdocs.")
@click.option("--quiet", "-q", is_flag=True, help="No progress bar.")
@limit_options
def command(
    dump: str,
    *,
    devices: Path | None,
    device: str | None,
    ptxas: str | None,
    replays: tuple[Path, ...],
    with_source: bool,
    strict: bool,
    cache_size: int,
    watch: bool,
    port: int,
    no_html: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Read DUMP and write a static site.

    DUMP is the directory given to --xla_dump_to, an archive of one (.zip, .tar.gz, .tar.zst), one
    HLO file, a captured log of --xla_dump_to=-, or another report, which carries the texts. A URL
    (gs://, s3://, https://) leads to any of these on another machine, `-` is standard input.

    Afterwards open OUT/site/index.html, or run `mkdocs serve` in OUT.
    """
    settings |= {
        "cost_options": _cost_options(devices, device, with_source=with_source),
        "replays": tuple(map(_replay_result, replays)),
        "cache_bytes": cache_size,
        "html": not no_html,
    }
    asked = _Build(settings, ptxas, quiet=quiet)
    if watch:
        _watch(asked, dump, port)
    outcome = asked.run(dump)
    _summarize(outcome, asked)
    incomplete = outcome.problems or outcome.missing
    click.get_current_context().exit(_BREACH if strict and incomplete else 0)


def _watch(asked: "_Build", dump: str, port: int) -> NoReturn:
    if not asked.html:
        raise click.UsageError("--watch serves pages, which --no-html leaves out.")
    _watch_dump(dump, asked.out, port, lambda place: _summarize(asked.run(place, dump), asked))


class _Build:
    """A build with the options of the command line, once or with `--watch` repeatedly."""

    def __init__(self, settings: dict[str, Any], ptxas: str | None, *, quiet: bool) -> None:
        """Take the values of BuildOptions by their names."""
        self.settings = settings
        self.out: Path = settings["out"]
        self.html: bool = settings["html"]
        self.seconds = 0.0
        """How long the last one took."""
        self._ptxas = ptxas
        self._quiet = quiet

    def run(self, dump: str, name: str | None = None) -> "BuildOutcome":
        """Build the report of a dump unless it is current, and return its outcome."""
        begun = time.monotonic()
        former = self._former(dump)
        outcome = former.outcome() if former else None
        if outcome is not None:
            say("Nothing has changed since the last build.")
        else:
            outcome = self._new(dump, name)
            if former:
                former.keep(outcome)
        self.seconds = time.monotonic() - begun
        return outcome

    def _former(self, dump: str) -> "FormerBuild | None":
        """Return the last build, unless more than the dump's files and the options decides."""
        from xlareport.site.former_build import former_build

        values = self.settings
        beside = *(values[name] for name in ("history", "profiles", "replays")), self._ptxas
        if not self.html or any(beside) or self._ptxas == "" or values["cost_options"].with_source:
            return None
        deciding = [value for name, value in sorted(values.items()) if name not in _NOT_DECIDING]
        return former_build(dump, self.out, deciding, values["limits"], values["cache_bytes"])

    def _new(self, dump: str, name: str | None) -> "BuildOutcome":
        from xlareport.site.builder import MkdocsWorker

        with MkdocsWorker() if self.html else nullcontext() as mkdocs_worker:  # gets ready
            from xlareport.cli.terminal import progress_bar
            from xlareport.pages.words import describe_outcome
            from xlareport.ptxas import find_ptxas
            from xlareport.report import BuildOptions, build

            assembler = None if self._ptxas is None else find_ptxas(self._ptxas)
            options = BuildOptions(**self.settings, ptxas=assembler, name=name)
            with progress_bar(quiet=self._quiet) as progress:
                built = build(dump, options, progress, mkdocs_worker)
        return describe_outcome(built.report, built.warnings)


def _summarize(outcome: "BuildOutcome", asked: _Build) -> None:
    """Print warnings, problems, sizes and the page to open."""
    if outcome.warnings:
        say(outcome.warnings, err=True)
    if outcome.missing:
        say(printable(outcome.missing), err=True)
    print_problems(outcome.problems, "the Dump contents page lists all")
    if not outcome.missing:
        warn_of_marker(asked.settings["marker"], outcome.sureness)
    if asked.html:
        _print_sizes(asked.out, outcome.bytes, asked.seconds)
    say(_last_line(asked.out, outcome.main, html=asked.html))


def _cost_options(table: Path | None, name: str | None, *, with_source: bool) -> "CostOptions":
    """Read the user's table and find the device; raises click.BadParameter, naming the fault."""
    from xlareport.analysis.cost.cost_options import CostOptions
    from xlareport.knowledge.devices import DeviceTableError, device_named, devices, parse_devices

    try:
        user_devices = parse_devices(table.read_text("utf-8")) if table else {}
    except (DeviceTableError, OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(str(error), param_hint="--devices") from error
    every = {**devices(), **user_devices}
    device = (device_named(name, user_devices) or device_named(name, every)) if name else None
    if name and device is None:
        names = ", ".join(every)
        raise click.BadParameter(f"{name} is none of {names}.", param_hint="--device")
    return CostOptions(user_devices, device, with_source)


def _replay_result(path: Path) -> "ReplayResult":
    """Read the user's file; raises click.BadParameter."""
    from xlareport.readers.replay_result import read_replay_result

    try:
        result, problems = read_replay_result(path.read_bytes(), str(path))
    except OSError as error:
        raise click.BadParameter(f"{path}: {error_reason(error)}", param_hint="--replay") from error
    if result is None:
        raise click.BadParameter(str(problems[0]), param_hint="--replay")
    return result


def _print_sizes(out: Path, dump: int, seconds: float) -> None:
    """Print how large the site is."""
    from xlareport.site.site_sizes import describe_sizes, measure_site

    for line in describe_sizes(measure_site(out / "site"), dump, seconds):
        say(line)


def _last_line(out: Path, main: str | None, *, html: bool) -> str:
    where = out / ("site/index.html" if html else "site_src")
    program = f"the main program is {short_name(main)}" if main else "no module was found"
    return f"Open {where.resolve()} ({program})."


def _watch_dump(dump: str, out: Path, port: int, build: Callable[[str], None]) -> NoReturn:
    """Serve OUT/site, and call `build` with a folder of the files at rest whenever they change.

    It ends with the process: by Ctrl-C.
    """
    from xlareport.site.folder import Folder, check_apart
    from xlareport.site.live_server import start_server
    from xlareport.site.watched_dump import WatchedDump

    folder = Folder(out)
    if not Path(dump).is_dir():
        raise click.BadParameter("--watch follows a directory of this machine.")
    check_apart(dump, out, folder.replaced())
    address = start_server(out.resolve() / "site", port)
    say(f"Watching {dump}; the report is at {address}. Ctrl-C ends it.")
    watched = WatchedDump(
        Path(dump), folder.cache / "watched" / (Path(dump).resolve().name or "dump")
    )
    built = -_PATIENCE
    while True:
        is_new = watched.look()
        if is_new and (watched.is_quiet or time.monotonic() - built > _PATIENCE):
            watched.link()
            try:
                build(str(watched.mirror))
            except XlareportError as error:
                say(f"Not built: {error}", err=True)
            built = time.monotonic()
        time.sleep(_LOOK)
