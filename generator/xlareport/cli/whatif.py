"""`xlareport whatif`: a module compiled again with another option, target or release."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from xlareport.cli.options import OUT_FOLDER, limit_options, module_option, python_option, size
from xlareport.cli.terminal import progress_bar, say
from xlareport.runtime.limits import Limits
from xlareport.runtime.progress import ProgressCallback

if TYPE_CHECKING:
    from xlareport.replay.whatif import CompileTarget, Recompiled
    from xlareport.report import BuildOptions

_CAUSES = 6


@click.command(name="whatif")
@click.argument("dump")
@module_option
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
@click.option(
    "--target",
    metavar="T",
    help="Compile for another device, which need not be present: v6e:2x2 (needs libtpu), gpu (the "
    "one that the dump describes) or gpu:FILE (a GpuTargetConfigProto). Both GPU forms need jax's "
    "CUDA plugin.",
)
@click.option(
    "--jaxlib",
    "release",
    metavar="X.Y",
    help="Compile the changed side with this release, in a virtual environment made for it.",
)
@click.option("--out", type=OUT_FOLDER, help="Write the comparison there; by default, only print.")
@python_option("The interpreter that compiles: one that has jax.")
@click.option("--seconds", type=click.FloatRange(min=1), default=300, show_default=True)
@click.option("--memory", type=size, default="8GB", show_default=True)
@limit_options
def command(
    dump: str,
    *,
    module: str | None,
    settings: tuple[str, ...],
    disabled: tuple[str, ...],
    target: str | None,
    release: str | None,
    out: Path | None,
    python: str,
    seconds: float,
    memory: int,
    limits: Limits,
) -> None:
    """Compile before_optimizations of a module of DUMP again, without and with a change.

    Both are compiled by the jaxlib of --python in a child process, on the CPU, and compared. The
    control shows how far the compilation without the change equals that of the dump; if no change
    is given, only the control runs. With --target alone the first side is the module of the dump.
    """
    from xlareport.replay.child_process import Bounds, child_process
    from xlareport.replay.environments import python_with
    from xlareport.replay.whatif import parse_target, recompile
    from xlareport.report import BuildOptions, read_one_module

    if target is not None and release is not None:
        raise click.UsageError("--target and --jaxlib do not go together.")
    changes = _option_changes(settings, disabled)
    options = BuildOptions(jobs=os.cpu_count() or 1, limits=limits)
    bounds = Bounds(seconds, memory)
    with ExitStack() as stack:
        child = stack.enter_context(child_process(python, bounds))
        other = (
            stack.enter_context(child_process(python_with(release), bounds)) if release else None
        )
        progress = stack.enter_context(progress_bar())
        read = read_one_module(dump, module, options, progress)
        aim = parse_target(target, read.files) if target else None
        recompiled = recompile(read, child, changes, target=aim, other=other)
        lines = list(_control_lines(recompiled, aim, is_dump=bool(aim and not changes)))
        is_change = bool(changes or target or release)
        if is_change or out is not None:
            sides = recompiled.base, recompiled.head
            causes = _causes(sides, options, progress, tuple(lines), out)
            lines += causes or (["No cause of a difference was found."] if is_change else [])
    for line in lines:
        say(line)
    if out is not None:
        say(f"Open {(out / 'site/index.html').resolve()}.")


def _causes(
    sides: tuple[Path, Path],
    options: "BuildOptions",
    progress: ProgressCallback,
    remarks: tuple[str, ...],
    out: Path | None,
) -> list[str]:
    """Compare the two compilations, write the site if requested, and return the causes."""
    from xlareport.compare import compare

    if out is not None:
        options = replace(options, out=out)
    compared = compare(*sides, options, progress, site=out is not None, remarks=remarks)
    causes = compared.view.causes[:_CAUSES]
    return [f"{place}. {cause.sentence}" for place, cause in enumerate(causes, 1)]


def _option_changes(settings: tuple[str, ...], disabled: tuple[str, ...]) -> dict[str, str]:
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


def _control_lines(
    result: "Recompiled", target: "CompileTarget | None", *, is_dump: bool
) -> Iterator[str]:
    control = result.control
    where = f"for {target.label}, without the device" if target is not None else "on the CPU"
    yield f"Compiled with jaxlib {control.release} {where}."
    if is_dump:
        yield "The base is the module of the dump; the head was compiled now."
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
    if result.own_options:
        named = ", ".join(f"{key}={value}" for key, value in result.own_options.items())
        yield f"Options of the dump that were used: {named}."
    if result.left_out:
        yield f"Options of the dump that were not: {', '.join(result.left_out)}."
