"""Converts the content of a picture to its drawing: boxes, arrows, frames and notes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from xlareport.analysis.cost.donation import find_donations
from xlareport.hlo.model import HloModule, Instruction
from xlareport.pictures import boxes
from xlareport.pictures.boxless_instructions import shape_words
from xlareport.pictures.drawing import EDGE_LIMIT, LEAVES, Arrow, Box, Drawing, Family, Group, Shape
from xlareport.pictures.metrics import shorten
from xlareport.pictures.operand_uses import Item, Uses, collect_uses
from xlareport.pictures.parts import InstructionGroup, alike_words
from xlareport.pictures.scene import Instance, opens_into
from xlareport.pictures.shade import NO_COLOR_DATA, ColorData, scopes_of, shade_of, shade_of_group
from xlareport.runtime.grouping import group_by_key
from xlareport.runtime.units import plural

_COUNTS = ("Instruction counts exclude constants, parameters and tuple elements.",)

_CROWDED = 1.3
"""Arrows per box from which on those that carry single numbers to or from a part are left out."""

_MOST_OUTSIDE = 12
"""Values from outside with a box each; more have a box for each scope that makes them."""


def assemble(
    module: HloModule,
    title: str,
    items: Sequence[Item],
    frames: Sequence[Group] = (),
    notes: Sequence[str] = (),
    *,
    excerpt: bool = False,
    known: ColorData = NO_COLOR_DATA,
) -> Drawing:
    """Return the drawing with a box for each item, and its members for each frame.

    An excerpt does not show where values without a box come from or go to. `known` has the cost of
    instructions.
    """
    ids = _ids(items)
    uses = collect_uses(items, ids)
    if excerpt:
        uses.outside.clear()
        uses.leaving.clear()
    parts = {
        box
        for item, box in zip(items, ids, strict=True)
        if isinstance(item.thing, InstructionGroup)
    }
    crowded = len(uses.arrows) > _CROWDED * len(items)
    numbers = uses.drop_numbers(parts) if crowded else 0
    outside, inputs = _outside(uses)
    edges = uses.edges() + inputs
    nodes = [_node(module, item, box, uses, known) for item, box in zip(items, ids, strict=True)]
    if uses.outputs and any(item.instance.computation.is_entry for item in items):
        nodes = [_with_memory(node, uses.outputs.get(node.id, ()), module) for node in nodes]
    return Drawing(
        title,
        (*outside, *nodes),
        tuple(edges[:EDGE_LIMIT]),
        tuple(_members(frames, items, ids)),
        (*notes, *_notes(uses, numbers, len(edges) - EDGE_LIMIT), *(_COUNTS if parts else ())),
    )


def _ids(items: Iterable[Item]) -> list[str]:
    """Name each box: by the part, by the instruction, with its caller if the name is not unique."""
    ids: dict[str, None] = {}
    for item in items:
        box = item.box or (
            item.thing.target if isinstance(item.thing, InstructionGroup) else item.thing.name
        )
        while box in ids:
            box = f"{box}@{item.instance.caller.name if item.instance.caller else ''}"
        ids[box] = None
    return list(ids)


def _node(module: HloModule, item: Item, box: str, uses: Uses, known: ColorData) -> Box:
    if isinstance(item.thing, InstructionGroup):
        return _part_node(module, item.thing, box, _badge(item, box, uses), known)
    instruction = item.thing
    folded = uses.folded.get(box, ())
    times = boxes.loop_count(module, item.instance.computation, instruction)
    return Box(
        box,
        tuple(boxes.lines(instruction, module, folded, times)),
        boxes.family(instruction, module, fused=_is_fused(item.instance)),
        item.state,
        tooltip=boxes.tooltip(instruction, module, folded),
        target=f"i={instruction.name}",
        opens=boxes.openings(instruction, module),
        shape="round"
        if opens_into(module, instruction) and instruction.opcode != "fusion"
        else "rect",
        badge=_badge(item, box, uses),
        mix=_fusion_mix(module, instruction),
        shade=shade_of(instruction, known),
    )


def _with_memory(node: Box, outputs: Sequence[int], module: HloModule) -> Box:
    """Return a box with the name of the input whose memory an output reuses."""
    taken = _aliases(module)
    inputs = [taken[number] for number in outputs if number in taken]
    if len(outputs) != 1 or not inputs:
        return node
    return node._replace(lines=(*node.lines, f"aliases parameter {inputs[0]}"))


@lru_cache(maxsize=4)
def _aliases(module: HloModule) -> Mapping[int, int]:
    """Return the parameter that gives its memory to each element of the result."""
    known = find_donations(module).aliases if "input_output_alias" in module.header else ()
    return {alias.output[0]: alias.parameter for alias in known if len(alias.output) == 1}


def _is_fused(instance: Instance) -> bool:
    return instance.caller is not None and instance.caller.opcode == "fusion"


def _badge(item: Item, box: str, uses: Uses) -> str:
    """Return the outputs of its computation that a box makes, or a mark for outside users."""
    numbers = sorted(uses.outputs.get(box, ()))
    if len(numbers) > 2:
        return f"{len(numbers)} OUT"
    if numbers:
        return f"OUT {', '.join(map(str, numbers))}"
    if isinstance(item.thing, Instruction) and item.thing.is_root and item.instance.caller is None:
        return "ROOT"
    return LEAVES if box in uses.leaving else ""


def _fusion_mix(module: HloModule, instruction: Instruction) -> tuple[tuple[Family, int], ...]:
    """Return the colors inside a fusion."""
    computation = opens_into(module, instruction) if instruction.opcode == "fusion" else None
    return boxes.work_mix(module, boxes.working(computation)) if computation else ()


def _part_node(
    module: HloModule, part: InstructionGroup, box: str, badge: str, known: ColorData
) -> Box:
    counts = Counter(instruction.opcode for instruction in part.instructions())
    shape: Shape = "stack" if part.kind == "alike" else "round"
    return Box(
        box,
        tuple(map(shorten, (part.title, *alike_words(part), boxes.count_words(counts)))),
        "gray",
        tooltip="\n".join((part.title, plural(part.size, "instruction"), part.target[2:])),
        target=part.target,
        shape=shape,
        badge=badge,
        mix=boxes.work_mix(module, part.instructions()),
        shade=shade_of_group(part.instructions(), known),
    )


def _outside(uses: Uses) -> tuple[list[Box], list[Arrow]]:
    """Return boxes for values from outside of the picture, and the arrows from them."""
    values = uses.outside.values()
    by_scope = group_by_key(
        (_scope_path(producer), (producer, users)) for producer, users in values
    )
    if len(values) <= _MOST_OUTSIDE:
        groups = {producer.name: [(producer, users)] for producer, users in values}
    elif len(by_scope) <= _MOST_OUTSIDE:
        groups = by_scope
    else:
        groups = {"elsewhere": list(values)}
    nodes, edges = [], []
    for name, group in groups.items():
        box = f"outside {name}"
        nodes.append(_outside_node(box, name, [producer for producer, _ in group]))
        used = dict.fromkeys(user for _, used_by in group for user in used_by)
        edges += [Arrow(box, user) for user in used]
    return nodes, edges


def _scope_path(producer: Instruction) -> str:
    return "/".join(scopes_of(producer)) or "elsewhere"


def _outside_node(box: str, name: str, instructions: Sequence[Instruction]) -> Box:
    first = instructions[0]
    if len(instructions) == 1:
        words = (first.name, f"from {_scope_path(first)}", shape_words(first))
    else:
        words = (plural(len(instructions), "value"), f"from {name}", f"{first.name}, …")
    return Box(
        box,
        tuple(map(shorten, words)),
        "dashed",
        tooltip="\n".join(instruction.name for instruction in instructions[:12]),
        target=f"i={first.name}",
    )


def _members(frames: Iterable[Group], items: Sequence[Item], ids: Sequence[str]) -> Iterator[Group]:
    """Yield the frames with the ids of their boxes."""
    inside = group_by_key((item.frame, box) for item, box in zip(items, ids, strict=True))
    for frame in frames:
        yield replace(frame, members=tuple(inside.get(frame.id, ())))


def _notes(uses: Uses, numbers: int, left_out: int) -> Iterator[str]:
    """Yield the notes on a picture for its reader."""
    folded = sum(map(len, uses.folded.values()))
    if folded:
        words = f"{plural(folded, 'operand')} (constants, parameters, broadcast scalars)"
        yield f"Named in the nodes of their users: {words}."
    if uses.outputs:
        yield "OUT i = tuple output i."
    if uses.leaving:
        yield f"{LEAVES} marks values used outside this graph."
    if numbers:
        yield f"Left out: {plural(numbers, 'arrow')} that carry scalars."
    if left_out > 0:
        yield f"Left out: {plural(left_out, 'more arrow')}."
