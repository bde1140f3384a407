"""Suggestions to lower the peak memory of a module, the most bytes first."""

from collections import Counter
from collections.abc import Container, Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.cost.peak_roles import PeakRole
from xlareport.analysis.cost.phases import BACKWARD, FORWARD, IN_A_LOOP
from xlareport.analysis.cost.rematerialization import FRAMEWORK
from xlareport.analysis.cost.saving import Saving
from xlareport.analysis.cost.stacked import StackCopy, StackedBuffer
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.peak_groups import PeakGroup
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.analysis.findings import dense_gradients, split_products
from xlareport.analysis.memory_actions.argument_actions import donation_action, replication_actions
from xlareport.analysis.memory_actions.padding_actions import padding_action
from xlareport.analysis.memory_actions.treatments import (
    COMBINERS,
    TREATMENTS,
    name_rows,
    treatment_of,
    warn_of_order,
)
from xlareport.analysis.source.scopes import Phase
from xlareport.runtime import units
from xlareport.runtime.english import first_few, fits_code

_NAMED = 2
_LEAST_SHARE = 0.01
"""Share of the peak: fewer bytes are not worth a change of the program."""

_NARROW = "narrower type"
_NARROWER = "a narrower type or sharding shrinks them."
_STACKED = {
    FORWARD: (
        "that forward loops stack, such as the activations that a scan saves for the backward "
        "pass; jax.checkpoint recomputes them."
    ),
    BACKWARD: f"of gradients that loops stack{{names}}: {_NARROWER}",
    Phase.RECOMPUTED: (
        "that a recomputed loop of the forward pass saves for its backward pass{names}: a narrower "
        "type or sharding shrinks them, and a checkpoint around several iterations saves fewer."
    ),
    "": "that loops stack, such as the outputs of a scan.",
}
"""By phase, what follows their count; `{names}` stands for the first of them."""
_CHECKPOINTED = (
    "that forward loops stack. The program already has jax.checkpoint, which saves these for the "
    "backward pass. A checkpoint around several layers saves fewer."
)
_SEVERAL_LOOPS = (
    "that {count} forward loops stack. {where}jax.checkpoint around each loop, such as around the "
    "layer that it is in, saves only what the loop begins with: the {most} of one loop are in use "
    "at a time. A jax.custom_vjp that saves the results of the loop alone, such as the output and "
    "the logsumexp of attention in blocks, does so too."
)
_IN_BODIES = (
    "jax.checkpoint is in the bodies of loops alone, by the op_names: it saves what each iteration "
    "begins with, of all these loops until the backward pass. "
)
_ELSEWHERE = "The program already has jax.checkpoint, but these are saved. "
_UNNAMED = "outside of named layers"
_UNCHECKPOINTED_LAYERS = "jax.checkpoint around their layers recomputes them."
_CHECKPOINTED_LAYERS = (
    "the program already has jax.checkpoint; these are values that it saves, and layers outside of "
    "it. A checkpoint around more layers, or a policy that saves less, recomputes more of them."
)
_OUTSIDE_OF_LOOPS = (
    "the program has jax.checkpoint in the bodies of loops alone; around the layers that these are "
    "of, it recomputes them."
)


class MemoryAction(Struct, frozen=True):
    """What could be done to lower the peak."""

    bytes: int
    """By how much at most."""
    sentence: str
    """Names and titles of findings are in backticks."""


def list_actions(memory: MemoryReport, titles: Container[str] = ()) -> tuple[MemoryAction, ...]:
    """Return the actions; a sentence may refer to a finding among `titles`."""
    least = _LEAST_SHARE * memory.peak_bytes
    actions = (MemoryAction(*action) for action in _actions(memory, titles))
    worthwhile = (action for action in actions if action.bytes >= least)
    return tuple(sorted(worthwhile, key=lambda action: -action.bytes))


def _actions(memory: MemoryReport, titles: Container[str]) -> Iterator[tuple[int, str]]:
    """Yield (bytes, sentence)."""
    yield from donation_action(memory)
    yield from replication_actions(memory)
    yield from padding_action(memory, titles)
    saving = memory.saving
    if saving is not None and saving.buffers and saving.is_enough:
        yield from _shrinks(memory, saving)
    yield from _unsplit(memory, titles)
    yield from _activations(memory)
    yield from _stacked(memory)
    yield from (_group_action(group, titles) for group in memory.peak_groups)


def _group_action(group: PeakGroup, titles: Container[str]) -> tuple[int, str]:
    """Return the bytes and the sentence on values that the compiler put at the peak together."""
    size = f"{units.byte_size(group.size)} at most"
    if group.opcode == "scatter":
        is_reported = dense_gradients.TITLE in titles
        return group.size, (
            f"{size}: `%{group.instruction}` fills a buffer with zeros that nothing reads before "
            f"the peak; `%{group.adding}` adds to it later."
            + (
                f" See the finding `{dense_gradients.TITLE}`."
                if is_reported
                else " Filled right before that, it is not in use there."
            )
        )
    if group.opcode == "broadcast":
        return group.size, (
            f"{size}: {group.count} equal copies of the broadcast `%{group.instruction}` that "
            "nothing reads before the peak; each waits for what writes into it. Made later, right "
            "before that, they are not in use together."
        )
    flag = COMBINERS.get(group.opcode, "")
    return group.size, (
        f"{size}: {group.count} results of `%{group.instruction}`, which combines "
        f"{group.combined} {group.opcode}s and writes all results at once. A lower combine "
        f"threshold{flag} lets each run nearer to its use; more collectives have more latency."
    )


def _saved(memory: MemoryReport, saving: Saving) -> int:
    """Return the bytes of the values at the peak if nearly all of them are saved, else the saving.

    The peak without a value of 1.0 MiB may be 1,023 KiB lower, which reads like a mistake.
    """
    saved, size = saving.peak - saving.reached, sum(row.size for row in _at_peak(memory, saving))
    return size if saved < size and size - saved < _LEAST_SHARE * size else saved


def _at_peak(memory: MemoryReport, saving: Saving) -> list[ValueRow]:
    """Return the values to shrink that are in use at the present peak."""
    return [row for row in memory.saving_values if (row.instruction, row.index) not in saving.later]


def _shrinks(memory: MemoryReport, saving: Saving) -> Iterator[tuple[int, str]]:
    """Yield bytes and sentences on the buffers to shrink, one for each treatment.

    What another suggestion is about is left out.
    """
    groups: dict[str, list[ValueRow]] = {}
    for row in _at_peak(memory, saving):
        if not _is_advised(row, memory):
            groups.setdefault(treatment_of(row, memory), []).append(row)
    saved = _saved(memory, saving)
    for treatment, words in TREATMENTS.items():
        rows = groups.get(treatment)
        if rows:
            size = min(saved, sum(row.size for row in rows))
            later = _later(memory, saving, size)
            what = words(memory, rows)
            ranked = warn_of_order(memory, rows) if _NARROW in what else ""
            yield size, f"{units.byte_size(size)} at most: {what}.{ranked}{later}"


def _later(memory: MemoryReport, saving: Saving, size: int) -> str:
    """Return what else has to shrink for a saving: buffers in use at another position."""
    rows = [row for row in memory.saving_values if (row.instruction, row.index) in saving.later]
    if saving.saved_at_once >= size or not rows:
        return ""
    once = units.byte_size(saving.saved_at_once)
    return (
        f" That alone saves {once}: the peak then moves to another schedule position. For the "
        f"rest, {name_rows(rows)} must shrink too."
    )


def _unsplit(memory: MemoryReport, titles: Container[str]) -> Iterator[tuple[int, str]]:
    """Yield bytes and a sentence on the partial sums in use at the peak, if there are any.

    All of them, because the flag switches off every split; the sum of each remains.
    """
    sums = memory.purposes.partial_sums
    rows = [row for row in memory.at_peak if row.instruction in sums]
    if not rows:
        return
    size = sum(row.size for row in rows)
    left = sum(sums[row.instruction] for row in rows)
    verb, results = ("holds", "a result") if len(rows) == 1 else ("hold", "results")
    is_reported = split_products.TITLE in titles
    further = f" See the finding `{split_products.TITLE}`." if is_reported else ""
    words = (
        f"{units.byte_size(size - left)} at most: {name_rows(rows)} {verb} split-K partial sums, "
        f"{units.byte_size(size)} for {results} of {units.byte_size(left)}: without the split they "
        f"are not written (`--xla_disable_hlo_passes=splitk-rewriter`).{further}"
    )
    yield size - left, words


def _is_advised(row: ValueRow, memory: MemoryReport) -> bool:
    """Return whether another suggestion is about a value."""
    if row.role is PeakRole.STACKED:
        return True
    if row.role is PeakRole.ACTIVATION:
        return _are_worth_a_point(memory)
    return any(_is_in_group(row, group) for group in memory.peak_groups)


def _is_in_group(row: ValueRow, group: PeakGroup) -> bool:
    """Return whether a value is in a group, which names a combined collective or one copy."""
    is_copy = group.opcode == row.opcode == "broadcast" and row.size * group.count == group.size
    return is_copy or row.instruction == group.instruction


def _are_worth_a_point(memory: MemoryReport) -> bool:
    size = sum(activation.size for activation in memory.activations)
    return size >= max(1, _LEAST_SHARE * memory.peak_bytes)


def _activations(memory: MemoryReport) -> Iterator[tuple[int, str]]:
    """Yield the bytes that the forward pass keeps for the backward pass, by layer."""
    if not _are_worth_a_point(memory):
        return
    size = sum(activation.size for activation in memory.activations)
    parts = [
        f"{_layer_words(name)} {units.byte_size(part)}"
        for name, part in memory.activations_by_layer
    ]
    names = [name for name, _ in memory.activations_by_layer]
    is_named = any(name not in {"", IN_A_LOOP} for name in names)
    of = f" ({first_few(parts, _NAMED)})" if is_named else f" ({_largest(memory)})"
    count = units.plural(len(memory.activations), "activation")
    what = _words_of_layers(memory)
    yield (
        size,
        (
            f"{units.byte_size(size)} at most: {count} of the forward pass in use at the peak "
            f"until the backward pass reads them{of}; {what}"
        ),
    )


def _words_of_layers(memory: MemoryReport) -> str:
    """Return what recomputes activations, by where the program has jax.checkpoint."""
    if not _is_checkpointed(memory):
        return _UNCHECKPOINTED_LAYERS
    is_outside = all(name != IN_A_LOOP for name, _ in memory.activations_by_layer)
    is_known = memory.checkpoints_in_loops and is_outside
    return _OUTSIDE_OF_LOOPS if is_known else _CHECKPOINTED_LAYERS


def _layer_words(name: str) -> str:
    return f"`{name}`" if name != IN_A_LOOP and fits_code(name) else _UNNAMED


def _largest(memory: MemoryReport) -> str:
    """Return the largest activations with their sizes."""
    rows = sorted(memory.activations, key=lambda row: -row.size)
    sizes = [f"`%{row.key[0]}` {units.byte_size(row.size)}" for row in rows[:_NAMED]]
    return first_few(sizes, _NAMED, len(rows))


def _is_checkpointed(memory: MemoryReport) -> bool:
    return memory.rematerialized_counts.get(FRAMEWORK, 0) > 0


def _stacked(memory: MemoryReport) -> Iterator[tuple[int, str]]:
    """Yield the buffers that loops stack, gradients separately; the program requires them."""
    is_checkpointed = _is_checkpointed(memory)
    for phase, words in _STACKED.items():
        alike = [buffer for buffer in memory.stacked_at_peak if buffer.phase == phase]
        copies = [copy for copy in memory.stack_copies if copy.buffer.phase == phase]
        size = sum(buffer.bytes or 0 for buffer in alike) + sum(copy.size for copy in copies)
        if size:
            is_saved = phase == FORWARD and is_checkpointed
            what = _checkpointed(memory, alike, copies) if is_saved else words
            named = alike or [copy.buffer for copy in copies]
            what = what.replace("{names}", f" ({_stackname_rows(named)})")
            buffers = _count_stacks(len(alike), len(copies))
            further = _split_further(memory, alike) if phase == FORWARD else ""
            yield size, f"{units.byte_size(size)} at most: {buffers} {what}{further}"


def _count_stacks(stacks: int, copies: int) -> str:
    """Return the count of stacked buffers, with that of further ones that are moved out of them."""
    of_them = f" ({copies:,} of them copied or transposed)" if copies else ""
    return f"{units.plural(stacks + copies, 'buffer')}{of_them}"


def _split_further(memory: MemoryReport, buffers: Sequence[StackedBuffer]) -> str:
    """Return a sentence on the buffer that a further axis of the mesh makes the most smaller."""
    least = _LEAST_SHARE * memory.peak_bytes
    unsplit = [
        stack for stack in memory.unsplit_stacks if stack.buffer in buffers and stack.saved >= least
    ]
    if not unsplit:
        return ""
    first, *others = unsplit
    size = first.buffer.bytes or 0
    more = f" It is so of {units.plural(len(others), 'other buffer')} too." if others else ""
    return (
        f" `%{first.buffer.loop}{{{first.buffer.index}}}` is the same on all {first.devices} "
        f"devices along `{first.axis}`, which split matmuls of its loop: a "
        "jax.lax.with_sharding_constraint that splits the stored value along it too, as sequence "
        f"parallelism does, leaves {units.byte_size(size - first.saved)} of "
        f"{units.byte_size(size)}.{more}"
    )


def _stackname_rows(buffers: Sequence[StackedBuffer]) -> str:
    """Return the first buffers with their sizes, the largest first."""
    names = [
        f"`%{buffer.loop}{{{buffer.index}}}` {units.byte_size(buffer.bytes or 0)}"
        for buffer in buffers[:_NAMED]
    ]
    return first_few(names, _NAMED, len(buffers))


def _checkpointed(
    memory: MemoryReport, buffers: Sequence[StackedBuffer], copies: Sequence[StackCopy]
) -> str:
    """Return a sentence on the buffers, and copies of some, that jax.checkpoint saves."""
    sizes = [(buffer, buffer.bytes or 0) for buffer in buffers]
    sizes += [(copy.buffer, copy.size) for copy in copies]
    marked = [size for buffer, size in sizes if buffer in memory.kept_by_policy]
    if not marked:
        return _several_loops(memory, buffers) or _CHECKPOINTED
    is_all = len(marked) == len(sizes)
    size = units.byte_size(sum(marked))
    which = f"all {len(marked)}" if is_all else f"{len(marked)} of them ({size})"
    return (
        f"that forward loops stack. The policy of jax.checkpoint keeps {which}, which the program "
        "before optimization marks by reduce_precision; "
        "jax.checkpoint_policies.nothing_saveable, or no policy, recomputes them."
        f"{'' if is_all else _OTHERS}"
    )


def _several_loops(memory: MemoryReport, buffers: Sequence[StackedBuffer]) -> str:
    """Return a sentence on the stacks of loops that follow one another; empty for a single one.

    A loop in the body of another one holds its stack in each iteration anew.
    """
    sizes: Counter[tuple[str, str]] = Counter()
    for buffer in buffers:
        sizes[buffer.computation, buffer.loop] += buffer.bytes or 0
    if max(Counter(home for home, _ in sizes).values(), default=0) < _SEVERAL:
        return ""
    return _SEVERAL_LOOPS.format(
        count=len(sizes),
        where=_IN_BODIES if memory.checkpoints_in_loops else _ELSEWHERE,
        most=units.byte_size(max(sizes.values())),
    )


_SEVERAL = 2
"""Loops of one computation."""
_OTHERS = " A checkpoint around several layers saves fewer of the others."
