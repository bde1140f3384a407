"""Where the value of an operand is computed, behind what only moves data, and which are equal."""

from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.sides.forms import Forms
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS

_MOVING = REARRANGEMENTS | {"broadcast"}
_OPAQUE = frozenset(
    {
        "call",
        "conditional",
        "custom-call",
        "fusion",
        "get-tuple-element",
        "optimization-barrier",
        "tuple",
        "while",
    }
)
"""Opcodes whose value is computed elsewhere, like that of a callee's parameter."""
_PARTS = frozenset({"all-reduce", "convert", "dynamic-slice", "reduce-scatter", "slice"})
_FARTHEST = 32
"""Movers in a row that are looked behind."""
_MOST_COMPARED = 100
"""Pairs of values that are compared; beyond, values are not known to differ."""


def reads_other_values(
    old: Instruction, new: Instruction, before: str, after: str, matching: Matching
) -> bool:
    """Return whether an instruction reads what is known to be another value, in any order.

    `before` and `after` name the computations. False where a value comes from elsewhere.
    """
    was = [_source(matching.before, Place(before, name)) for name in old.operand_names]
    now = [_source(matching.after, Place(after, name)) for name in new.operand_names]
    if None in was or None in now:
        return False
    values = _Values(matching)
    return not (
        all(any(values.may_equal(source, other) for other in now) for source in was)
        and all(any(values.may_equal(source, other) for source in was) for other in now)
    )


def value_behind(module: HloModule, place: Place) -> Place | None:
    """Return where a value is computed, behind movers, slices, converts and sums over devices.

    Of a fusion that is in its computation. None where it is not known.
    """
    line = module.find(*place)
    if line is not None and line.opcode == "fusion":
        fused = module.by_name.get(line.attributes.get("calls", "").lstrip("%"))
        root = fused.root if fused else None
        place = Place(fused.name, root.name) if fused and root else place
    return _behind_parts(module, _source(module, place))


class _Values:
    """Compares values of both modules: clones compute the same value as what they were made of."""

    def __init__(self, matching: Matching) -> None:
        self._matching = matching
        self._forms = Forms()
        self._results: dict[tuple[Place | None, Place | None], bool] = {}

    def may_equal(self, was: Place | None, now: Place | None) -> bool:
        """Return whether two values are equal, or not known to differ."""
        key = (was, now)
        if key not in self._results and len(self._results) < _MOST_COMPARED:
            self._results[key] = True  # of a cycle, which only broken texts have
            self._results[key] = self._compute(was, now)
        return self._results.get(key, True)

    def _compute(self, was: Place | None, now: Place | None) -> bool:
        before, after = self._matching.before, self._matching.after
        was, now = _behind_parts(before, was), _behind_parts(after, now)
        if was is None or now is None or self._matching.partner_after(was) == now:
            return True
        old, new = before.find(*was), after.find(*now)
        if old is None or new is None or not self._computes_alike(old, new):
            return False
        operands = zip(_sources(before, was, old), _sources(after, now, new), strict=False)
        return len(old.operands) == len(new.operands) and all(
            self.may_equal(source, other) for source, other in operands
        )

    def _computes_alike(self, old: Instruction, new: Instruction) -> bool:
        """Return whether two instructions do the same to their operands, element by element."""
        was, now = self._forms.of(old), self._forms.of(new)
        if not old.operands or was.attributes:
            return was == now
        return was.opcode == now.opcode and was.attributes == now.attributes


def _behind_parts(module: HloModule, place: Place | None) -> Place | None:
    """Return where a value is computed, behind what is told itself.

    Those are slices, converts, and sums over devices.
    """
    for _ in range(_FARTHEST):
        line = module.find(*place) if place is not None else None
        if place is None or line is None or line.opcode not in _PARTS:
            break
        place = next(_sources(module, place, line), None)
    return place


def _sources(module: HloModule, place: Place, line: Instruction) -> Iterator[Place | None]:
    """Yield where the values of the operands of an instruction are computed."""
    for name in line.operand_names:
        yield _source(module, Place(place.computation, name))


def _source(module: HloModule, place: Place) -> Place | None:
    """Return the place of what computes a value; None where that is not in its computation."""
    home = module.by_name.get(place.computation)
    name = place.instruction
    for _ in range(_FARTHEST):
        line = home.by_name.get(name) if home else None
        if line is None or home is None or _is_elsewhere(line, home):
            return None
        if line.opcode not in _MOVING:
            return Place(place.computation, name)
        name = next(iter(line.operand_names), "")
    return None


def _is_elsewhere(line: Instruction, home: Computation) -> bool:
    return line.opcode in _OPAQUE or (line.opcode == "parameter" and not home.is_entry)
