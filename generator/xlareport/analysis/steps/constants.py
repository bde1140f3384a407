"""Which instructions are made of constants alone, also through fusions and calls."""

from collections.abc import Collection, Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.sides.facts import TRANSPARENT, called_once, holders_of, homes_of
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import DEVICE_IDS
from xlareport.runtime.whole_numbers import parse_whole_number

_FARTHEST = 32
"""Instructions that are looked at."""
_NOT_CONSTANT = frozenset({"custom-call", "rng", "while"})
_LITERALS = frozenset({"constant", "iota"})


def is_constant(module: HloModule, place: Place) -> bool:
    """Return whether an instruction is made of constants alone, as far as it is looked behind."""
    return _has_only_leaves(module, place, _LITERALS)


def is_of_device(module: HloModule, place: Place) -> bool:
    """Return whether an instruction is computed from the number of the device, and constants."""
    return _has_only_leaves(module, place, _LITERALS | DEVICE_IDS)


def _has_only_leaves(module: HloModule, place: Place, leaves: Collection[str]) -> bool:
    waiting, seen = [place], {place}
    while waiting:
        place = waiting.pop()
        line = module.find(*place)
        if line is None or line.opcode in _NOT_CONSTANT or len(seen) > _FARTHEST:
            return False
        behind = {*_inputs(module, place, line)}
        if not behind and line.opcode not in leaves:
            return False
        waiting += behind - seen
        seen |= behind
    return True


def _inputs(module: HloModule, place: Place, line: Instruction) -> Iterator[Place]:
    """Yield what gives an instruction its value, with what a fusion or call holds."""
    if line.opcode == "parameter":
        given = argument(module, place)
        if given is not None:
            yield given
        return
    for _, callee in line.called if line.opcode in TRANSPARENT else ():
        root = module.by_name[callee].root if callee in module.by_name else None
        if root is not None:
            yield Place(callee, root.name)
    for name in line.operand_names:
        yield Place(place.computation, name)


def argument(module: HloModule, parameter: Place) -> Place | None:
    """Return what the only fusion or call of a computation gives to a parameter."""
    home = parameter.computation
    holder = holders_of(module).get(home)
    line = module.find(*parameter)
    if line is None or holder is None or holder.opcode not in TRANSPARENT:
        return None
    number = parse_whole_number(line.argument)
    if home not in called_once(module) or number is None or number >= len(holder.operands):
        return None
    return Place(homes_of(module)[home], holder.operands[number].partition("#")[0])


def readers(module: HloModule, place: Place) -> Iterator[Place]:
    """Yield what uses an instruction, in a fusion or call what uses its parameter."""
    home = module.by_name[place.computation]
    for user in home.users.get(place.instruction, ()):
        inside = [*_readers_inside(module, place.instruction, user)]
        yield from inside or [Place(home.name, user.name)]


def _readers_inside(module: HloModule, name: str, holder: Instruction) -> Iterator[Place]:
    """Yield the instructions of a called computation that use what is given under a name."""
    for _, callee in holder.called if holder.opcode in TRANSPARENT else ():
        computation = module.by_name.get(callee)
        for parameter in computation.parameters if computation else ():
            given = argument(module, Place(callee, parameter.name))
            if computation is not None and given is not None and given.instruction == name:
                for user in computation.users.get(parameter.name, ()):
                    yield Place(callee, user.name)
