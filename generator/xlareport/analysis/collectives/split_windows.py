"""Convolutions whose window the partitioner divided over devices, with its part on each.

Each device applies its part at every position of a sharded dimension and needs more than an edge of
the neighboring part; the results are added. A halo exchange sends no more than an edge.
"""

from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from xlareport.analysis.collectives.partitioning import Counterpart, PartitioningStep
from xlareport.analysis.collectives.sharding_effect import cuts_along
from xlareport.analysis.cost.windows import WindowDimension, parse_window
from xlareport.hlo.model import Computation, Instruction
from xlareport.runtime.graphs import nearest_first

OF_DIVIDED_WINDOW = "a part is sent for a part of the window; the operand keeps its sharding"
_MOST_LINES = 100


class DividedWindow(Struct, frozen=True):
    """A convolution before partitioning, with the part of its window that a device applies."""

    op: Instruction
    part: Instruction
    """The convolution in the snapshot of parts."""
    dimension: int
    """Of the operand, sharded."""
    cuts: int
    size: int
    """Of a device's part of the operand along the dimension."""
    window: WindowDimension
    """Of the whole convolution, along the dimension."""

    @property
    def crosses_border(self) -> bool:
        """Whether a window of the convolution spans the border of two parts."""
        window = self.window
        reach = (window.size - 1) * window.rhs_dilate + 1
        is_plain = not window.pad_low and not window.pad_high and window.lhs_dilate == 1
        return not is_plain or bool(self.size % window.stride) or reach > window.stride

    def describe_sent(self, value: str, sent: int) -> str:
        """Return why a device sends so many planes of its part of a value."""
        whole, part = window_size(self.op), window_size(self.part)
        name = f"`{self.op.name}`"
        border = "" if self.crosses_border else f" No window of {name} crosses a border of parts."
        return (
            f"Sends {sent:,} of the {self.size:,} planes of a part of `{value}` along dimension "
            f"{self.dimension}, no edge: the window of {name} (convolution, {whole}) is divided "
            f"over {self.cuts:,} devices, and each applies {part} of it (`{self.part.name}` after "
            f"partitioning) at every position.{border}"
        )

    def describe_sum(self) -> str:
        """Return whose results are added."""
        return (
            f"Combines partial results of `{self.op.name}` (convolution): its window "
            f"({window_size(self.op)}) is divided over {self.cuts:,} devices, and each applies "
            f"{window_size(self.part)} of it."
        )


def window_size(convolution: Instruction) -> str:
    """Return the size of a window: `2x2x2`."""
    window = parse_window(convolution.attributes.get("window", ""))
    return "x".join(str(dimension.size) for dimension in window)


def find_divided_window(
    step: PartitioningStep, wanting: Counterpart, part: Instruction | None
) -> DividedWindow | None:
    """Return the division of a convolution's window; None where its window is whole in a part."""
    op = wanting.instruction
    if part is None or {op.opcode, part.opcode} != {"convolution"}:
        return None
    operand = wanting.home.operand(op)
    whole, rest = (parse_window(line.attributes.get("window", "")) for line in (op, part))
    if operand is None or len(whole) != len(rest):
        return None
    sharding = step.sharding(operand)
    for number, dimension in enumerate(_spatial_dimensions(op)):
        cuts = cuts_along(sharding, [dimension]) if sharding else 1
        size = operand.shape.dimensions[dimension]
        if number >= len(whole) or cuts < 2 or size is None:
            continue
        held = -(-size // cuts)
        # The window of a weight's gradient is as large as the operand: a contraction over space.
        is_kernel = 1 < whole[number].size <= held
        if is_kernel and rest[number].size == -(-whole[number].size // cuts):
            return DividedWindow(op, part, dimension, cuts, held, whole[number])
    return None


def sent_planes(window: DividedWindow, body: Instruction) -> int | None:
    """Return how many planes a collective sends, if more than an edge; None otherwise."""
    shape = body.shape.first
    if len(shape.dimensions) <= window.dimension:
        return None
    sent = shape.dimensions[window.dimension]
    edge = (window.window.size - 1) * window.window.rhs_dilate
    return sent if sent is not None and sent > edge else None


def find_part(home: Computation, body: Instruction, op_name: str) -> Instruction | None:
    """Return the nearest convolution of an op_name that uses what a collective moves."""

    def users(line: Instruction) -> Sequence[Instruction]:
        return home.users.get(line.name, ()) if line.opcode != "convolution" else ()

    for line in islice(nearest_first([body], users), _MOST_LINES):
        if line.opcode == "convolution" and line.metadata.op_name == op_name:
            return line
    return None


def _spatial_dimensions(convolution: Instruction) -> Sequence[int]:
    """Return the dimensions of the operand over which the window moves, in the window's order."""
    labels = convolution.attributes.get("dim_labels", "").partition("_")[0]
    places = {label: number for number, label in enumerate(labels) if label.isdigit()}
    return [places[label] for label in sorted(places)]
