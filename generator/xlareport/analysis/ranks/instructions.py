"""Differences of two snapshots of one stage: computation, instruction, attribute, kind.

Both are walked from their entry computations in parallel. Names are ignored: operands are equal if
the instructions that they name correspond.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct

from xlareport.analysis.ranks.verdicts import DifferenceKind
from xlareport.hlo.attributes import computation_names
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape

_LONGEST_VALUE = 400
"""Letters of a value that are kept."""
_MOST_DIFFERENCES = 10_000
"""Limit on differences of one pair of snapshots."""
_CALLBACK = re.compile(r"callback|_python_", re.IGNORECASE)
_NUMBERS = re.compile(r"\b\d{1,20}\b")
_NOTES = frozenset({"metadata", "frontend_attributes", "origin", "original_value"})
"""Attributes that are notes and change no code."""
_COUNTED = frozenset({"channel_id"})
"""Attributes with numbers that only have to be the same where they were the same."""
_ASIDE = _NOTES | _COUNTED | {"backend_config", "control-predecessors"}
"""Attributes that do not say what an instruction computes."""
_TUNED = ("gemm", "cublas", "cudnn", "triton", "conv", "fmha")

_Place = tuple[Computation | None, Instruction | None, Instruction | None]
"""A computation of the base and the instructions of both sides; None if missing."""
_MODULE: _Place = None, None, None


class InstructionDifference(Struct, frozen=True):
    """A difference between two snapshots."""

    kind: DifferenceKind
    computation: str
    """Empty for the module itself."""
    base: Instruction | None
    other: Instruction | None
    attribute: str
    value: str = ""
    other_value: str = ""


def list_differences(base: HloModule, other: HloModule) -> Iterator[InstructionDifference]:
    """Yield the differences, in the order of the computations of `base`; callees come first.

    For a computation with other instructions, only the first difference is reported.
    """
    walk = _Walk(base, other)
    walk.run()
    places = {computation.name: at for at, computation in enumerate(base.computations)}
    yield from sorted(
        walk.differences, key=lambda difference: places.get(difference.computation, len(places))
    )


class _Walk:
    """Pairs computations from the entry down, and collects the differences of each pair."""

    def __init__(self, base: HloModule, other: HloModule) -> None:
        self.differences: list[InstructionDifference] = []
        self._base, self._other = base, other
        self._pairs: dict[Computation, Computation] = {}
        self._pending: list[tuple[Computation, Computation]] = []
        self._numbers: dict[tuple[str, str], str] = {}

    def run(self) -> None:
        """Compare the modules from their first lines to the last computation they call."""
        self._headers()
        if self._base.entry is not None and self._other.entry is not None:
            self._pair(self._base.entry, self._other.entry)
        while self._pending and len(self.differences) < _MOST_DIFFERENCES:
            self._compare(*self._pending.pop())

    def _headers(self) -> None:
        ours, theirs = self._base.attributes, self._other.attributes
        for name in dict.fromkeys([*ours, *theirs]):
            value, other_value = ours.get(name, ""), theirs.get(name, "")
            if value != other_value:
                kind: DifferenceKind = "metadata" if name in _NOTES else "structure"
                kind = "layout" if name == "entry_computation_layout" else kind
                self._add(kind, _MODULE, name, value, other_value)
        if self._base.stack_frames != self._other.stack_frames:
            self._add("metadata", _MODULE, "stack frames")

    def _pair(self, base: Computation, other: Computation) -> None:
        if base not in self._pairs:
            self._pairs[base] = other
            self._pending.append((base, other))

    def _compare(self, base: Computation, other: Computation) -> None:
        same: dict[str, str] = {}
        for ours, theirs in zip_longest(base.instructions, other.instructions):
            if ours is None or theirs is None:
                self._add(_kind_of_rest(base, other), (base, ours, theirs), "instruction")
                return
            same[ours.name] = theirs.name
            if ours is not theirs or not _stands(ours, same):
                rows = list(self._of_pair(ours, theirs, same))
                for kind, attribute, value, other_value in rows:
                    if kind == "structure":
                        sides = base, other, ours, theirs
                        closer = kind if attribute in _COUNTED else _kind_of_contents(kind, *sides)
                        self._add(closer, (base, ours, theirs), attribute, value, other_value)
                        return
                    self._add(kind, (base, ours, theirs), attribute, value, other_value)
            self._follow(ours, theirs)

    def _follow(self, ours: Instruction, theirs: Instruction) -> None:
        for (_, name), (_, other_name) in zip(ours.called, theirs.called, strict=False):
            callee, other = self._base.by_name.get(name), self._other.by_name.get(other_name)
            if callee is not None and other is not None:
                self._pair(callee, other)

    def _of_pair(
        self, ours: Instruction, theirs: Instruction, same: Mapping[str, str]
    ) -> Iterator[tuple[DifferenceKind, str, str, str]]:
        """Yield kind, attribute, and both values of each difference."""
        if ours.opcode != theirs.opcode:
            yield "structure", "opcode", ours.opcode, theirs.opcode
            return
        if _type_and_sizes(ours.shape) != _type_and_sizes(theirs.shape):
            yield "structure", "shape", ours.shape.text, theirs.shape.text
            return
        operands = [same.get(name.partition("#")[0], name) for name in ours.operands]
        if operands != [name.partition("#")[0] for name in theirs.operands]:
            yield "structure", "operands", ", ".join(ours.operands), ", ".join(theirs.operands)
            return
        yield from self._of_attributes(ours, theirs, same)
        if ours.argument != theirs.argument:
            yield _kind_of_value(ours), "value", ours.argument, theirs.argument
        if ours.shape.text != theirs.shape.text:
            yield "layout", "layout", ours.shape.text, theirs.shape.text
        if ours.is_root is not theirs.is_root:
            yield "structure", "ROOT", str(ours.is_root), str(theirs.is_root)
        if ours.name != theirs.name:
            yield "names", "name", ours.name, theirs.name

    def _of_attributes(
        self, ours: Instruction, theirs: Instruction, same: Mapping[str, str]
    ) -> Iterator[tuple[DifferenceKind, str, str, str]]:
        if ours.attributes_text == theirs.attributes_text:
            return
        mine, yours = ours.attributes, theirs.attributes
        called = {name for name, _ in ours.called} & {name for name, _ in theirs.called}
        for name in dict.fromkeys([*mine, *yours]):
            value, other_value = mine.get(name, ""), yours.get(name, "")
            if value == other_value:
                continue
            if name in called and _many(ours, name) == _many(theirs, name):
                yield "names", name, value, other_value
            elif name == "control-predecessors":
                names = [
                    same.get(computation_name, computation_name)
                    for computation_name in computation_names(value)
                ]
                if names != computation_names(other_value):
                    yield "order", name, value, other_value
            else:
                yield self._kind(ours, name, value, other_value), name, value, other_value

    def _kind(self, ours: Instruction, name: str, value: str, other_value: str) -> DifferenceKind:
        if name in _NOTES:
            return "metadata"
        if name in _COUNTED and self._stands_for(name, value, other_value):
            return "ids"
        if name == "backend_config":
            return _kind_of_config(ours, value, other_value)
        if name == "custom_call_target":
            return "autotuning" if _is_tuned(value) or _is_tuned(other_value) else "structure"
        if ours.opcode == "fusion" and name == "kind":
            return "fusion"
        return "structure"

    def _stands_for(self, name: str, value: str, other_value: str) -> bool:
        """Return whether a number always corresponds to the same one on the other side."""
        there = self._numbers.setdefault((name, value), other_value)
        back = self._numbers.setdefault((f"{name} of the other", other_value), value)
        return there == other_value and back == value

    def _add(
        self,
        kind: DifferenceKind,
        place: _Place,
        attribute: str,
        value: str = "",
        other_value: str = "",
    ) -> None:
        computation, ours, theirs = place
        if kind == "constants" and computation and ours and _feeds_callbacks(computation, ours):
            kind = "ids"
        self.differences.append(
            InstructionDifference(
                kind=kind,
                computation=computation.name if computation else "",
                base=ours,
                other=theirs,
                attribute=attribute,
                value=value[:_LONGEST_VALUE],
                other_value=other_value[:_LONGEST_VALUE],
            )
        )


def _kind_of_value(line: Instruction) -> DifferenceKind:
    """Return the kind of another literal: a rank embeds its own number as an integer."""
    if line.opcode != "constant":
        return "structure"
    return "floats" if line.shape.element_type.startswith(("f", "bf", "c")) else "constants"


def _stands(instruction: Instruction, same: Mapping[str, str]) -> bool:
    """Return whether each operand of a line that both have is the same instruction in both."""
    return all(same.get(name, name) == name for name in instruction.operand_names)


def _many(instruction: Instruction, attribute: str) -> int:
    return sum(name == attribute for name, _ in instruction.called)


def _type_and_sizes(shape: Shape) -> object:
    if shape.elements:
        return shape.element_type, tuple(map(_type_and_sizes, shape.elements))
    return shape.element_type, shape.dimensions


def _kind_of_contents(
    kind: DifferenceKind,
    base: Computation,
    other: Computation,
    ours: Instruction,
    theirs: Instruction,
) -> DifferenceKind:
    """Return the kind of difference for a computation with other instructions."""
    tokens: dict[object, int] = {}
    if _contents(base, tokens) == _contents(other, tokens):
        return "order"
    if "fusion" in (ours.opcode, theirs.opcode) or "fused" in base.name:
        return "fusion"
    if _is_tuned(ours.attributes_text) or _is_tuned(theirs.attributes_text):
        return "autotuning"
    return kind


def _contents(computation: Computation, tokens: dict[object, int]) -> Counter[int]:
    """Count the instructions of a computation by what they compute, without names and order.

    Equal values of both computations have one number in `tokens`.
    """
    values: dict[str, int] = {}
    for instruction in computation.instructions:
        key = (
            instruction.opcode,
            _type_and_sizes(instruction.shape),
            instruction.argument,
            _meaning(instruction),
            *(values.get(name) for name in instruction.operand_names),
        )
        values[instruction.name] = tokens.setdefault(key, len(tokens))
    return Counter(values.values())


def _meaning(instruction: Instruction) -> frozenset[tuple[str, str]]:
    """Return the attributes that say what an instruction computes, without what it calls."""
    aside = _ASIDE | {name for name, _ in instruction.called}
    return frozenset(item for item in instruction.attributes.items() if item[0] not in aside)


def _kind_of_rest(base: Computation, other: Computation) -> DifferenceKind:
    """Return the kind of the instructions that only the longer of two computations has."""
    shorter = min(len(base.instructions), len(other.instructions))
    unpaired: Sequence[Instruction] = (*base.instructions[shorter:], *other.instructions[shorter:])
    fused = any(instruction.opcode == "fusion" for instruction in unpaired) or "fused" in base.name
    return "fusion" if fused else "structure"


def _kind_of_config(ours: Instruction, value: str, other_value: str) -> DifferenceKind:
    """Return the kind of difference of a backend config; the id of a callback is harmless."""
    if ours.opcode == "custom-call":
        target = ours.call_target
        only_numbers = _NUMBERS.sub("0", value) == _NUMBERS.sub("0", other_value)
        bare = only_numbers and _NUMBERS.sub("", value).strip('"{}[]') == ""
        if only_numbers and (_CALLBACK.search(target) or bare):
            return "ids"
    return "autotuning"


def _is_tuned(text: str) -> bool:
    return any(word in text.lower() for word in _TUNED)


def _feeds_callbacks(computation: Computation, constant: Instruction) -> bool:
    """Return whether a constant goes into callbacks alone: it is where one is in this process."""
    users = computation.users.get(constant.name, ())
    return bool(users) and all(
        user.opcode == "custom-call" and _CALLBACK.search(user.call_target) is not None
        for user in users
    )
