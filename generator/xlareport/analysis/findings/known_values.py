"""Values of constants and device numbers alone: each device can compute those of every other."""

from xlareport.analysis.findings.loop_state import is_kept
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import ALIASES, MOVES
from xlareport.knowledge.opcodes import opcode_work

_KNOWN = frozenset({"constant", "iota", "partition-id", "replica-id"})
"""Opcodes without operands whose result on each device every device knows."""
_DEEPEST = 300
"""Instructions that are followed."""
_COMPUTED = MOVES | {
    *("async-done", "concatenate", "convert", "copy-done", "copy-start", "dynamic-slice"),
    *("dynamic-update-slice", "pad", "slice"),
}

_Place = tuple[Computation, Instruction]


def find_iota(module: HloModule, home: Computation, value: Instruction) -> Instruction | None:
    """Return the largest iota that a value is computed of, with constants and device numbers.

    None for values that depend on anything else, or on no iota.
    """
    iotas: list[Instruction] = []
    waiting: list[_Place] = [(home, value)]
    seen: set[tuple[str, str]] = set()
    while waiting:
        place, current = waiting.pop()
        if (place.name, current.name) in seen:
            continue
        seen.add((place.name, current.name))
        sources = _sources(module, place, current)
        if sources is None or len(seen) > _DEEPEST:
            return None
        waiting += sources
        iotas += [current] if current.opcode == "iota" else []
    return max(iotas, key=lambda iota: iota.shape.byte_size or 0, default=None)


def _sources(module: HloModule, home: Computation, value: Instruction) -> list[_Place] | None:
    """Return what a value is computed of, with the computations; None if that is not followed."""
    if value.opcode in _KNOWN:
        return []
    if value.opcode == "parameter":
        return _given(module, home, value)
    if value.opcode == "get-tuple-element":
        return _element(module, home, value)
    if value.opcode == "fusion":
        body = module.callee(value)
        return [(body, body.root)] if body is not None and body.root is not None else None
    if value.opcode in _COMPUTED | ALIASES or value.opcode in opcode_work().by_element:
        return _placed(home, home.operands(value))
    return None


def _placed(home: Computation, values: list[Instruction | None]) -> list[_Place] | None:
    """Return values with their computation; None if any is unknown, or there is none."""
    known = [(home, value) for value in values if value is not None]
    return known if known and len(known) == len(values) else None


def _given(module: HloModule, home: Computation, value: Instruction) -> list[_Place] | None:
    """Return what the only fusion that calls a computation gives for a parameter."""
    calls = module.calls.get(home.name, ())
    if home.is_entry or len(calls) != 1 or calls[0].instruction.opcode != "fusion":
        return None
    number = home.parameters.index(value)
    return _placed(
        calls[0].computation, [calls[0].computation.operand(calls[0].instruction, number)]
    )


def _element(module: HloModule, home: Computation, value: Instruction) -> list[_Place] | None:
    """Return what an element of a tuple is; of a loop's state, where no iteration changes it."""
    number, state = value.taken_element, home.operand(value)
    if number is None or state is None:
        return None
    loop = (home, state) if state.opcode == "while" else module.only_loops.get(home.name)
    if state.opcode not in ("parameter", "while"):
        is_tuple = state.opcode == "tuple"
        return _placed(home, [home.operand(state, number) if is_tuple else state])
    body = module.callee(loop[1], "body") if loop else None
    kept = body.operand(body.root, number) if body is not None and body.root is not None else None
    if loop is None or body is None or kept is None or not is_kept(body, kept, number):
        return None
    initial = loop[0].operand(loop[1])
    if initial is None or initial.opcode != "tuple":
        return None
    return _placed(loop[0], [loop[0].operand(initial, number)])
