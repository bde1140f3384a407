"""What values in memory are for, where that determines how to save them."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from xlareport.analysis.collectives.find import find_results
from xlareport.analysis.cost.activations import Activation
from xlareport.analysis.cost.work import ModuleCost
from xlareport.analysis.cost_report.result_gradients import ResultGradient, find_result_gradients
from xlareport.analysis.findings.ranked_values import are_ranked
from xlareport.analysis.findings.score_values import find_attention_scores
from xlareport.analysis.findings.split_products import count_parts
from xlareport.analysis.source.argument_names import name_arguments
from xlareport.hlo.graph import fused_opcodes, outside_fusions
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES, REARRANGEMENTS
from xlareport.hlo.shape import without_layout

_DRAWING = "rng-bit-generator"
_RENAMES = frozenset({"bitcast", "copy", "get-tuple-element"})
_DEEPEST = 16
"""Renames and fusions that are followed."""
_AROUND_CONCATENATE = frozenset({"bitcast", "parameter"})


class JoinedOperand(Struct, frozen=True):
    """The operand of a collective that is several arrays in a row."""

    collective: str
    kind: str
    """`all-reduce`, without `-start`."""
    arrays: int


def find_joined_operands(module: HloModule) -> Mapping[str, JoinedOperand]:
    """Return the concatenates that only a collective reads, by name."""
    joined: dict[str, JoinedOperand] = {}
    for computation, instruction in module.placed:
        users = computation.users.get(instruction.name, ())
        kind = users[0].opcode.removesuffix("-start") if len(users) == 1 else ""
        if kind in COMBINED_COLLECTIVES and _concatenates(module, computation, instruction):
            count = len(instruction.operands)
            joined[instruction.name] = JoinedOperand(users[0].name, kind, count)
    return joined


def _concatenates(module: HloModule, computation: Computation, instruction: Instruction) -> bool:
    """Return whether an instruction, or a fusion of nothing else, puts arrays in a row."""
    if instruction.opcode == "concatenate":
        return len(instruction.operands) > 1
    body = module.callee(instruction)
    if instruction.opcode != "fusion" or body is None or computation is body:
        return False
    opcodes = [line.opcode for line in body.instructions if line.opcode not in _AROUND_CONCATENATE]
    return opcodes == ["concatenate"] and len(instruction.operands) > 1


class CopiedArgument(Struct, frozen=True):
    """An argument that a copy writes again in another layout."""

    name: str
    """`p['w']`, else `%parameter`."""
    data_bytes: int | None
    """Of its elements, without padding; None where a size is not known."""


def find_copied_arguments(module: HloModule) -> Mapping[str, CopiedArgument]:
    """Return the arguments that copies write again in another layout, by copy."""
    entry, names = module.entry, name_arguments(module)
    copies = [] if entry is None else [line for line in entry.instructions if line.opcode == "copy"]
    sources = [(copy, entry.operand(copy)) for copy in copies if entry is not None]
    return {
        copy.name: CopiedArgument(names.get(source.name, f"%{source.name}"), copy.shape.byte_size)
        for copy, source in sources
        if source is not None
        and source.opcode == "parameter"
        and source.shape != copy.shape
        and source.shape.type_and_sizes == copy.shape.type_and_sizes
    }


def find_repeated_values(module: HloModule) -> Mapping[str, str]:
    """Return the arrays that are repeated along a new dimension, by what repeats them.

    That is a broadcast, or a fusion that passes the data of a broadcast on.
    """
    repeated: dict[str, str] = {}
    for computation, instruction in module.placed:
        if instruction.opcode == "broadcast":
            source = computation.operand(instruction)
        else:
            source = _broadcast_in(module, computation, instruction)
        if source is not None and (source.shape.element_count or 1) > 1:
            repeated[instruction.name] = source.name
    return repeated


def _broadcast_in(
    module: HloModule, computation: Computation, instruction: Instruction
) -> Instruction | None:
    """Return what a fusion broadcasts and moves, if it does nothing else."""
    opcodes = fused_opcodes(module, instruction)
    only_moves = opcodes <= {"parameter", "broadcast", *REARRANGEMENTS}
    if "broadcast" not in opcodes or not only_moves or len(instruction.operands) != 1:
        return None
    return computation.operand(instruction)


class ValuePurposes(Struct, frozen=True):
    """The purposes of values, by their instructions."""

    drawn_shares: Mapping[str, str] = field(default_factory=dict)
    """The shape of the slice that alone uses the numbers of a random generator."""
    partial_sums: Mapping[str, int] = field(default_factory=dict)
    """The bytes of the sum, of a matmul whose result is the partial sums of split-K."""
    joined_operands: Mapping[str, JoinedOperand] = field(default_factory=dict)
    """Operands of collectives that are several arrays in a row."""
    result_gradients: Mapping[str, ResultGradient] = field(default_factory=dict)
    """What the gradients of results of matmuls belong to."""
    copied_arguments: Mapping[str, CopiedArgument] = field(default_factory=dict)
    """The argument that a copy writes again in another layout."""
    repeated_values: Mapping[str, str] = field(default_factory=dict)
    """The array that is repeated along a new dimension."""
    collective_results: Mapping[str, str] = field(default_factory=dict)
    """The kind of the collective whose result a value is."""
    ranked_values: frozenset[str] = frozenset()
    """Of the instructions that were asked for, those whose values are put in order."""
    scores: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    """Of these, those that write scores of attention, with the elements that are; none for all."""

    def are_scores(self, instruction: str, index: tuple[int, ...]) -> bool:
        """Return whether a value, or an element of it, is scores of attention."""
        elements = self.scores.get(instruction)
        return elements is not None and (not elements or index[:1] in {(n,) for n in elements})

    def without_partial_sums(self, activations: Iterable[Activation]) -> tuple[Activation, ...]:
        """Return the activations that are no partial sums: without the split these are smaller."""
        return tuple(kept for kept in activations if kept.key[0] not in self.partial_sums)


def find_purposes(module: HloModule, cost: ModuleCost, names: Iterable[str]) -> ValuePurposes:
    """Return the purposes of values; gradients, ranked ones and scores only among those named."""
    asked = frozenset(names)
    return ValuePurposes(
        drawn_shares=find_drawn_shares(module),
        partial_sums=find_partial_sums(module, cost),
        joined_operands=find_joined_operands(module),
        result_gradients=find_result_gradients(module, asked),
        copied_arguments=find_copied_arguments(module),
        repeated_values=find_repeated_values(module),
        collective_results=find_results(module),
        ranked_values=frozenset(
            line.name
            for home, line in outside_fusions(module)
            if line.name in asked and are_ranked(module, home, line)
        ),
        scores=_find_scores(module, asked),
    )


def _find_scores(module: HloModule, asked: AbstractSet[str]) -> Mapping[str, AbstractSet[int]]:
    """Return which of the instructions write scores of attention, their softmax or gradients."""
    homes = {home.name: home for home, line in outside_fusions(module) if line.name in asked}
    return {
        name: elements
        for home in homes.values()
        for name, elements in find_attention_scores(module, home).items()
        if name in asked
    }


def find_partial_sums(module: HloModule, cost: ModuleCost) -> Mapping[str, int]:
    """Return the bytes of the sum by the matmul whose result is its parts, of split-K.

    It is the result of what adds them, which may be of a narrower type.
    """
    sizes: dict[str, int] = {}
    for computation, product in module.placed:
        counted = cost.instructions.get((computation.name, product.name))
        is_product = counted is not None and counted.matrix_flops and not counted.fused
        if is_product and count_parts(module, computation, product):
            users = computation.users.get(product.name, ())
            sizes[product.name] = max(user.shape.byte_size or 0 for user in users)
    return sizes


def find_drawn_shares(module: HloModule) -> Mapping[str, str]:
    """Return the shape of the slice that alone uses the numbers of a generator, by generator."""
    shares: dict[str, str] = {}
    for computation, drawing in module.placed:
        if drawing.opcode == _DRAWING:
            slices = _slices(module, computation, drawing, 0)
            shapes = {without_layout(line.shape.text) for line in slices or ()}
            if len(shapes) == 1:
                shares[drawing.name] = shapes.pop()
    return shares


def _slices(
    module: HloModule, computation: Computation, value: Instruction, depth: int
) -> list[Instruction] | None:
    """Return the dynamic slices that use a value; None if anything else does."""
    if depth > _DEEPEST or (value.is_root and depth):
        return None
    slices: list[Instruction] = []
    for user in computation.users.get(value.name, ()):
        if user.opcode == "dynamic-slice":
            slices.append(user)
            continue
        if user.opcode in _RENAMES:
            if user.opcode == "get-tuple-element" and user.taken_element == 0:
                continue  # the state, not the numbers
            further = _slices(module, computation, user, depth + 1)
        elif user.opcode == "fusion" and user.called:
            further = _in_fusion(module, user, value, depth)
        else:
            further = None
        if further is None:
            return None
        slices += further
    return slices


def _in_fusion(
    module: HloModule, fusion: Instruction, value: Instruction, depth: int
) -> list[Instruction] | None:
    body = module.callee(fusion)
    if body is None:
        return None
    users: list[Instruction] = []
    for number, name in enumerate(fusion.operand_names):
        if name == value.name:
            further = _slices(module, body, body.parameters[number], depth + 1)
            if further is None:
                return None
            users += further
    return users
