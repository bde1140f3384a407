"""Small pieces that all printed texts are made of."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TypeAlias

from xlareport.hlo.quoting import escape


def _read() -> dict[tuple[str, str], str]:
    text = files(__package__).joinpath("enums.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return {(row["enum"], row["number"]): row["text"] for row in rows}


_WORDS = _read()


def word(enum: str, number: object) -> str:
    """Return the word; empty where XLA prints none or the number is unknown."""
    return _WORDS.get((enum, str(number)), "")


Attributes: TypeAlias = dict[str, str]
"""Names and values of attributes as text; those without a value are not printed."""

_FORBIDDEN = re.compile(r"[\s=%(){},\"]")

EVERY = 5
"""XLA writes `/*index=5*/` before every fifth member of a long list."""


def quoted(raw: bytes) -> str:
    """Return a text in quotes, escaped; empty if there is none."""
    return f'"{escape(text(raw))}"' if raw else ""


def text(raw: bytes) -> str:
    """Return the text in a proto's bytes field; bytes that are not UTF-8 are replaced."""
    return raw.decode("utf-8", "replace")


def name(raw: bytes) -> str:
    """Return a name with characters replaced by `_` that HLO text does not allow."""
    return _FORBIDDEN.sub("_", text(raw)) or "_"


def braces(values: Iterable[object]) -> str:
    """Return `{1,2}`."""
    return "{" + ",".join(map(str, values)) + "}"


def flag(value: object) -> str:
    """Return `true` or `false`."""
    return "true" if value else "false"


def set_flag(value: object) -> str:
    """Return `true`, or an empty text: XLA does not print these if they are false."""
    return "true" if value else ""


def numbered(members: Sequence[str]) -> str:
    """Join with commas, and comments that count: `a, b, c, d, e, /*index=5*/f`."""
    return ", ".join(
        f"/*index={place}*/{member}" if place and place % EVERY == 0 else member
        for place, member in enumerate(members)
    )


def named(attributes: Mapping[str, str]) -> str:
    """Return `a=b, c=d`, without attributes that have no value."""
    return ", ".join(f"{name}={value}" for name, value in attributes.items() if value)
