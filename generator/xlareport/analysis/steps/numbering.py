"""Numbers at the end of names: passes number names anew, which is no change of the instruction."""

from xlareport.analysis.matching.search.pairing import Place


def same_but_number(before: Place | None, after: Place | None) -> bool:
    """Return whether two instructions have the same name but for the numbers at its end."""
    if before is None or after is None:
        return False
    return without_number(before.instruction) == without_number(after.instruction)


def without_number(name: str) -> str:
    """Return a name without the numbers at its end: `add.14.0` gives `add`."""
    head, dot, tail = name.rpartition(".")
    while dot and tail.isdigit():
        name = head
        head, dot, tail = name.rpartition(".")
    return name
