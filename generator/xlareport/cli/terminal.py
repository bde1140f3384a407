"""What may be written to a terminal, and into the log of a job that acts upon what it reads there.

GitHub takes a line that begins with `::`, and `##[` anywhere, for an order to the job.
"""

import json
import re
from typing import Any

import click

_ORDER = re.compile(r"^(\s*):(?=:)|##\[")


def say(text: str, *, err: bool = False) -> None:
    """Print text, which may have several lines, so that nothing acts upon it."""
    for line in text.split("\n"):
        click.echo(printable(line), err=err)


def say_json(value: Any) -> None:
    """Print a value as JSON, so that nothing acts upon it."""
    click.echo(json.dumps(value, indent=2).replace("##[", "##\\u005b"))


def printable(text: str) -> str:
    """Return a line without anything that a terminal would act upon: escapes are spelled out."""
    plain = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
    return _ORDER.sub(
        lambda match: f"{match[1]}\\x3a" if match[1] is not None else "##\\x5b", plain
    )
