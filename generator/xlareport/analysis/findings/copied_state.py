"""Donated input still copied.

Copies take 2% or more of the roofline time together. Each copies the new value of an argument that
is aliased with an output, or the old value of such an argument. The new value could not be written
in place, because its producer writes it in another order or together with others, or because the
old value is read later. Donation then saves memory, but no memory access.
"""

from collections.abc import Iterator

from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.findings.copied_updates import copied_updates
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.hlo.model import Computation
from xlareport.runtime import units

LEAST_SHARE = 0.02
"""Of the module's roofline time, all such copies together."""


def copied_state(case: Case) -> Iterator[Finding]:
    """Report copies of aliased arguments and of what is written over them, together."""
    entry = case.module.entry
    if entry is None or entry.root is None or entry.root.opcode != "tuple":
        return
    old, new = _aliased(case, entry)
    reported = case.places_of((copied_updates,))
    copies: list[tuple[float, str, bool]] = []
    for computation, instruction, cost in case.scheduled:
        is_reported = (computation.name, instruction.name) in reported
        if computation is not entry or instruction.opcode != "copy" or is_reported:
            continue
        is_new = instruction.name in new
        if is_new or (instruction.operand_names and instruction.operand_names[0] in old):
            copies.append((case.least(cost), instruction.name, is_new))
    seconds = sum(time for time, _, _ in copies)
    if len(copies) > 1 and case.is_noticeable(seconds, LEAST_SHARE):
        copies.sort(key=lambda copy: (-copy[0], copy[1]))
        yield _finding(case, entry, copies, seconds)


def _aliased(case: Case, entry: Computation) -> tuple[set[str], set[str]]:
    """Return the names of aliased arguments, and of the values that are written over them."""
    root: tuple[str, ...] = entry.root.operand_names if entry.root else ()
    aliases = find_donations(case.module).aliases
    parameters = entry.parameters
    old = {
        parameters[alias.parameter].name for alias in aliases if alias.parameter < len(parameters)
    }
    new = {
        root[alias.output[0]]
        for alias in aliases
        if len(alias.output) == 1 and alias.output[0] < len(root)
    }
    return old, new


def _finding(
    case: Case, entry: Computation, copies: list[tuple[float, str, bool]], seconds: float
) -> Finding:
    size = sum(entry.by_name[name].shape.byte_size or 0 for _, name, _ in copies)
    updated = sum(is_new for _, _, is_new in copies)
    return Finding(
        title="Donated inputs still copied",
        places=tuple((entry.name, name) for _, name, _ in copies),
        evidence=(
            f"{len(copies):,} copies read or overwrite the memory of donated inputs, "
            f"{units.byte_size(size)}{_of_new(updated)}: {case.time_words(seconds)} "
            f"({join_names(name for _, name, _ in copies)})."
        ),
        suggestion=(
            "See what writes the new values: XLA updates in place if the update has the "
            "argument's layout and nothing reads the old value afterwards, but not if one fusion "
            "writes several updates in other layouts."
        ),
        grade="matched",
        weight=seconds,
        seconds=seconds,
    )


def _of_new(updated: int) -> str:
    """Return how many of the copies write the new value of an argument; empty for none."""
    if not updated:
        return ""
    return f"; {updated:,} of them {'writes' if updated == 1 else 'write'} the new value"
