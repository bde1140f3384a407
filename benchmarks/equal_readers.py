"""Merged and cloned instructions of which an equal one is read by the counterparts of the users."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange
from xlareport.hlo.model import HloModule, Instruction


def equal_failures(before: HloModule, after: HloModule, step: StepChange) -> Iterator[str]:
    """Yield what is said to be merged into, or cloned from, another than readers say."""
    pairs = step.matching
    if pairs is None:
        return
    clones = {row.after: row.before for row in step.changes if row.kind is Kind.CLONED}
    for row in step.changes:
        if row.before is None or row.after is None or row.before == row.after:
            continue
        if row.kind is Kind.MERGED:
            users = _users(before, row.before)
            known = ((user, pairs.partner_after(user)) for user in users)
            reads = [_read(before, user, after, now, row.before) for user, now in known]
            yield from _contradictions(row.after, reads, "merged into")
        elif row.kind is Kind.CLONED:
            users = _users(after, row.after)
            sources = ((user, clones.get(user) or pairs.partner_before(user)) for user in users)
            reads = [_read(after, user, before, source, row.after) for user, source in sources]
            yield from _contradictions(row.before, reads, "cloned from")


def _users(module: HloModule, place: Place) -> list[Place]:
    home = module.by_name[place.computation]
    return [Place(home.name, line.name) for line in home.users.get(place.instruction, ())]


def _read(
    module: HloModule, user: Place, other: HloModule, counterpart: Place | None, read: Place
) -> Place | None:
    """Return what the counterpart of a user reads where the user reads `read`."""
    line, known = module.find(*user), counterpart and other.find(*counterpart)
    if not line or not known or counterpart is None or not _are_alike(line, known):
        return None
    name = [*known.operand_names][[*line.operand_names].index(read.instruction)]
    now = other.find(counterpart.computation, name)
    itself = module.find(*read)
    if (
        now is None
        or itself is None
        or (now.opcode, now.shape.text)
        != (
            itself.opcode,
            itself.shape.text,
        )
    ):
        return None
    return Place(counterpart.computation, name)


def _are_alike(line: Instruction, other: Instruction) -> bool:
    return line.opcode == other.opcode and len(line.operands) == len(other.operands)


def _contradictions(said: Place, reads: list[Place | None], relation: str) -> Iterator[str]:
    """Yield the failure if readers read others beside what is said, and none reads that."""
    others = [read for read in reads if read and read.computation == said.computation]
    if others and said not in others:
        yield f"{relation} %{said.instruction}, but %{others[0].instruction} is read"
