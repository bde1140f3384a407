"""What could be done about values at the peak of memory, by what they are."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xlareport.analysis.cost.peak_roles import PeakRole
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.analysis.source.scopes import Phase, phase_of, plain_path
from xlareport.knowledge.opcodes import is_collective
from xlareport.runtime import units
from xlareport.runtime.english import first_few, fits_code, listing, pluralize, with_article

_Words: TypeAlias = Callable[[MemoryReport, Sequence[ValueRow]], str]
_NAMED = 2
_PADDED = 1.25
"""Times the bytes of the data, from which a layout pads an array much."""
COMBINERS: Mapping[str, str] = {
    kind: f" (on GPUs `--xla_gpu_{kind.replace('-', '_')}_combine_threshold_bytes`)"
    for kind in ("all-gather", "all-reduce", "reduce-scatter")
}
"""Words on the option that limits what is combined, by the kind of collective."""
_CARRIED = frozenset({"while", "broadcast", "copy", "tuple", "get-tuple-element", "constant"})
"""Opcodes of loop state, or of zeros that a loop fills: nothing to rematerialize."""


def treatment_of(row: ValueRow, memory: MemoryReport) -> str:
    """Return the treatment of a value: what it is for, its role, or a class of opcode and phase."""
    for treatment, treated in (
        ("drawn", memory.purposes.drawn_shares),
        ("parts", memory.purposes.partial_sums),
        ("joined", memory.purposes.joined_operands),
        ("result", memory.purposes.result_gradients),
        ("copied", memory.purposes.copied_arguments),
        ("repeated", memory.purposes.repeated_values),
    ):
        if row.instruction in treated:
            return treatment
    is_again = row.role in (PeakRole.WORKING, PeakRole.RECOMPUTED)
    if is_again and memory.purposes.are_scores(row.instruction, row.index):
        return "scores"
    if row.role is not PeakRole.OTHER:
        return str(row.role)
    if is_collective(row.opcode) or row.instruction in memory.purposes.collective_results:
        return "sent"
    if row.opcode in _CARRIED:
        return "carried"
    return "gradient" if phase_of(row.origin) is Phase.BACKWARD else "computed"


def _working(memory: MemoryReport, rows: Sequence[ValueRow]) -> str:
    is_single = len(rows) == 1
    part = "is an operand or a result" if is_single else "are operands or results"
    at = f"the instruction at the peak, `%{memory.peak_instruction}`"
    return f"{name_rows(rows)} {part} of {at}; recomputation does not help: {_pieces(rows)}"


def _scores(_: MemoryReport, rows: Sequence[ValueRow]) -> str:
    are = "is" if len(rows) == 1 else "are"
    return (
        f"{name_rows(rows)} {are} scores of attention, their softmax or gradients, which "
        "recomputation writes again: attention in one kernel, or in blocks of queries, has only a "
        "part of them at a time"
    )


def _recomputed(_: MemoryReport, rows: Sequence[ValueRow]) -> str:
    return (
        f"{name_rows(rows)} {'is' if len(rows) == 1 else 'are'} recomputed already: {_pieces(rows)}"
    )


def _pieces(rows: Sequence[ValueRow]) -> str:
    return f"compute {'it' if len(rows) == 1 else 'them'} in smaller pieces or in a narrower type"


def _until(rows: Sequence[ValueRow]) -> str:
    """Return until when a single value is in use, after a comma; empty if not known."""
    life = rows[0].lifetime if len(rows) == 1 else None
    return f", in use until `%{life.last_use}`" if life and life.last_use else ""


def _drawn(memory: MemoryReport, rows: Sequence[ValueRow]) -> str:
    used = memory.purposes.drawn_shares[rows[0].instruction]
    return (
        f"every device generates all numbers of {name_rows(rows)} and uses a slice, {used}: "
        "draw them per shard, in shard_map with a key that jax.random.fold_in makes from "
        "jax.lax.axis_index, or with threefry keys and jax_threefry_partitionable"
    )


def _combined_words(memory: MemoryReport, row: ValueRow) -> str:
    operand = memory.purposes.joined_operands[row.instruction]
    flag = COMBINERS.get(operand.kind, "")
    return (
        f"`%{row.instruction}` holds the {operand.arrays} operands of the combined "
        f"{operand.kind} `%{operand.collective}` in a row{_when(row)}: a lower combine "
        f"threshold{flag} joins fewer; more collectives have more latency"
    )


def _result(memory: MemoryReport, row: ValueRow) -> str:
    gradient = memory.purposes.result_gradients[row.instruction]
    remedy = _CHUNKS if gradient.has_softmax else _pieces([row])
    return (
        f"`%{row.instruction}` is the gradient of the result of `{gradient.op}` "
        f"({row.shape.partition('{')[0]}){_when(row)}: {remedy}"
    )


def _copied(memory: MemoryReport, row: ValueRow) -> str:
    argument = memory.purposes.copied_arguments[row.instruction]
    name = f"`{argument.name}`" if fits_code(argument.name) else "an argument"
    data = argument.data_bytes
    what = f"`%{row.instruction}` is a copy of the argument {name} in another layout, `{row.shape}`"
    if data is not None and row.size >= _PADDED * data:
        return (
            f"{what}{_when(row)}, which pads {units.byte_size(data)} to "
            f"{units.byte_size(row.size)}: make its most minor dimension a multiple of the tile, "
            "or read the array in the order that it has. An argument in this layout is padded too"
        )
    return (
        f"{what}{_when(row)}: pass the array with its dimensions in the order of this layout, or "
        "read it in the order that it has, and nothing is copied"
    )


def _repeated(memory: MemoryReport, row: ValueRow) -> str:
    source = memory.purposes.repeated_values[row.instruction]
    return (
        f"`%{row.instruction}` repeats `%{source}` along a new dimension{_when(row)}: let what "
        "reads it use the smaller array, such as an einsum or attention over groups in place of "
        "jnp.repeat"
    )


def _when(row: ValueRow) -> str:
    """Return where in the schedule a value is made and last read, itself or in its memory."""
    life = row.lifetime
    if life is None:
        return ""
    last = f" and last read at {units.count(life.end)}" if life.end < life.positions else ""
    return f", made at schedule position {units.count(life.start)}{last}"


def _sent(memory: MemoryReport, rows: Sequence[ValueRow]) -> str:
    results = memory.purposes.collective_results
    kinds = dict.fromkeys(results[row.instruction] for row in rows if row.instruction in results)
    if not kinds:
        what = ""
    elif len(rows) == 1:
        what = f", the result of {with_article(next(iter(kinds)))}"
    else:
        what = f", results of {listing([*map(pluralize, kinds)])}"
    again = "it is" if len(rows) == 1 else "they are"
    return (
        f"shrink {name_rows(rows)}{what} (rematerialized, {again} sent to the devices again): send "
        "smaller pieces or a narrower type"
    )


_CHUNKS = (
    "if these are the logits of a loss, compute the loss in chunks of tokens, each in "
    "jax.checkpoint, so that the logits of one chunk and their gradient are in use at a time"
)


def _each(words: Callable[[MemoryReport, ValueRow], str]) -> _Words:
    """Return words on values of which each is for something else: on the first few."""
    return lambda memory, rows: "; ".join(words(memory, row) for row in rows[:_NAMED])


TREATMENTS: Mapping[str, _Words] = {
    "drawn": _drawn,
    "joined": _each(_combined_words),
    "result": _each(_result),
    "copied": _each(_copied),
    "repeated": _each(_repeated),
    PeakRole.ACTIVATION: lambda _, rows: (
        f"recompute {name_rows(rows)} with jax.checkpoint (activations)"
    ),
    "scores": _scores,
    PeakRole.WORKING: _working,
    PeakRole.RECOMPUTED: _recomputed,
    "computed": lambda _, rows: f"shrink or rematerialize {name_rows(rows)}: {_pieces(rows)}",
    "gradient": lambda _, rows: f"shrink {name_rows(rows)}{_until(rows)}: {_pieces(rows)}",
    "sent": _sent,
    "carried": lambda _, rows: (
        f"shrink {name_rows(rows)} (loops carry or fill them): a narrower type, or a sharding into "
        "more parts"
    ),
}
"""Sentences on the treatment of values, in this order."""


def warn_of_order(memory: MemoryReport, rows: Sequence[ValueRow]) -> str:
    """Return a sentence on the values that are put in order, which a narrower type changes."""
    ranked = [row for row in rows if row.instruction in memory.purposes.ranked_values]
    if not ranked:
        return ""
    names = first_few([f"`%{row.name}`" for row in ranked[:_NAMED]], _NAMED, len(ranked))
    are = "is" if len(ranked) == 1 else "are"
    return (
        f" {names} {are} put in order (sort, top-k or argmax): a narrower type can change the "
        "order."
    )


def name_rows(rows: Sequence[ValueRow]) -> str:
    """Return the first values, with their sizes if there are several, and their origins."""
    has_size = len(rows) > 1  # else it is that of the suggestion
    return first_few(
        [_describe_row(row, has_size=has_size) for row in rows[:_NAMED]], _NAMED, len(rows)
    )


def _describe_row(row: ValueRow, *, has_size: bool) -> str:
    """Return a value with its size and origin: `%dot.1` (2.0 MiB, forward logits/dot)."""
    op = _op_words(row.origin)
    what = op if fits_code(op) else row.shape.partition("{")[0]
    what = f"{units.byte_size(row.size)}, {what}" if has_size else what
    return f"`%{row.name}` ({what})"


def _op_words(op_name: str) -> str:
    """Return phase and path of an op_name: `backward block3/ffn/dot_general`; empty for none.

    Of several that XLA merged that is the first.
    """
    first = op_name.partition(";")[0]
    path = plain_path(first) if "/" in first else ""
    return f"{phase_of(first)} {path}".strip() if path else ""
