"""The element types of XLA: names, numbers in protos, sizes."""

import csv
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class ElementType:
    """A row of element_types.tsv: one of XLA's PrimitiveType."""

    name: str
    number: int
    """In protos."""
    bits: int | None
    """What one element takes in memory unless the layout packs it; None where there is no size."""

    @property
    def is_float(self) -> bool:
        """Whether it holds floating-point numbers, real or complex."""
        return self.name.startswith(("f", "bf", "c"))


def _read() -> dict[str, ElementType]:
    text = files(__package__).joinpath("element_types.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    types = (
        ElementType(row["name"], int(row["number"]), int(row["bits"]) if row["bits"] else None)
        for row in rows
    )
    return {element_type.name: element_type for element_type in types}


ELEMENT_TYPES = _read()
"""By name."""
