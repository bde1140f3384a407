"""Whether a sum runs over its elements in another order, as far as the HLO says.

Floating-point sums in another order differ in their last bits. What a backend does with a sum is
not in the HLO.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from operator import mul

from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.reasons import AfterLoop
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import Change
from xlareport.analysis.steps.differences import attribute_change
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.reducers import SUMS, chooses, name_reduction, reducing_opcode
from xlareport.analysis.steps.sources import value_behind
from xlareport.analysis.steps.summed_dimensions import (
    SUMMED_OPERANDS,
    SummedDimensions,
    measure_sum,
    read_summed,
)
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import REDUCING_COLLECTIVES
from xlareport.hlo.shardings.device_groups import parse_groups
from xlareport.runtime.whole_numbers import parse_whole_number

_SUMS = frozenset(
    {"all-reduce", "convolution", "dot", "reduce", "reduce-scatter", "reduce-window", "scatter"}
)


def find_order_change(
    change: Change, old: Instruction, new: Instruction, matching: Matching
) -> str | None:
    """Return what tells another summation order, such as `dot → reduce`; None if nothing does."""
    after_loop = isinstance(change.reason, AfterLoop)
    if after_loop or sends_sum(change, old, new):
        words = "adds over devices after the loop, not in each iteration"
        words = words if after_loop else str(change.reason)
        return words if _adds_over_devices(new, matching.after) else None
    if _sums_alike(change, old, new, matching) or chooses(matching.before, old):
        return None
    return _order_change(old, new) or _length_change(change, old, new, matching)


def sends_sum(change: Change, old: Instruction, new: Instruction) -> bool:
    """Return whether a collective sends the sum of what several sent, which are added before it."""
    is_one = len(old.operands) == len(new.operands) and old.shape == new.shape
    return (
        change.kind is Kind.COMBINED and is_one and old.opcode == new.opcode in REDUCING_COLLECTIVES
    )


def adds_other_sums(
    old: Instruction, new: Instruction, before: str, after: str, matching: Matching
) -> bool:
    """Return whether an add reads another sum than before: its terms are added in another order.

    `before` and `after` name the computations.
    """
    was = {line.name: line for line in _operands(matching.before, before, old)}
    now = {line.name: line for line in _operands(matching.after, after, new)}
    changed = [
        (module, line)
        for module, lines, others in ((matching.before, was, now), (matching.after, now, was))
        for name, line in lines.items()
        if name not in others
    ]
    sums = (line.opcode in _SUMS and not chooses(module, line) for module, line in changed)
    return old.opcode == new.opcode == "add" and any(sums)


def _operands(module: HloModule, home: str, line: Instruction) -> Iterator[Instruction]:
    return filter(None, (module.find(home, name) for name in line.operand_names))


def _length_change(
    change: Change, old: Instruction, new: Instruction, matching: Matching
) -> str | None:
    """Return how many elements a dot or reduction combines instead; None if they are as many."""
    if change.before is None or change.after is None or old.opcode != new.opcode:
        return None
    places = (matching.before, change.before, old), (matching.after, change.after, new)
    was, now = (measure_sum(*place) for place in places)
    if was is None or now is None or was == now or _is_padded(*places[1]):
        return None
    does = name_reduction(matching.after, new)
    words = f"{does} over {now:,} elements instead of {was:,}"
    joined = "partial sums are added" if does == SUMS else "partial results are combined"
    return f"{words}, and the {joined}" if change.kind is Kind.SPLIT else words


def _is_padded(module: HloModule, place: Place, line: Instruction) -> bool:
    """Return whether an operand is padded: zeros beside the summed elements change nothing."""
    operands = (module.find(place.computation, name) for name in line.operand_names)
    return any(operand is not None and operand.opcode == "pad" for operand in operands)


def partial_sum(place: Place | None, new: Instruction | None, matching: Matching) -> str | None:
    """Return what tells that a new collective adds the partial sums of devices; None if none does.

    Its operand computes what a sum before it did: over fewer elements.
    """
    if place is None or new is None or not _adds_over_devices(new, matching.after):
        return None
    sums = (_sum_before(Place(place.computation, name), matching) for name in new.operand_names)
    old = next(filter(None, sums), None)
    return f"adds partial sums over devices: %{old.name} was the whole sum" if old else None


def _sum_before(place: Place, matching: Matching) -> Instruction | None:
    """Return the old sum of a new value, unless a collective added it over devices before."""
    source = value_behind(matching.after, place)
    partner = matching.partner_before(source) if source else None
    home = matching.before.by_name.get(partner.computation) if partner else None
    old = home.by_name.get(partner.instruction) if home and partner else None
    if old is None or home is None or old.opcode not in _SUMS - REDUCING_COLLECTIVES:
        return None
    users = home.users.get(old.name, ())
    return None if any(user.opcode in REDUCING_COLLECTIVES for user in users) else old


def _adds_over_devices(line: Instruction, module: HloModule) -> bool:
    return line.opcode in REDUCING_COLLECTIVES and reducing_opcode(module, line) == "add"


def changed_attributes(names: Iterable[str], old: Instruction, new: Instruction) -> Iterator[str]:
    """Yield the names of those attributes whose values differ between two instructions."""
    was, now = old.attributes, new.attributes
    return (name for name in names if was.get(name) != now.get(name))


def _order_change(old: Instruction, new: Instruction) -> str | None:
    """Return how a sum is made otherwise: by another operation, or over dimensions in new order."""
    before, after = old.opcode, new.opcode
    if before != after:
        both = {before, after} <= _SUMS or (after == "multiply" and _sums(old))
        is_canonical = (before, after) == ("dot", "convolution")  # how XLA:TPU writes every dot
        return f"{before} → {after}" if both and not is_canonical else None
    if before not in _SUMS:
        return None
    for name, value in _VALUES.items():
        if old.attributes.get(name) != new.attributes.get(name) and value(old) != value(new):
            return attribute_change(name, old, new)
    return None


def _sums(line: Instruction) -> bool:
    """Return whether a dot sums at all: one without contracting dimensions is an outer product."""
    return line.opcode == "dot" and line.attributes.get("lhs_contracting_dims", "{}") != "{}"


def _dimension_words(name: str, line: Instruction) -> str:
    """Return the dimensions that an attribute lists; one alone has one order."""
    text = line.attributes.get(name, "")
    return text if "," in text else ""


_WINDOW_SIZE = re.compile(r"size=([\dx]+)")


def _window(line: Instruction) -> tuple[str, ...]:
    """Return the sizes above 1 of a window; pads and reversals fold into it and sum the same."""
    size = _WINDOW_SIZE.search(line.attributes.get("window", ""))
    return tuple(part for part in size[1].split("x") if part != "1") if size else ()


def _groups(line: Instruction) -> Hashable:
    """Return which devices a collective sums over, in whichever form that is written."""
    text = line.attributes.get("replica_groups", "")
    known = parse_groups(text)
    return text if known is None or known.groups is None else known.groups


_VALUES: Mapping[str, Callable[[Instruction], Hashable]] = {
    "dimensions": partial(_dimension_words, "dimensions"),
    "lhs_contracting_dims": partial(_dimension_words, "lhs_contracting_dims"),
    "rhs_contracting_dims": partial(_dimension_words, "rhs_contracting_dims"),
    "window": _window,
    "replica_groups": _groups,
}
"""Attributes on which the summation order depends, with the part of each that matters."""


def _sums_alike(change: Change, old: Instruction, new: Instruction, matching: Matching) -> bool:
    """Return whether two reductions or products sum over the same sizes in the same order."""
    if change.before is None or change.after is None or old.opcode != new.opcode:
        return False
    if old.opcode == "convolution":
        windows = (
            _summed_window(matching.before, change.before, old),
            _summed_window(matching.after, change.after, new),
        )
        return windows[0] is not None and windows[0] == windows[1]
    if old.opcode == "reduce":
        runs = (
            _stored_runs(matching.before, change.before, old),
            _stored_runs(matching.after, change.after, new),
        )
        if runs[0] is not None and runs[0] == runs[1]:
            return True
    return old.opcode in SUMMED_OPERANDS and all(
        _is_same_order(
            read_summed(matching.before, change.before, old, name, number),
            read_summed(matching.after, change.after, new, name, number),
        )
        for name, number in SUMMED_OPERANDS[old.opcode]
    )


def _summed_window(
    module: HloModule, place: Place, line: Instruction
) -> tuple[tuple[str, ...], int | None] | None:
    """Return the sizes above 1 of a window that it sums over, with the size of the input feature.

    Where the input has one element along a dimension, each result has one product, whatever the
    window: so is a matrix product written whose operands changed places. None if not known.
    """
    operand = module.find(place.computation, next(iter(line.operand_names), ""))
    labels = line.attributes.get("dim_labels", "").partition("_")[0]
    window = _WINDOW_SIZE.search(line.attributes.get("window", ""))
    sizes = operand.shape.dimensions if operand else ()
    if len(sizes) != len(labels) or "f" not in labels:
        return None
    single = {label for label, size in zip(labels, sizes, strict=True) if size == 1}
    summed = tuple(
        part
        for number, part in enumerate(window[1].split("x") if window else ())
        if part != "1" and str(number) not in single
    )
    return summed, sizes[labels.index("f")]


def _stored_runs(
    module: HloModule, place: Place, line: Instruction
) -> tuple[tuple[bool, int], ...] | None:
    """Return which runs of elements, as they lie in memory, a reduction sums over and which not.

    Dimensions of size 1 are left out and neighbors merged: a layout written as another shape has
    the same. None where no layout is written.
    """
    operand = module.find(place.computation, next(iter(line.operand_names), ""))
    order = operand.shape.layout.partition(":")[0].split(",") if operand else []
    numbers = [known for part in order if (known := parse_whole_number(part)) is not None]
    sizes = operand.shape.dimensions if operand else ()
    if sorted(numbers) != list(range(len(sizes))):
        return None
    summed = line.attributes.get("dimensions", "")[1:-1].split(",")
    runs: list[tuple[bool, int]] = []
    for number in reversed(numbers):
        size = sizes[number]
        if size is None:
            return None
        is_summed = str(number) in summed
        if size != 1 and runs and runs[-1][0] == is_summed:
            runs[-1] = (is_summed, runs[-1][1] * size)
        elif size != 1:
            runs.append((is_summed, size))
    return tuple(runs)


def _is_same_order(old: SummedDimensions | None, new: SummedDimensions | None) -> bool:
    """Return whether two sums run over the same elements in order; dimensions may be merged."""
    if old is None or new is None:
        return False
    if len(old.sizes) == len(new.sizes):
        return old == new
    fewer, more = sorted((old, new), key=lambda summed: len(summed.sizes))
    is_ascending = all(list(summed.ranks) == sorted(summed.ranks) for summed in (fewer, more))
    products = list(accumulate(more.sizes, mul))
    merged = list(accumulate(fewer.sizes, mul))
    return is_ascending and merged[-1:] == products[-1:] and {*merged} <= {*products}
