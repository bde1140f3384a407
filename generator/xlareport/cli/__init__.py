"""The command line: arguments in, one call of the library, messages and exit codes out."""

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
    "build": "Read DUMP and write a static site.",
    "capture": "Run PROGRAM with the flags that make XLA dump, and build the report when it ends.",
    "compare": "Compare the compilations in BASE and HEAD: dumps, reports, or packed reports.",
    "explain": "Explain what NAME means: a file of a dump, a module, a pass, an opcode or a flag.",
    "export": "Write MODULE of DUMP as a file that Model Explorer opens.",
    "extract": "Write the HLO texts of a report as files, or extract one piece of a module.",
    "finish": "Make the pages in SITE, ./site by default, safe to open anywhere.",
    "flags": "Print the environment variables that make a good dump, and why.",
    "history": "Print the history of OP from snapshot to snapshot.",
    "main": "Print the main program of DUMP with confidence and evidence.",
    "nightly": "Run PROGRAM with JAX's compilation cache off, "
    "report, and compare with the baseline.",
    "nights": "Write ROOT/index.html: every nightly job below ROOT, with "
    "outcomes, steps and trends.",
    "pack": "Put the report in SITE, the current folder by default, into one file to share.",
    "replay": "Run a snapshot of a module of DUMP on the CPU with stock jaxlib, "
    "in a child process.",
    "skeleton": "Print the instructions of a module of DUMP in execution order.",
    "whatif": "Compile before_optimizations of a module of DUMP again, without and with a change.",
}
"""Names of commands with their summaries. Each is the click command `command` of the module of its
name, which is imported on demand."""
_MODULES = {"main": "main_program"}
"""Modules with other names than their commands: `main` is a function of this package."""

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
        module = _MODULES.get(cmd_name, cmd_name)
        command: click.Command = import_module(f"{__package__}.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing one."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="xlareport")
def xlareport() -> None:
    """Turn an XLA dump into a report.

    Start with `xlareport build DUMP --out report`, then open report/site/index.html.

    Exit codes: 0 success, 1 a failed check (--strict, a budget), 2 wrong usage or an unwritable
    path, 3 unreadable input, 130 interrupted, 143 terminated.
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
        import multiprocessing

        for active_child in multiprocessing.active_children():
            active_child.terminate()
        click.echo("Terminated; the previous output is unchanged.", err=True)
        sys.exit(_TERMINATED)

    signal.signal(signal.SIGTERM, end)
