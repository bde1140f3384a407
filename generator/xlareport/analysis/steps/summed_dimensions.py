"""Dimensions that a matrix product, a convolution or a reduction runs over."""

from math import prod

from msgspec import Struct

from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.windows import WindowDimension, count_most_products, parse_window
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.details import Difference, ShapeChange
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.reducers import name_reduction
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import REARRANGEMENTS
from xlareport.runtime.whole_numbers import parse_whole_number

SUMMED_OPERANDS = {
    "reduce": (("dimensions", 0),),
    "dot": (("lhs_contracting_dims", 0), ("rhs_contracting_dims", 1)),
}
"""By opcode, the attributes that list the dimensions which are summed, with their operand."""

_FACTORS = 2
_MOST_MOVES = 7
_SIDES = ("lhs", "rhs")
"""Moves in a row that are looked behind."""


class SummedDimensions(Struct, frozen=True):
    """The dimensions that a sum runs over, those of size 1 left out."""

    sizes: tuple[int, ...]
    ranks: tuple[int, ...]
    """The order of these dimensions in their operand, from 0."""


def measure_sum(module: HloModule, place: Place, line: Instruction) -> int | None:
    """Return how many elements a product or reduction combines; None where that is not known."""
    if line.opcode == "convolution":
        return _measure_window(module, place, line)
    attributes = SUMMED_OPERANDS.get(line.opcode, ())
    summed = read_summed(module, place, line, *attributes[0]) if attributes else None
    return prod(summed.sizes) if summed else None


def _measure_window(module: HloModule, place: Place, line: Instruction) -> int | None:
    """Return how many products a convolution adds up, at most: where its window is whole."""
    operands = [module.find(place.computation, name) for name in line.operand_names[:_FACTORS]]
    window = parse_window(line.attributes.get("window", ""))
    inputs, _, outputs = line.attributes.get("dim_labels", "").partition("->")
    shapes = [operand.shape if operand else None for operand in operands]
    labels = [*inputs.split("_"), outputs]
    sizes = [
        dict(zip(names, shape.dimensions, strict=False)) if shape else {}
        for names, shape in zip(labels, [*shapes, line.shape], strict=False)
    ]
    if len(sizes) <= _FACTORS:
        return None
    try:
        met = [
            _count_met(part, sizes[0].get(str(number)), sizes[2].get(str(number)))
            for number, part in enumerate(window)
        ]
    except UncountableError:
        return None
    counts = [sizes[1].get("i"), *met]
    known = [count for count in counts if count is not None]
    return prod(known) if len(known) == len(counts) else None


def _count_met(part: WindowDimension, inputs: int | None, outputs: int | None) -> int | None:
    if inputs is None or outputs is None:
        return None
    return count_most_products(part, inputs, outputs)


def compare_sums(
    matching: Matching, before: tuple[Place, Instruction], after: tuple[Place, Instruction]
) -> dict[Kind, Difference]:
    """Return that a product or a reduction combines another number of elements; empty if not."""
    was, now = measure_sum(matching.before, *before), measure_sum(matching.after, *after)
    if was is None or now is None or was == now:
        return {}
    lead = f"{name_reduction(matching.after, after[1])} over "
    parts = _padded(matching, before[1], after, (was, now))
    tail = f" elements{parts}{_taken_over(matching, before, after)}"
    return {Kind.SUMMED: ShapeChange(f"{was:,}", f"{now:,}", lead, tail)}


def _padded(
    matching: Matching,
    former: Instruction,
    after: tuple[Place, Instruction],
    sizes: tuple[int, int],
) -> str:
    """Return to how many elements a dot's sum was padded, and in how many parts; '' if in none.

    XLA's split-K pads what it sums over to a multiple of the number of parts.
    """
    (place, line), (was, now) = after, sizes
    home = matching.after.by_name[place.computation]
    for name, side in zip(line.operand_names, _SIDES, strict=False):
        summed = former.attributes.get(f"{side}_contracting_dims", "")
        pad = home.behind(home.by_name.get(name), REARRANGEMENTS, _MOST_MOVES)
        if (
            pad is None
            or pad.opcode != "pad"
            or matching.partner_before(Place(home.name, pad.name))
        ):
            continue
        total = _padded_size(home.operand(pad), pad, was, summed)
        if total is not None and total > now and not total % now:
            return f", padded to {total:,} in {total // now:,} parts"
    return ""


def _padded_size(
    source: Instruction | None, pad: Instruction, size: int, summed: str
) -> int | None:
    """Return what so many elements are with the padding of the only padded dimension.

    None if that is not one of the `summed` dimensions, as `{1}`.
    """
    sizes = zip(source.shape.dimensions if source else (), pad.shape.dimensions, strict=False)
    grown = [(number, old, new) for number, (old, new) in enumerate(sizes) if old != new]
    if len(grown) != 1 or str(grown[0][0]) not in summed.strip("{}").split(","):
        return None
    ((_, old, new),) = grown
    return None if not old or not new or size % old else size // old * new


def _taken_over(
    matching: Matching, before: tuple[Place, Instruction], after: tuple[Place, Instruction]
) -> str:
    """Return which reduction before it a reduction does now too; '' where there is none."""
    (place, line), (there, now) = before, after
    former = _behind_moves(matching.before, place.computation, line)
    given = _behind_moves(matching.after, there.computation, now)
    if former is None or given is None or former.opcode != line.opcode != given.opcode:
        return ""
    read = _behind_moves(matching.before, place.computation, former)
    partner = None if read is None else matching.partner_after(Place(place.computation, read.name))
    does_both = partner == Place(there.computation, given.name)
    return f", with what %{former.name} did before it" if does_both else ""


def _behind_moves(module: HloModule, home: str, line: Instruction) -> Instruction | None:
    """Return the first operand of an instruction, looking through moves of data."""
    computation = module.by_name[home]
    source = computation.behind(computation.operand(line), REARRANGEMENTS, _MOST_MOVES)
    return None if source is None or source.opcode in REARRANGEMENTS else source


def read_summed(
    module: HloModule, place: Place, line: Instruction, attribute: str, number: int
) -> SummedDimensions | None:
    """Return what a sum runs over in one of its operands; None where that is not known."""
    names = line.operand_names[number : number + 1]
    operand = module.find(place.computation, next(iter(names), ""))
    listed = line.attributes.get(attribute, "")[1:-1].split(",")
    numbers = [known for part in listed if (known := parse_whole_number(part)) is not None]
    sizes = operand.shape.dimensions if operand else ()
    if len(numbers) < len(listed) or any(known >= len(sizes) for known in numbers):
        return None
    wide = [known for known in numbers if sizes[known] != 1]
    known_sizes = tuple(size for known in wide if (size := sizes[known]) is not None)
    if len(known_sizes) < len(wide):
        return None
    return SummedDimensions(known_sizes, tuple(sorted(wide).index(known) for known in wide))
