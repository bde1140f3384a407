"""Unfused elementwise chain.

Three or more elementwise instructions form a chain, each with a single use, and none is fused with
the next. If a flag disables a fusion pass, the finding names it.
"""

from collections.abc import Iterator

from xlareport.analysis.findings.finding import MOST_PLACES, Case, Finding
from xlareport.analysis.findings.wrapped import unwrap_operation
from xlareport.hlo.model import Computation, Instruction
from xlareport.knowledge.opcodes import opcode_work
from xlareport.runtime import units

LEAST_LENGTH = 3
LEAST_SHARE = 0.02
"""Of the module's roofline time."""
_SWITCHED_OFF = "xla_disable_hlo_passes"


def unfused_chains(case: Case) -> Iterator[Finding]:
    """Report chains of elementwise instructions, each the only user of the one before."""
    result = []
    for computation in case.module.computations:
        for chain in _chains(case, computation):
            costs = [
                case.cost.instructions[computation.name, instruction.name] for instruction in chain
            ]
            seconds = sum(map(case.least, costs))
            if len(chain) >= LEAST_LENGTH and case.is_noticeable(seconds, LEAST_SHARE):
                result.append((seconds, computation.name, chain))
    if result:
        yield _finding(case, sorted(result, key=lambda item: (-item[0], item[2][0].name)))


def _finding(case: Case, value: list[tuple[float, str, list[Instruction]]]) -> Finding:
    between = sum(
        instruction.shape.byte_size or 0 for _, _, chain in value for instruction in chain[:-1]
    )
    seconds = sum(time for time, _, _ in value)
    _, name, longest = value[0]
    places = (name, longest), *((other, chain[:1]) for _, other, chain in value[1:])
    return Finding(
        title="Unfused elementwise chain",
        places=tuple((where, instruction.name) for where, chain in places for instruction in chain)[
            :MOST_PLACES
        ],
        occurrences=len(value),
        evidence=(
            f"{units.plural(len(value), 'chain')}, {case.share_words(seconds)}, "
            f"with {units.byte_size(between)} of intermediate values. The "
            f"heaviest has {len(longest)} instructions, from `{longest[0].name}` to "
            f"`{longest[-1].name}`.{_blocked(case)}"
        ),
        suggestion=(
            "Check whether the fusion pass ran: a disabled pass, an optimization barrier or a "
            "debug flag prevents fusion."
        ),
        grade="matched",
        weight=case.time_of_bytes(2.0 * between),
        seconds=case.time_of_bytes(2.0 * between),
    )


def _blocked(case: Case) -> str:
    """Return which passes the options switch off, where one of them is a fusion."""
    passes = case.settings.get(_SWITCHED_OFF, "")
    if "fusion" not in passes:
        return ""
    return f" Disabled passes: `{_SWITCHED_OFF}={passes[:120]}`."


def _chains(case: Case, computation: Computation) -> Iterator[list[Instruction]]:
    seen: set[str] = set()
    for instruction in computation.instructions:
        if instruction.name in seen or not _is_elementwise(case, computation, instruction):
            continue
        chain = [instruction]
        following = _next(case, computation, instruction)
        while following is not None and following.name not in seen:
            chain.append(following)
            seen.add(following.name)
            following = _next(case, computation, following)
        yield chain


def _next(case: Case, computation: Computation, instruction: Instruction) -> Instruction | None:
    users = computation.users.get(instruction.name, ())
    if len(users) != 1 or not _is_elementwise(case, computation, users[0]):
        return None
    same = users[0].shape.element_count == instruction.shape.element_count
    return users[0] if same else None


def _is_elementwise(case: Case, computation: Computation, instruction: Instruction) -> bool:
    table = opcode_work()
    cost = case.cost.instructions.get((computation.name, instruction.name))
    opcode = unwrap_operation(case.module, instruction).opcode
    known = opcode in table.elementwise or opcode in table.transcendental
    return known and cost is not None and not cost.fused and bool(instruction.shape.dimensions)
