"""The last resort: the meaning of an ending or a full name of a file that follows no grammar."""

from xlareport.dump.name_reading import NameReading
from xlareport.dump.tokens import table


def kind_by_ending(ending: str) -> str:
    """Return the kind of file that an ending without its dot represents, or `unknown`."""
    for kind, endings in table("endings")["by_ending"].items():
        if ending.lower() in endings:
            return str(kind)
    return "unknown"


def is_ending(text: str) -> bool:
    """Return whether a text is known as an ending, and not as the name of a side file."""
    return kind_by_ending(text) != "unknown" or text in table("endings")["by_format"]


def kind_by_format(form: str) -> str:
    """Return the kind of an HLO dump by its ending."""
    return str(table("endings")["by_format"][form])


def kind_by_report(report: str) -> str:
    """Return the kind of a report on buffers by its name."""
    return str(table("endings")["by_report"][report])


def read_plain(reading: NameReading, name: str) -> None:
    """Read a name that follows no grammar: a stem and an ending."""
    for kind, names in table("endings")["by_name"].items():
        if name.lower() in names:
            reading.kind = kind
            reading.part("name", name)
            return
    stem, dot, ending = name.rpartition(".")
    if not stem:
        reading.kind = "foreign" if dot else "unknown"
        reading.part("name", name)
        return
    reading.kind = kind_by_ending(ending)
    reading.part("name", stem)
    reading.plain(dot)
    reading.part("format", ending)


FIRST_BYTES = 4096
"""Number of bytes that are examined."""


def kind_by_content(first_bytes: bytes) -> str | None:
    """Return the kind that a file's first bytes show, or None."""
    text = first_bytes[:FIRST_BYTES].decode("latin-1")
    stripped = text.lstrip()
    for row in table("contents")["content"]:
        if "start" in row and stripped.startswith(row["start"]):
            return str(row["kind"])
        if "holds" in row and row["holds"] in text:
            return str(row["kind"])
    return None
