"""Metadata that passes drop: op_names and source lines from histories of costly instructions."""

from collections.abc import Iterator

from msgspec.structs import replace

from xlareport.analysis.history.instruction import SnapshotSequence
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.source.inlined_op_names import whole_op_names
from xlareport.analysis.source.locations import place_of
from xlareport.hlo.attributes import AttributeList, Metadata
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import COMBINED_COLLECTIVES, MATRIX_PRODUCTS

_PRODUCTS = MATRIX_PRODUCTS | {"custom-call"}
_WINDOWS = frozenset({"reduce-window", "select-and-scatter"})


def restore_metadata(snapshots: SnapshotSequence) -> tuple[HloModule, int]:
    """Return the last snapshot with metadata that was lost on the way, and how often it was.

    A pass that rewrites a matmul, such as XLA:CPU's gemv-rewriter, may leave it without op_name; so
    do XLA:GPU's all-reduce-contiguous with a combined all-reduce, reduce-scatter-creator, and
    select_and_scatter_expander with the reduce-window of a max-pool gradient. It gets that of the
    latest of its kind in its history that has any. The grade is that of the histories, matched at
    best; texts of instructions stay as the dump has them.
    """
    module = snapshots.modules[-1]
    restored = {
        computation.name: dict(_restored(snapshots, computation))
        for computation in module.computations
    }
    if not any(restored.values()):
        return module, 0
    computations = tuple(
        _with(computation, restored[computation.name]) for computation in module.computations
    )
    return replace(module, computations=computations), sum(map(len, restored.values()))


def _kind(instruction: Instruction) -> str:
    """Return `matmul`, `window`, or a collective's opcode without `-start`; empty for others.

    A reduce-scatter is of the kind of the all-reduce that the compiler makes it from.
    """
    if instruction.opcode in _PRODUCTS:
        return "matmul"
    if instruction.opcode in _WINDOWS:
        return "window"
    kind = instruction.opcode.removesuffix("-start").replace("reduce-scatter", "all-reduce")
    return kind if kind in COMBINED_COLLECTIVES else ""


def _with(computation: Computation, restored: dict[str, Instruction]) -> Computation:
    if not restored:
        return computation
    instructions = (
        restored.get(instruction.name, instruction) for instruction in computation.instructions
    )
    return replace(computation, instructions=tuple(instructions))


def _restored(
    snapshots: SnapshotSequence, computation: Computation
) -> Iterator[tuple[str, Instruction]]:
    for instruction in computation.instructions:
        if not _kind(instruction) or instruction.metadata.op_name:
            continue
        metadata = _find_metadata(snapshots, Place(computation.name, instruction.name))
        if metadata is not None:
            attributes = AttributeList(instruction.attributes_text, metadata)
            yield instruction.name, replace(instruction, attribute_list=attributes)


def _op_names(module: HloModule, place: Place, instruction: Instruction) -> tuple[str, ...]:
    """Return the op_names of an instruction; that of a combined collective lists its members."""
    if _kind(instruction) in COMBINED_COLLECTIVES:
        return tuple(filter(None, [instruction.metadata.op_name]))
    return whole_op_names(module, module.by_name[place.computation], instruction)


def _find_metadata(snapshots: SnapshotSequence, place: Place) -> Metadata | None:
    """Return the metadata of the latest of its kind with an op_name that led to a place."""
    step_to = snapshots.change_index.step_to
    number = step_to(place, len(snapshots.modules) - 1)
    last = snapshots.modules[-1].find(*place)
    kind = _kind(last) if last is not None else ""
    while number > 0:
        matching = snapshots.into(number)
        origin = matching.partner_before(place) if matching is not None else None
        instruction = matching.before.find(*origin) if matching is not None and origin else None
        if matching is None or origin is None or instruction is None:
            return None
        if _kind(instruction) != kind:
            return None
        names = _op_names(matching.before, origin, instruction)
        if names:
            if len(names) > 1:
                return None
            source = place_of(instruction, matching.before)
            return Metadata(
                op_name=names[0],
                op_type=instruction.metadata.op_type,
                source_file=source.file if source else "",
                source_line=source.line if source else None,
            )
        place, number = origin, step_to(origin, number - 1)
    return None
