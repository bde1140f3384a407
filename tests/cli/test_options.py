"""Options that several commands have: sizes, folders, and what a command runs."""

import click
import pytest

from xlareport.cli import xlareport
from xlareport.cli.options import OutPath, script_name, size


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (["python", "jobs/train.py", "--lr=1"], "train.py"),
        (["python", "-m", "jobs.train", "-m", "x"], "jobs.train"),
        (["/opt/bin/serve", "--all"], "serve"),
    ],
)
def test_a_command_is_named_after_what_it_runs(program: list[str], name: str) -> None:
    assert script_name(program) == name


def test_sizes_are_those_of_every_other_place() -> None:
    assert size("2GiB") == 2**31
    assert size("500mb") == 500 * 10**6
    with pytest.raises(click.BadParameter, match="is no size"):
        size("many")


def test_no_command_writes_to_an_address() -> None:
    written = {"--out", "--output", "--trace", "--junit", "--markdown", "--history", "--root"}
    context = click.Context(xlareport)
    commands = {
        name: xlareport.get_command(context, name) for name in xlareport.list_commands(context)
    }
    kinds = {
        f"{name} {option.name}": isinstance(option.type, OutPath)
        for name, command in commands.items()
        for option in (command.params if command else ())
        if not written.isdisjoint(option.opts)
    }
    assert len(kinds) > 8
    assert [name for name, refuses in kinds.items() if not refuses] == []
