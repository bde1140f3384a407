"""`xlareport flags`: environment variables for a dump, with reasons."""

import json
from collections.abc import Sequence

import click

from xlareport.cli.terminal import printable
from xlareport.knowledge.releases import era_of
from xlareport.knowledge.wants import (
    BACKENDS,
    FlagSetting,
    environment,
    frontends,
    settings_for,
    shell_lines,
    wants,
)

_WIDTH = 34


def _wanted(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    del ctx, param
    if value is None:
        return tuple(want.name for want in wants().values() if want.standard)
    names = [text.strip() for text in value.split(",") if text.strip()]
    if names == ["all"]:
        return tuple(wants())
    unknown = [name for name in names if name not in wants()]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(wants())}, all")
    return tuple(dict.fromkeys(("modules", *names)))


def _era(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    del ctx, param
    try:
        return era_of(value) if value else ""
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


era_option = click.option(
    "--version",
    "era",
    callback=_era,
    metavar="WHEN",
    help="The release that compiles, such as jax==0.4.30 or tensorflow==2.12, or the month of "
    "XLA, such as 2024-05.",
)
"""The XLA version of the flags; empty if not given."""


@click.command(name="flags")
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default="gpu",
    show_default=True,
    help="What the program is compiled for.",
)
@click.option(
    "--frontend",
    type=click.Choice(tuple(frontends())),
    default="jax",
    show_default=True,
    help="What the program is written in.",
)
@click.option(
    "--want",
    "wanted",
    callback=_wanted,
    metavar="LIST",
    help=f"What the dump should hold, separated by commas: {', '.join(wants())}, or all. "
    "Without it modules, passes, times and memory.",
)
@era_option
@click.option("--dir", "folder", default="/tmp/dump", show_default=True, help="Where to dump.")  # noqa: S108 - shown, not used
@click.option("--json", "as_json", is_flag=True, help="Print the variables and reasons as JSON.")
def command(
    backend: str, frontend: str, wanted: tuple[str, ...], era: str, folder: str, *, as_json: bool
) -> None:
    """Print the environment variables that make a good dump, and why.

    Variables that the backend, the framework or the XLA release does not have are omitted. Without
    --version, current XLA is assumed.
    """
    settings = settings_for(wanted, backend=backend, frontend=frontend, era=era, folder=folder)
    notes = frontends()[frontend].notes
    if as_json:
        click.echo(json.dumps(_record(settings, notes, era), indent=2))
        return
    for line in shell_lines(settings):
        click.echo(printable(line))
    click.echo()
    for setting in settings:
        name = f"--{setting.flag.name}" if setting.flag.set_in else setting.flag.name
        click.echo(f"  {printable(name):<{_WIDTH}} {setting.gives}")
    click.echo()
    for note in notes:
        click.echo(f"  {note}")
    if era:
        click.echo(f"  For XLA as of {era}; a flag that it does not know would end the program.")


def _record(settings: Sequence[FlagSetting], notes: Sequence[str], era: str) -> dict[str, object]:
    flags = [
        {
            "variable": setting.variable,
            "text": setting.text,
            "gives": setting.gives,
            "words": setting.flag.words,
        }
        for setting in settings
    ]
    variables = dict(environment(settings))
    return {"xla": era or None, "environment": variables, "flags": flags, "notes": list(notes)}
