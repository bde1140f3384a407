"""Split-K matmul with costly partial sums.

A matmul is computed in parts along the contracting dimension, and a reduce adds them. The finding
appears if writing and reading the parts takes longer than the roofline time of the unsplit matmul,
and 2% or more of the module. Each kernel that adds them reads all parts. One that also reads other
arrays would read the unsplit result instead: this is subtracted. If the tile (in the
backend_config) and the number of multiprocessors are known, the time of the unsplit matmul includes
multiprocessors that would be idle. Otherwise the finding says that this is not counted. The L2
cache is not modeled: parts that stay in it cost less.
"""

from collections.abc import Iterator, Sequence
from math import prod

from msgspec import Struct

from xlareport.analysis.cost.roofline import estimate_time
from xlareport.analysis.cost.work import InstructionCost
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.analysis.findings.same_tiles import find_tile
from xlareport.hlo.graph import fused_opcodes
from xlareport.hlo.model import Computation, HloModule, Instruction, InstructionKey
from xlareport.hlo.opcode_groups import ALIASES
from xlareport.runtime import units
from xlareport.runtime.graphs import reachable
from xlareport.runtime.whole_numbers import parse_whole_number

TITLE = "Split-K matmul with costly partial sums"
LEAST_SHARE = 0.02
"""Of the module's roofline time, all partial sums together."""
_OPERANDS_OF_REDUCE = 2


class _Split(Struct, frozen=True):
    """A product that is written in parts."""

    seconds: float
    """Upper bound of the time saved without the split."""
    bytes: int
    """Of partial sums, in all executions."""
    tiles: int | None
    """Output tiles without the split; None where no tile is known."""
    place: InstructionKey
    is_padded: bool
    """An operand is padded, as for parts that do not divide the contracting dimension."""


def split_products(case: Case) -> Iterator[Finding]:
    """Report products written in parts along a new batch dimension, which a reduce adds up.

    The parts are counted where writing and reading them takes longer than the whole product by
    the roofline, with the multiprocessors that its output tiles keep busy.
    """
    result: list[_Split] = []
    split = 0
    for computation, instruction, cost in case.scheduled:
        parts = count_parts(case.module, computation, instruction) if cost.matrix_flops else 0
        if not parts:
            continue
        split += 1
        size = instruction.shape.byte_size or 0
        moved = _spared_bytes(computation, instruction, size, parts)
        seconds = case.time_of_bytes(moved) * cost.counted
        tiles = count_tiles(instruction, parts)
        whole = _unsplit_seconds(case, cost, size, parts)
        slower = whole / _occupancy(case, tiles) if tiles else whole
        saved = seconds - (slower - whole) * cost.counted
        if saved > whole * cost.counted:
            place = (computation.name, instruction.name)
            is_padded = _is_padded(case.module, computation, instruction)
            result.append(_Split(saved, size * cost.counted, tiles, place, is_padded))
    seconds = sum(product.seconds for product in result)
    if case.is_noticeable(seconds, LEAST_SHARE):
        ordered = sorted(result, key=lambda product: (-product.seconds, product.place))
        yield _finding(case, ordered, split, seconds)


def _is_padded(module: HloModule, computation: Computation, product: Instruction) -> bool:
    """Return whether an operand of a product, behind bitcasts, is padded."""

    def sources(name: str) -> tuple[str, ...]:
        line = computation.by_name.get(name)
        passes = line is not None and (line is product or line.opcode in ALIASES)
        return line.operand_names if line is not None and passes else ()

    lines = map(computation.by_name.get, reachable([product.name], sources))
    return any(
        line is not None and "pad" in {line.opcode, *fused_opcodes(module, line)}
        for line in lines
        if line is not product
    )


def _occupancy(case: Case, tiles: int) -> float:
    """Return the share of the multiprocessors that so many output tiles keep busy; 1 if unknown."""
    multiprocessors = case.device.multiprocessors
    return min(1.0, tiles / multiprocessors) if multiprocessors else 1.0


def count_tiles(product: Instruction, parts: int) -> int | None:
    """Return the output tiles of the product without its split; None where no tile is known.

    `parts` are those of the split.
    """
    tile = [int(size) for size in find_tile(product.attributes_text).split("x") if size.isdigit()]
    sizes = [size for size in product.shape.dimensions if size is not None]
    if len(tile) < 2 or not all(tile[-2:]) or len(sizes) != len(product.shape.dimensions):
        return None
    *batch, rows, columns = sizes
    return prod(batch) // parts * -(-rows // tile[-2]) * -(-columns // tile[-1])


def _describe_tiles(case: Case, products: Sequence[_Split]) -> str:
    """Return how many multiprocessors the unsplit products keep busy, or that it is not known."""
    tiles = sorted(split.tiles for split in products if split.tiles)
    multiprocessors = case.device.multiprocessors
    if len(tiles) < len(products) or not multiprocessors:
        return " How many multiprocessors the split keeps busy is not known."
    span = f"{tiles[0]}" if tiles[0] == tiles[-1] else f"{tiles[0]} to {tiles[-1]}"
    idle = (
        " The time of the unsplit matmuls is longer by the multiprocessors without a tile."
        if tiles[0] < multiprocessors
        else ""
    )
    return f" Unsplit, they have {span} output tiles for {multiprocessors} multiprocessors.{idle}"


def _finding(case: Case, products: Sequence[_Split], split: int, seconds: float) -> Finding:
    names = join_names(split.place[1] for split in products)
    written = sum(split.bytes for split in products)
    tiles = _describe_tiles(case, products)
    is_partial = any(split.is_padded for split in products)
    bound, padding = ("about ", _PADDED) if is_partial else ("up to ", "")
    count = units.plural(len(products), "matmul")
    if split > len(products):
        count = f"{len(products)} of the {split} split matmuls"
    return Finding(
        title=TITLE,
        places=tuple(split.place for split in products),
        evidence=(
            f"{count} ({names}): "
            f"{units.byte_size(written)} of partial sums are written and read again. Without the "
            f"split, {bound}{case.time_words(seconds)}, is saved.{padding}{tiles}{_CACHE}"
        ),
        suggestion=(
            "Autotune on the device that runs it, or switch the rewrite off with "
            "--xla_disable_hlo_passes=splitk-rewriter: splitting pays off where a matmul has fewer "
            "output tiles than the device has multiprocessors."
        ),
        grade="guessed",
        weight=seconds,
        seconds=seconds,
        is_partial=is_partial,
    )


_PADDED = (
    " Operands are padded: where this is for the split, the time of padding is saved too, and is "
    "not counted."
)


_CACHE = " The L2 cache is not modeled: partial sums that stay in it cost less."


def _unsplit_seconds(case: Case, cost: InstructionCost, size: int, parts: int) -> float:
    """Return the roofline seconds of one run without the split: its parts are not written."""
    least = estimate_time(cost, case.device)
    moved = (cost.main_memory_bytes or 0) - size * (1 - 1 / parts)
    return max(least.arithmetic if least else 0.0, case.time_of_bytes(max(0.0, moved)))


def count_parts(module: HloModule, computation: Computation, product: Instruction) -> int:
    """Return into how many parts a product is split; 0 where nothing adds them up.

    The parts are along one of its batch dimensions, which every user sums over.
    """
    users = computation.users.get(product.name, ())
    summed = {_summed_dimension(module, user, product) for user in users}
    dimension = summed.pop() if len(summed) == 1 else None
    batch = product.shape.dimensions[:-2]
    count = batch[dimension] if dimension is not None and dimension < len(batch) else None
    return count if count is not None and count > 1 else 0


def _spared_bytes(computation: Computation, product: Instruction, size: int, parts: int) -> float:
    """Return the bytes that one run would not move without the split.

    The parts are written, and each reader reads them all. The unsplit product is written instead,
    which a reader that only adds the parts does now, and read by each other reader.
    """
    users = computation.users.get(product.name, ())
    adding = sum(_only_adds(user, product) for user in users)
    others = len(users) - adding
    return size * (1 + len(users)) + size / parts * (adding - others - 1)


def _only_adds(user: Instruction, product: Instruction) -> bool:
    """Return whether a reader of the parts reads no other array: it is not needed without them."""
    return user.opcode != "fusion" or {*user.operand_names} <= {product.name}


def _summed_dimension(module: HloModule, user: Instruction, product: Instruction) -> int | None:
    """Return the dimension over which a user sums a value; None if it does anything else."""
    if user.opcode == "reduce":
        return _dimension_of_sum(module, user)
    inside = module.callee(user) if user.opcode == "fusion" else None
    if inside is None or product.name not in user.operand_names:
        return None
    place = user.operand_names.index(product.name)
    if place >= len(inside.parameters):
        return None
    uses = inside.users.get(inside.parameters[place].name, ())
    summed = {_dimension_of_sum(module, use) for use in uses if use.opcode == "reduce"}
    only_sums = all(use.opcode == "reduce" for use in uses)
    return summed.pop() if only_sums and len(summed) == 1 else None


def _dimension_of_sum(module: HloModule, reduce: Instruction) -> int | None:
    """Return the one dimension over which a reduce adds; None of another one."""
    called = module.callee(reduce)
    adds = called is not None and called.root is not None and called.root.opcode == "add"
    number = parse_whole_number(reduce.attributes.get("dimensions", "").strip("{}"))
    return number if adds and len(reduce.operands) == _OPERANDS_OF_REDUCE else None
