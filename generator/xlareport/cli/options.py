"""Options that several commands have: where output goes, how much of an input is taken."""

import functools
import os
import re
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from xlareport.runtime.limits import LIMITS, Limits
from xlareport.runtime.units import parse_byte_size

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://", re.IGNORECASE)


class OutPath(click.Path):
    """A file or folder of this machine that is written; an address of a store is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; raises click.BadParameter for an address."""
        if isinstance(value, str) and _URL.match(value):
            self.fail(
                f"{value} is an address, and output is written to this machine. Write to a folder "
                "and copy it (its site/ where it is a report), for instance with "
                "`gsutil -m rsync -r` or `aws s3 sync`.",
                *(param, ctx),
            )
        return super().convert(value, param, ctx)


OUT_PATH = OutPath(path_type=Path)
OUT_FOLDER = OutPath(path_type=Path, file_okay=False)
OUT_FILE = OutPath(path_type=Path, dir_okay=False)


def size(text: str) -> int:
    """Return the bytes of a size such as `500MB`; raises click.BadParameter."""
    number = parse_byte_size(str(text))
    if number is None:
        raise click.BadParameter(f"{text!r} is no size such as 500MB or 2GiB.")
    return number


def script_name(program: Sequence[str]) -> str:
    """Return the script of a command, for a title: `train.py`, or the module after `-m`."""
    script = next((Path(word).name for word in program if word.endswith(".py")), None)
    module = next((after for word, after in pairwise(program) if word == "-m"), None)
    return script or module or Path(program[0]).name


jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True
)

module_option = click.option(
    "--module", metavar="M", help="Key or name of the module; by default the main program."
)


def python_option(words: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option for the interpreter that runs programs, with its help."""
    return click.option(
        "--python",
        default=sys.executable,
        envvar="XLAREPORT_REPLAY_PYTHON",
        show_default="the one that runs xlareport",
        help=words,
    )


def limit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that limit how much is read to a command, which receives them as `limits`."""

    @functools.wraps(command)
    def with_limits(
        *arguments: Any,
        max_files: int,
        max_file_size: int,
        max_total_size: int,
        max_beside_size: int,
        **others: Any,
    ) -> None:
        limits = Limits(max_files, max_file_size, max_total_size, max_beside_size)
        command(*arguments, limits=limits, **others)

    for option in reversed(_OPTIONS):
        with_limits = option(with_limits)
    return with_limits


_OPTIONS = (
    click.option(
        "--max-files",
        type=click.IntRange(min=1),
        default=LIMITS.files,
        show_default=True,
        help="Maximum number of files of a dump.",
    ),
    click.option(
        "--max-file-size",
        type=size,
        default=LIMITS.file_bytes,
        show_default="2GB",
        help="Maximum size of a file, unpacked; each is read into memory.",
    ),
    click.option(
        "--max-total-size",
        type=size,
        default=LIMITS.total_bytes,
        show_default="32GB",
        help="Maximum size unpacked or fetched into the temporary folder.",
    ),
    click.option(
        "--max-beside-size",
        type=size,
        default=LIMITS.beside_bytes,
        show_default="100MB",
        help="Maximum size of other files, unpacked: a trace, a graph or a log.",
    ),
)
