"""Matches two snapshots of a module, or two modules: which instruction continues which.

Deterministic and nearly linear in the size of the difference. Computations that are equal in both,
and equal lines of paired computations, need no work.
"""

from collections.abc import Callable, Iterable

from xlareport.analysis.matching.account import account
from xlareport.analysis.matching.rules import (
    along_moves,
    behind_moves,
    buffers,
    cloned_producers,
    deep_forms,
    folded_values,
    frames,
    generated_bits,
    identity,
    left_behind,
    manual,
    ordered_values,
    programs,
    same_calls,
    same_fusions,
    same_iotas,
    same_stacks,
    selected,
    shares,
    split_parameters,
    spreading,
)
from xlareport.analysis.matching.rules.arithmetic import (
    clamps,
    factored,
    gathered,
    nested_reduces,
    one_hot,
    powers,
    quotients,
    reciprocals,
    regrouped,
    strength,
    windows,
)
from xlareport.analysis.matching.rules.heavy import (
    collectives,
    completed,
    joined,
    merged_dots,
    own_results,
    parted_reduces,
    products,
    staged_reduces,
    staged_selections,
    structure,
    sums,
)
from xlareport.analysis.matching.rules.loops import (
    bodies,
    carried_results,
    hoisting,
    loops,
    moved_inside,
    moved_into_branches,
    moved_outside,
    peeled,
    rotated,
    sinking,
    sunk_work,
)
from xlareport.analysis.matching.rules.movement import (
    converted_pieces,
    masked_pads,
    moved_copies,
    moved_work,
    moves_between,
    moving_converts,
    padded_parts,
    passed_runs,
    raised,
    repeated_results,
    repetitions,
    sliced,
    sunk_slices,
    swaps,
    turned_reshapes,
)
from xlareport.analysis.matching.rules.work_copies import same_work
from xlareport.analysis.matching.search.doubts import grade_doubts
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.search.search_start import start
from xlareport.analysis.matching.search.work_pairs import (
    WorkCopy,
    WorkPair,
    link_work,
    moved_by,
    note_copies,
    spans_partitioned_compilation,
    work_copies,
    work_pairs,
)
from xlareport.hlo.model import HloModule
from xlareport.runtime.garbage_collection import no_collections

_OF_EQUAL_VALUES = (
    frames.opened_again,
    generated_bits.generated_bits,
    identity.same_value,
)
_RULES = (
    *_OF_EQUAL_VALUES,
    regrouped.regrouped,
    powers.by_bits,
    factored.factored,
    quotients.divided_once,
    gathered.gathered,
    nested_reduces.merged_reduces,
    nested_reduces.reshaped,
    reciprocals.mark_reciprocals,
    collectives.combined,
    collectives.folded,
    collectives.scattered,
    frames.entry_arguments,
    split_parameters.split_parameters,
    frames.passed,
    spreading.neighbors,
    manual.split,
    collectives.combined,
    merged_dots.merged,
    collectives.halves,
    products.same_work,
    products.split_sums,
    own_results.own_results,
    parted_reduces.parted_reduces,
    frames.arguments,
    loops.clear_loops,
    loops.expanded,
    frames.called,
    frames.opened_again,
    identity.same_value,
    spreading.neighbors,
    sums.accumulated,
    collectives.same_reducer,
    structure.heavy_by_structure,
    nested_reduces.completed_merges,
    loops.loops,
    bodies.inlined,
    strength.reduced,
    one_hot.selected,
    joined.joined,
    sums.reassociated,
    identity.same_name,
    frames.called,
    identity.same_value,
    spreading.neighbors,
    frames.called,
    clamps.clamped,
    swaps.reordered,
    passed_runs.converts_past_moves,
    passed_runs.converts_between_moves,
    masked_pads.masked,
    identity.moved_name,
    manual.split,
    carried_results.carried_results,
    spreading.neighbors,
    identity.same_value,
    reciprocals.mark_reciprocals,
    padded_parts.padded_parts,
    identity.same_origin,
    spreading.neighbors,
    joined.joined,
    sums.reassociated,
    factored.factored,
    quotients.divided_once,
    gathered.gathered,
    powers.by_bits,
    identity.same_first_operand,
    ordered_values.same_value_in_order,
    frames.called,
    frames.uncalled,
    frames.results,
    frames.elements,
    merged_dots.merged,
    shares.constraints,
    identity.name_taken_over,
    sliced.sliced,
    shares.shared_work,
    masked_pads.masked,
    swaps.swapped,
    completed.read_now,
    spreading.successors,
    ordered_values.same_fill_in_order,
    identity.same_value,
    moved_copies.moved,
    spreading.successors,
    rotated.rotated,
    hoisting.hoisted,
    hoisting.carried_in,
    sinking.sunk,
    sunk_work.sunk_work,
    moved_inside.moved_inside,
    moved_into_branches.moved_into_branches,
    windows.windowed,
    swaps.swapped,
    frames.called_parameters,
    shares.shared_work,
    folded_values.same_folded_values,
    spreading.neighbors,
    repetitions.unrepeated,
    identity.same_operation,
    shares.shared_work,
    spreading.successors,
    swaps.swapped,
    spreading.successors,
    behind_moves.behind_moves,
    along_moves.along_moves,
    spreading.neighbors,
    identity.same_value,
    swaps.passed_chains,
    passed_runs.passed_runs,
    passed_runs.converts_past_moves,
    raised.raised,
    turned_reshapes.turned_reshapes,
    joined.joined,
    completed.read_now,
    completed.completed,
    deep_forms.deep_forms,
    spreading.neighbors,
    sums.reassociated,
    frames.opened_results,
    frames.parameters,
    frames.elements,
    frames.holders,
    same_calls.same_calls,
    identity.same_leaf_read,
    same_iotas.same_iotas,
    clamps.bounds,
    clamps.looked_up,
    nested_reduces.reshaped,
    ordered_values.same_constants_called,
    ordered_values.same_constant_work,
    ordered_values.idle_constants,
    ordered_values.unread_moves,
    selected.selected,
    buffers.memory_only,
)
_PARTS = (
    collectives.halves,
    products.split_sums,
    own_results.own_results,
    products.split_complex,
    products.split_windows,
    products.split_reductions,
    nested_reduces.completed_merges,
    reciprocals.split_quotients,
    staged_reduces.staged,
    staged_selections.staged,
    sinking.sunk,
    sunk_work.sunk_work,
    moved_outside.moved_outside,
    converted_pieces.converted_pieces,
    moved_copies.lowered,
    moved_copies.repeated,
    moved_copies.equal_copies,
    repetitions.unrepeated,
    repeated_results.repeated_results,
    sunk_slices.sunk_slices,
    moved_work.passed_work,
    sliced.left_slices,
    cloned_producers.cloned,
    rotated.rotated,
    peeled.peeled,
    left_behind.unread_shares,
    left_behind.unread_reshapes,
    left_behind.unread_converts,
    left_behind.left_behind,
)
"""Rules that extend existing pairs; they need no unpaired old instructions."""


_OF_WORK = (
    same_work,
    spreading.neighbors,
    same_work,
    same_stacks.same_stacks,
    spreading.neighbors,
)
"""Rules after the others, of a search that sees through moves."""

_BY_NAME = (
    frames.opened_again,
    identity.same_name,
    identity.moved_name,
    identity.name_taken_over,
)
"""Rules that do not apply to two different programs."""
_BY_CONTENTS = {identity.same_operation: (same_fusions.same_fusions, identity.same_operation)}
"""Of two programs fusions are paired by their contents first, then by their framework op."""
_OF_TWO_PROGRAMS = (
    programs.labeled_arguments,
    identity.same_value,
    programs.same_op,
    spreading.neighbors,
    programs.same_op_in_order,
    *(
        rule
        for listed in _RULES
        if listed not in _BY_NAME
        for rule in _BY_CONTENTS.get(listed, (listed,))
    ),
    programs.same_value_elsewhere,
    spreading.neighbors,
    same_fusions.same_fusions,
    same_fusions.same_operands,
)


def match(before: HloModule, after: HloModule, *, same_program: bool = True) -> Matching:
    """Return the matching of two modules; `same_program`: one is a compilation of the other."""
    with no_collections():
        search = start(before, after, same_program=same_program)
        if same_program and spans_partitioned_compilation(before, after):
            _apply_to_compilation(search)
        else:
            _apply(_RULES if same_program else _OF_TWO_PROGRAMS, search)
        for rule in _PARTS:
            rule(search)
        grade_doubts(search)
        search.finish()
        regrouped.regrouped_apart(search)
        swaps.moved_past(search)
        moving_converts.moved_converts(search)
        moved_work.moved_work(search)
        pairings = tuple(account.pairings(search))
        search.release()
    return Matching(before, after, search.computations.pairs, pairings, same_program)


def _apply_to_compilation(search: Search) -> None:
    """Apply the rules after the pairs of work, and pair the moves between it at the end."""
    _apply(_OF_EQUAL_VALUES, search)
    modules = search.before.graph.module, search.after.graph.module
    pairs, copies = _pairs_of_work(*modules)
    link_work(search, pairs)
    _apply(_RULES, search)
    note_copies(search, copies)
    search.evaluate()
    moves_between.moves_between(search)


def _apply(rules: Iterable[Callable[[Search], None]], search: Search) -> None:
    """Apply rules in order until one side has no unpaired nodes left."""
    for rule in rules:
        if not search.done():
            rule(search)


def _pairs_of_work(before: HloModule, after: HloModule) -> tuple[list[WorkPair], list[WorkCopy]]:
    """Return what the rules pair where the moves between instructions are seen through."""
    search = start(before, after, moved=moved_by)
    _apply(_RULES, search)
    search.evaluate()
    _apply(_OF_WORK, search)
    same_work(search)
    same_stacks.same_stacks(search)
    same_stacks.read_alike(search)
    grade_doubts(search)
    pairs = work_pairs(search), work_copies(search)
    search.release()
    return pairs
