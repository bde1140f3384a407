"""Differences between two lines of the same instruction."""

from collections.abc import Iterable, Mapping, Sequence

from xlareport.analysis.steps.config_changes import config_change
from xlareport.analysis.steps.details import AttributesChange, Difference
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.shape_changes import compare_shapes, shortened
from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES
from xlareport.hlo.shardings.device_groups import name_same_groups

_QUIET: Mapping[str, Kind] = {
    "sharding": Kind.SHARDING,
    "backend_config": Kind.CONFIG,
    "metadata": Kind.METADATA,
    "origin": Kind.METADATA,
    "original_value": Kind.METADATA,
}
_GROUPS = "replica_groups"
_FRONTEND = "frontend_attributes"
_SHARDY = "xla.sdy.sharding"
_PRECISION = frozenset({"operand_precision", "algorithm"})
_WEIGHT = {kind: weight for weight, kind in enumerate(Kind)}
_WITH_NUMBERS = _WEIGHT | {Kind.ATTRIBUTES: _WEIGHT[Kind.OPERANDS]}
"""Other dimension numbers are no consequence of what is read."""
_WITH_ATTRIBUTES = _WEIGHT | {Kind.ATTRIBUTES: _WEIGHT[Kind.REDIRECTED] - 0.5}
"""Other attributes are told before who gives the operands now."""
_ELEMENT = "get-tuple-element"
"""Its only attribute, the index, follows from the tuple that it reads."""
_MADE_IN_PARTS = frozenset({"convolution", "copy", "dot"})
"""Opcodes of which a loop makes a part in each iteration: that says why the shape is another."""
_WITH_POSITIONS = frozenset({"pad", "slice"})
"""Opcodes whose attributes refer to positions in their operand."""
_NUMBERED = frozenset(
    {
        "broadcast",
        "concatenate",
        "convolution",
        "dot",
        "gather",
        "reduce",
        "reverse",
        "scatter",
        "sort",
        "transpose",
    }
)
"""Opcodes whose attributes refer to dimensions by number."""


def by_weight(kinds: Iterable[Kind], opcode: str) -> tuple[Kind, ...]:
    """Return the kinds of difference of an instruction, the weightiest first."""
    weights = _WITH_NUMBERS if opcode in _NUMBERED else _WITH_ATTRIBUTES
    weights = _WEIGHT if opcode == _ELEMENT else weights
    if opcode in COMBINED_COLLECTIVES:  # in a loop they run once in each iteration
        weights = {**weights, Kind.HOISTED: weights[Kind.TYPE] - 0.5}
    if opcode in _MADE_IN_PARTS:
        weights = {**weights, Kind.SUNK: weights[Kind.TYPE] - 0.5}
    return tuple(sorted(kinds, key=lambda kind: weights[kind]))


def with_source(opcode: str, differences: Mapping[Kind, Difference]) -> dict[Kind, Difference]:
    """Return the differences; other positions in what is read are told with what is read now.

    Where another pass made that shorter, they are the positions of the same values.
    """
    result = dict(differences)
    places, read = result.get(Kind.ATTRIBUTES), result.get(Kind.REDIRECTED)
    if opcode in _WITH_POSITIONS and isinstance(places, AttributesChange) and read is not None:
        del result[Kind.REDIRECTED]
        result[Kind.ATTRIBUTES] = AttributesChange(places.names, places.text, str(read))
    return result


def compare(
    before: Instruction, after: Instruction, callees: Mapping[str, str]
) -> dict[Kind, Difference]:
    """Return the kinds of difference between two lines, with old and new values.

    Operands are compared by the caller, who knows the pairings; `callees` maps old names of called
    computations to new ones.
    """
    result: dict[Kind, Difference] = {**compare_shapes(before.shape, after.shape)}
    if before.attributes_text != after.attributes_text:
        result |= _attributes(before, after, callees)
    if not before.operands and before.argument != after.argument:
        result[Kind.ATTRIBUTES] = str(shortened(before.argument, after.argument))
    if before.name != after.name:
        result[Kind.RENAMED] = f"%{before.name} → %{after.name}"
    return result


def _attributes(
    before: Instruction, after: Instruction, callees: Mapping[str, str]
) -> dict[Kind, Difference]:
    old, new = before.attributes, after.attributes
    called = {attribute for attribute, _ in before.called}
    differing: dict[Kind, list[str]] = {}
    for name in {**old, **new}:
        if old.get(name) == new.get(name):
            continue
        if name in called and _same_callees(before, after, callees):
            continue
        kind = _kind_of(name, old, new)
        differing.setdefault(kind, []).append(name)
    return {kind: _difference(kind, names, before, after) for kind, names in differing.items()}


def _difference(
    kind: Kind, names: Sequence[str], before: Instruction, after: Instruction
) -> Difference:
    fields = config_change(before, after) if kind is Kind.CONFIG else None
    if fields is not None:
        return fields
    text = "; ".join(attribute_change(name, before, after) for name in names)
    return AttributesChange(tuple(names), text) if kind is Kind.ATTRIBUTES else text


def _kind_of(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> Kind:
    """Return the kind of change of an attribute.

    Shardy writes shardings as frontend attributes. What it drops beside the same `sharding` was the
    same sharding once more, a mark as other frontend attributes that later passes read.
    """
    if name == _FRONTEND:
        shardy = [_SHARDY in values.get(name, "") for values in (old, new)]
        twice = "sharding" in old and old["sharding"] == new.get("sharding")
        is_sharding = all(shardy) or (any(shardy) and not twice)
        return Kind.SHARDING if is_sharding else Kind.ATTRIBUTES
    return _QUIET.get(name, Kind.PRECISION if name in _PRECISION else Kind.ATTRIBUTES)


def attribute_change(name: str, before: Instruction, after: Instruction) -> str:
    """Return old and new value of an attribute: `algorithm: none → dot_bf16_bf16_f32`."""
    values = before.attributes.get(name, ""), after.attributes.get(name, "")
    same = " (the same groups)" if name == _GROUPS and name_same_groups(*values) else ""
    return f"{name}: {shortened(*values)}{same}"


def _same_callees(before: Instruction, after: Instruction, callees: Mapping[str, str]) -> bool:
    continued = [callees.get(name, name) for _, name in before.called]
    return continued == [name for _, name in after.called]
