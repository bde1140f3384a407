"""Heavy instructions without users after a rewrite replaced them.

Dead code elimination removes them later; the new instruction does their work.
"""

from xlareport.analysis.matching.sides.facts import live_computations
from xlareport.analysis.matching.sides.families import family_of
from xlareport.analysis.matching.sides.graph import Node
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.runtime.graphs import reachable
from xlareport.runtime.remembered import remembered

ACTING = frozenset(
    {"async-done", "async-start", "call", "conditional", "custom-call", "infeed", "outfeed"}
    | {"recv", "recv-done", "send", "send-done", "while"}
)
"""Opcodes that may have side effects even without users."""


def is_idle(line: Instruction, computation: Computation) -> bool:
    """Return whether an instruction is dead code: it has neither users nor side effects."""
    return _can_be_dead(line, computation) and line.name not in computation.users


def is_dead_copy(before: Node, after: Node) -> bool:
    """Return whether `after` is dead code with another name, while `before` had users.

    Passes leave unused copies behind; another instruction does the work of `before`.
    """
    if before.instruction.name == after.instruction.name:
        return False
    return is_dead(after) and not is_dead(before)


def is_dead_form(before: Node, after: Node) -> bool:
    """Return whether `after` is dead code of another opcode, while `before` had users.

    A pass made it and put an equal one in the place of `before`, which nothing was left of.
    """
    return before.instruction.opcode != after.instruction.opcode and is_dead_copy(before, after)


def live_apart(before: Node, after: Node) -> bool:
    """Return whether one of two nodes is dead code, so that they are no pair without its value.

    A pass leaves unused copies behind, and makes no use of what had no users: what is live now and
    has other dimensions is a copy of something else.
    """
    if is_dead_copy(before, after):
        return True
    old, new = before.instruction, after.instruction
    if old.name == new.name or old.shape.dimensions == new.shape.dimensions:
        return False
    return is_dead(before) and not is_dead(after)


def is_dead(node: Node) -> bool:
    """Whether no result of its computation depends on a node."""
    return node.instruction.name in dead_names(node.frame.computation)


@remembered
def dead_names(computation: Computation) -> frozenset[str]:
    """Return the names of instructions that have no users apart from dead code."""
    lines = computation.by_name
    has_root = computation.root is not None and computation.root.is_root
    unused = lines.keys() - computation.users.keys()
    if not has_root or not any(_can_be_dead(lines[name], computation) for name in unused):
        return frozenset()
    acting = (name for name, line in lines.items() if not _can_be_dead(line, computation))
    live = reachable(acting, lambda name: (o for o in lines[name].operand_names if o in lines))
    return frozenset(lines.keys() - set(live))


def _can_be_dead(line: Instruction, computation: Computation) -> bool:
    acts = line.opcode in ACTING or line.opcode == "parameter"
    if line.opcode == "custom-call":  # XLA writes which ones act
        acts = line.attributes.get(_ACTS) == "true"
    return not acts and line is not computation.root


_ACTS = "custom_call_has_side_effect"


@remembered
def unread_heavy(computation: Computation) -> frozenset[Instruction]:
    """Return the heavy instructions on which no result depends."""
    dead = map(computation.by_name.__getitem__, dead_names(computation))
    return frozenset(line for line in dead if family_of(line) is not None)


def left_over(before: Computation, after: Computation) -> frozenset[Instruction]:
    """Return the unchanged heavy instructions that lost all their users."""
    unread = unread_heavy(after)
    return unread - unread_heavy(before) if unread else unread


def is_left_over(module: HloModule, place: tuple[str, str]) -> bool:
    """Return whether a heavy instruction remains in a module without users or callers."""
    computation = module.by_name[place[0]]
    if computation.name not in live_computations(module):
        return True
    return computation.by_name[place[1]] in unread_heavy(computation)
