"""The command line: arguments in, one call of the library, messages and exit codes out."""

import multiprocessing
import signal
import sys
from importlib import import_module
from types import FrameType

import click

from xlareport import __version__
from xlareport.cli.terminal import say
from xlareport.runtime.errors import XlareportError
from xlareport.runtime.garbage_collection import collect_rarely, freeze_objects

_COMMANDS = {
    "build": "xlareport.cli.build",
    "capture": "xlareport.cli.capture",
    "compare": "xlareport.cli.compare",
    "explain": "xlareport.cli.explain",
    "export": "xlareport.cli.export",
    "extract": "xlareport.cli.extract",
    "flags": "xlareport.cli.flags",
    "history": "xlareport.cli.history",
    "main": "xlareport.cli.main_program",
    "nightly": "xlareport.cli.nightly",
    "pack": "xlareport.cli.pack",
    "replay": "xlareport.cli.replay",
    "skeleton": "xlareport.cli.skeleton",
    "whatif": "xlareport.cli.whatif",
}
"""Each module holds a click command called `command`; it is imported when it is asked for."""

_INTERRUPTED = 130
_TERMINATED = 143


class _LazyGroup(click.Group):
    """A group whose commands are imported on use, so that `--help` answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(_COMMANDS[cmd_name]).command
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="xlareport")
def xlareport() -> None:
    """Turn an XLA dump into a report.

    Start with `xlareport build DUMP --out report`, then open report/site/index.html.

    Exit codes: 0 well, 1 a breach (--strict, a budget), 2 wrong usage or a place that cannot be
    written, 3 input that cannot be read, 130 interrupted, 143 ended by the system.
    """


def main() -> None:
    """Run the command line and end the process with a documented exit code."""
    _clean_up_when_ended()
    collect_rarely()
    try:
        code = xlareport(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except XlareportError as error:
        say(f"Error: {error}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted; the previous output is unchanged.", err=True)
        code = _INTERRUPTED
    freeze_objects()
    sys.exit(code)


def _clean_up_when_ended() -> None:
    """Let SIGTERM, by which systems end what they began, remove temporary copies as Ctrl-C does."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        for active_child in multiprocessing.active_children():
            active_child.terminate()
        click.echo("Terminated; the previous output is unchanged.", err=True)
        sys.exit(_TERMINATED)

    signal.signal(signal.SIGTERM, end)
