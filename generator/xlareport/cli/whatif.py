"""`xlareport whatif`: a module compiled again on the CPU with another option, and compared."""

import os
from collections.abc import Iterator
from pathlib import Path

import click

from xlareport.cli.options import OUT_FOLDER, limited, size
from xlareport.cli.terminal import progress_bar, say
from xlareport.compare import compare
from xlareport.replay.process import Bounds, child_process, default_python
from xlareport.replay.whatif import Control, recompile
from xlareport.report import BuildOptions, read_one_module
from xlareport.runtime.limits import Limits

_CAUSES = 6


@click.command(name="whatif")
@click.argument("dump")
@click.option("--module", metavar="M", help="Key or name; by default the main program.")
@click.option(
    "--set",
    "settings",
    metavar="FLAG=V",
    multiple=True,
    help="An option of XLA, such as xla_cpu_enable_fast_math=true; repeatable.",
)
@click.option(
    "--disable-pass", "disabled", metavar="P", multiple=True, help="Skip a pass; repeatable."
)
@click.option("--out", type=OUT_FOLDER, help="Write the comparison there; by default, only print.")
@click.option(
    "--python",
    default=default_python(),
    envvar="XLAREPORT_REPLAY_PYTHON",
    show_default="the one that runs xlareport",
    help="The interpreter that compiles: one that has jax.",
)
@click.option("--seconds", type=click.FloatRange(min=1), default=300, show_default=True)
@click.option("--memory", type=size, default="8GB", show_default=True)
@limited
def command(
    dump: str,
    *,
    module: str | None,
    settings: tuple[str, ...],
    disabled: tuple[str, ...],
    out: Path | None,
    python: str,
    seconds: float,
    memory: int,
    limits: Limits,
) -> None:
    """Compile before_optimizations of a module of DUMP on the CPU, without and with a change.

    Both are compiled by the jaxlib of --python in a child process and compared. The control says
    how far the compilation without the change equals the dump's own; without any change it is all.
    """
    changes = _changes(settings, disabled)
    jobs = os.cpu_count() or 1
    with child_process(python, Bounds(seconds, memory)) as child, progress_bar() as progress:
        read = read_one_module(dump, module, BuildOptions(jobs=jobs, limits=limits), progress)
        result = recompile(read, child, changes)
        lines = list(_control_lines(result.control))
        if result.own_options:
            named = ", ".join(f"{key}={value}" for key, value in result.own_options.items())
            lines.append(f"Options of the dump that were used: {named}.")
        if result.left_out:
            lines.append(f"Options of the dump that were not: {', '.join(result.left_out)}.")
        if changes:
            options = BuildOptions(jobs=jobs, limits=limits)
            if out is not None:
                options = BuildOptions(out=out, jobs=jobs, limits=limits)
            compared = compare(result.base, result.head, options, progress, site=out is not None)
            lines += [
                f"{place}. {cause.sentence}"
                for place, cause in enumerate(compared.view.causes[:_CAUSES], 1)
            ]
            if not compared.view.causes:
                lines.append("The change makes no difference.")
    for line in lines:
        say(line)
    if out is not None and changes:
        say(f"Open {(out / 'site/index.html').resolve()}.")


def _changes(settings: tuple[str, ...], disabled: tuple[str, ...]) -> dict[str, str]:
    changes: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.removeprefix("--").partition("=")
        if not equals or not name.startswith("xla_") or name.startswith("xla_dump_"):
            raise click.BadParameter(f"{setting!r} is no option such as xla_cpu_x=true.")
        changes[name] = value
    if disabled:
        names = [*filter(None, [changes.get("xla_disable_hlo_passes")]), *disabled]
        changes["xla_disable_hlo_passes"] = ",".join(names)
    return changes


def _control_lines(control: Control) -> Iterator[str]:
    yield f"Compiled with jaxlib {control.release} on the CPU."
    if control.imported and not control.header:
        yield "Control: the compiler was given the module of the dump."
    elif control.imported:
        lost = ", ".join(control.header)
        yield f"Control: inexact. The instructions are those of the dump; not its {lost}."
    else:
        yield "Control: inexact. The way to the compiler (HLO to MLIR and back) changed the module."
    same = "equals" if control.optimized else "does not equal"
    yield (
        f"Without the change, the optimized module {same} that of the dump, "
        "apart from names and metadata."
    )
