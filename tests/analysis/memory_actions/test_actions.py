from collections.abc import Collection
from types import SimpleNamespace
from typing import Any, cast

from msgspec.structs import replace

from xlareport.analysis.cost.activations import Activation
from xlareport.analysis.cost.donation import DonationRow
from xlareport.analysis.cost.lifetimes import End, Lifetime
from xlareport.analysis.cost.memory import collect_memory_figures
from xlareport.analysis.cost.occupancy import Fill
from xlareport.analysis.cost.peak_roles import PeakRole
from xlareport.analysis.cost.phases import BACKWARD, FORWARD, IN_A_LOOP
from xlareport.analysis.cost.rematerialization import FRAMEWORK
from xlareport.analysis.cost.saving import Saving
from xlareport.analysis.cost.stacked import StackCopy, StackedBuffer
from xlareport.analysis.cost_report.memory_report import MemoryReport
from xlareport.analysis.cost_report.peak_groups import PeakGroup
from xlareport.analysis.cost_report.result_gradients import ResultGradient
from xlareport.analysis.cost_report.unsplit_stacks import UnsplitStack
from xlareport.analysis.cost_report.value_purposes import JoinedOperand, ValuePurposes
from xlareport.analysis.cost_report.value_row import ValueRow
from xlareport.analysis.findings import dense_gradients, split_products
from xlareport.analysis.memory_actions.actions import list_actions
from xlareport.pages.memory.peak_words import describe_takeovers
from xlareport.readers.buffer_assignment import Allocation, read_buffer_assignment

EMPTY = MemoryReport(figures=collect_memory_figures(None, None, ()))
PIECES = ": compute it in smaller pieces or in a narrower type."
COULD = DonationRow(2, "w", 3 << 20, (0,), donated=False)


def list_sentences(memory: MemoryReport, titles: Collection[str] = ()) -> list[str]:
    """Return the sentences of the actions, the most bytes first."""
    return [action.sentence for action in list_actions(memory, titles)]


def test_the_most_bytes_come_first() -> None:
    saving = Saving(8 << 20, 6 << 20, 6 << 20, ((("fusion.1", ()), 2 << 20),))
    first, second = list_sentences(
        replace(
            EMPTY, donations=(COULD,), saving=saving, saving_values=(row("fusion.1", "fusion"),)
        )
    )
    assert first.startswith("3.0 MiB at most: donate 1 argument (2) with donate_argnums")
    assert second == "1.0 MiB at most: shrink or rematerialize `%fusion.1` (f32[8])" + PIECES


def test_a_donation_of_a_few_bytes_is_no_advice() -> None:
    figures = replace(EMPTY, occupied_peak_bytes=100 << 20)
    tiny = replace(COULD, size=8)
    assert list_sentences(replace(figures, donations=(tiny,))) == []
    (words,) = list_sentences(replace(figures, donations=(COULD,)))
    assert words.endswith("if the caller does not reuse it: it has the shape of an output.")
    assert len(list_sentences(replace(EMPTY, donations=(tiny,)))) == 1


def row(name: str, opcode: str, role: PeakRole = PeakRole.OTHER, origin: str = "") -> ValueRow:
    value = ValueRow(name, (), 1 << 20, "f32[8]{0}", opcode, "temp", 0, 0, None, None, "", "")
    return replace(value, role=role, origin=origin)


def told(*rows: ValueRow) -> list[str]:
    """Return the sentences on what would have to shrink."""
    buffers = tuple(((value.instruction, value.index), value.size) for value in rows)
    saving = Saving(8 << 20, 6 << 20, 5 << 20, buffers)
    memory = replace(EMPTY, saving=saving, saving_values=rows, peak_instruction="now")
    return list_sentences(memory)


def test_scores_of_attention_are_not_to_be_cut_or_narrowed_but_fused() -> None:
    scores = replace(row("now", "fusion", PeakRole.WORKING), index=(1,))
    saving = Saving(8 << 20, 6 << 20, 5 << 20, ((("now", (1,)), 1 << 20),))
    memory = replace(EMPTY, saving=saving, saving_values=(scores,), peak_instruction="now")
    purposes = ValuePurposes(scores={"now": frozenset({1})})
    (sentence,) = list_sentences(replace(memory, purposes=purposes))
    assert "is scores of attention, their softmax or gradients" in sentence
    assert "attention in one kernel" in sentence
    other = ValuePurposes(scores={"now": frozenset({0})})
    assert "recomputation does not help" in list_sentences(replace(memory, purposes=other))[0]
    whole = ValuePurposes(scores={"now": frozenset()})
    assert "scores of attention" in list_sentences(replace(memory, purposes=whole))[0]


def test_what_the_peak_instruction_works_on_is_not_to_be_recomputed() -> None:
    logits = row("dot.1", "fusion", PeakRole.WORKING, "jit(f)/jvp(logits)/dot_general")
    gradient = row("now", "fusion", PeakRole.WORKING, "jit(f)/transpose(jvp(loss))/mul")
    assert told(logits, gradient) == [
        (
            "2.0 MiB at most: `%dot.1` (1.0 MiB, forward logits/dot_general), `%now` (1.0 MiB, "
            "backward loss/mul) are operands or results of the instruction at the peak, `%now`; "
            "recomputation does not help: compute them in smaller pieces or in a narrower type."
        )
    ]


def test_what_is_recomputed_or_stacked_is_not_to_be_recomputed() -> None:
    scores = "jit(f)/transpose(jvp())/while/body/checkpoint/rematted_computation/attn/sub"
    again = row("fusion.3", "fusion", PeakRole.RECOMPUTED, scores)
    assert told(again) == [
        (
            "1.0 MiB at most: `%fusion.3` (recomputed attn/sub) is recomputed already: compute it "
            "in smaller pieces or in a narrower type."
        ),
    ]


def test_what_a_recomputed_loop_saves_is_no_gradient() -> None:
    saved = StackedBuffer("e", "w", 2, "s", "", 1 << 20, 1, 1, "", "recomputed")
    row_of = replace(row("w", "while", PeakRole.STACKED), index=(2,))
    saving = Saving(8 << 20, 6 << 20, 5 << 20, ((("w", (2,)), 1 << 20),))
    memory = replace(EMPTY, stacked_at_peak=(saved,), saving=saving, saving_values=(row_of,))
    assert list_sentences(memory) == [
        (
            "1.0 MiB at most: 1 buffer that a recomputed loop of the forward pass saves for its "
            "backward pass (`%w{2}` 1.0 MiB): a narrower type or sharding shrinks them, and a "
            "checkpoint around several iterations saves fewer."
        )
    ]


def test_values_are_told_by_what_they_are_for() -> None:
    life = Lifetime(4, 9, 20, End.USE, "d", 0, 1)
    names = ("parts", "row", "grad", "other")
    rows = [replace(row(name, "fusion"), lifetime=life) for name in names]
    at_peak = (rows[0], row("also", "fusion"))
    buffers = tuple(((value.instruction, value.index), value.size) for value in rows)
    purposes = ValuePurposes(
        partial_sums={"parts": 1 << 18, "also": 1 << 17, "before": 1 << 17},
        joined_operands={"row": JoinedOperand("all-reduce-start.17", "all-reduce", 7)},
        result_gradients={
            "grad": ResultGradient("head/dot_general", has_softmax=True),
            "other": ResultGradient("mlp/dot_general", has_softmax=False),
        },
    )
    saving = Saving(8 << 20, 6 << 20, 2 << 20, buffers)
    memory = replace(
        EMPTY, at_peak=at_peak, saving=saving, saving_values=tuple(rows), purposes=purposes
    )
    result, parts, joined = list_sentences(memory)
    assert parts == (
        "1.6 MiB at most: `%parts` (1.0 MiB, f32[8]), `%also` (1.0 MiB, f32[8]) hold split-K "
        "partial sums, 2.0 MiB for results of 384 KiB: without the split they are not written "
        "(`--xla_disable_hlo_passes=splitk-rewriter`)."
    )
    assert "holds the 7 operands of the combined all-reduce `%all-reduce-start.17`" in joined
    assert "in a row, made at schedule position 4 and last read at 9: a lower" in joined
    assert "`%grad` is the gradient of the result of `head/dot_general` (f32[8])" in result
    assert "if these are the logits of a loss, compute the loss in chunks of tokens" in result
    assert "of `mlp/dot_general` (f32[8]), made at schedule position 4 and" in result
    titles = {split_products.TITLE}
    assert list_sentences(memory, titles)[1].endswith(f" See the finding `{split_products.TITLE}`.")


def test_what_shares_the_memory_of_a_buffer_is_named_without_an_order() -> None:
    taken_over = {("w", (2,)): ("zeros", "update"), ("y", ()): ("sum",)}
    saving = Saving(8 << 20, 6 << 20, 5 << 20, (), taken_over=taken_over)
    assert describe_takeovers(saving) == (
        "`%zeros`, `%update` (in the memory of `%w{2}`), `%sum` (in the memory of `%y`) have to "
        "shrink as well"
    )


def test_gradients_are_not_to_be_rematerialized() -> None:
    gradient = row("dot.9", "dot", origin="jit(f)/transpose(jvp(mlp))/dot")
    assert told(gradient) == ["1.0 MiB at most: shrink `%dot.9` (backward mlp/dot)" + PIECES]
    read = replace(gradient, lifetime=Lifetime(4, 9, 20, End.USE, "reduce-scatter.1", 0, 1))
    assert told(read) == [
        "1.0 MiB at most: shrink `%dot.9` (backward mlp/dot), in use until `%reduce-scatter.1`"
        + PIECES
    ]


def test_what_a_loop_carries_is_not_to_be_rematerialized() -> None:
    rows = row("fusion.1", "fusion"), row("ag.done", "all-gather-done"), row("while.2", "while")
    buffers = tuple(((value.instruction, ()), value.size) for value in rows)
    saving = Saving(8 << 20, 6 << 20, 5 << 20, buffers)
    assert list_sentences(replace(EMPTY, saving=saving, saving_values=rows)) == [
        "1.0 MiB at most: shrink or rematerialize `%fusion.1` (f32[8])" + PIECES,
        (
            "1.0 MiB at most: shrink `%ag.done` (f32[8]) (rematerialized, it is sent to the "
            "devices again): send smaller pieces or a narrower type."
        ),
        (
            "1.0 MiB at most: shrink `%while.2` (f32[8]) (loops carry or fill them): a narrower "
            "type, or a sharding into more parts."
        ),
    ]


def test_stacked_gradients_are_not_what_a_checkpoint_saves() -> None:
    saved = StackedBuffer("e", "w", 0, "s", "", 1 << 20, 1, 1, "", FORWARD)
    gradient = replace(saved, index=1, bytes=5 << 20, phase=BACKWARD)
    memory = replace(EMPTY, stacked_at_peak=(saved, gradient))
    gradients, sentence = list_sentences(memory)
    assert gradients == (
        "5.0 MiB at most: 1 buffer of gradients that loops stack (`%w{1}` 5.0 MiB): a narrower "
        "type or sharding shrinks them."
    )
    assert sentence.startswith("1.0 MiB at most: 1 buffer that forward loops stack")
    assert "jax.checkpoint recomputes them" in sentence
    done = {FRAMEWORK: 1}
    _, sentence = list_sentences(replace(memory, rematerialized_counts=done))
    assert "he program already has jax.checkpoint" in sentence


def test_stacks_of_loops_side_by_side_are_for_a_checkpoint_around_each_loop() -> None:
    """Loops of 4 steps in each of 3 layers, of which the steps alone are in a checkpoint."""
    saved = [
        StackedBuffer("e", f"while.{loop}", index, "s", "", 2 << 20, 1, 4, "", FORWARD)
        for loop in range(3)
        for index in range(2)
    ]
    memory = replace(EMPTY, stacked_at_peak=tuple(saved), rematerialized_counts={FRAMEWORK: 1})
    (sentence,) = list_sentences(replace(memory, checkpoints_in_loops=True))
    assert sentence.startswith("12.0 MiB at most: 6 buffers that 3 forward loops stack. ")
    assert "jax.checkpoint is in the bodies of loops alone" in sentence
    assert "the 4.0 MiB of one loop are in use at a time" in sentence
    (sentence,) = list_sentences(memory)
    assert "The program already has jax.checkpoint, but these are saved." in sentence
    nested = [replace(buffer, computation=buffer.loop) for buffer in saved]
    (sentence,) = list_sentences(replace(memory, stacked_at_peak=tuple(nested)))
    assert sentence.endswith("A checkpoint around several layers saves fewer.")


def test_copies_of_stacks_count_among_them() -> None:
    saved = StackedBuffer("e", "while.2", 1, "s", "", 2 << 20, 1, 4, "", FORWARD)
    copy = StackCopy(("fusion.1", ()), 1 << 20, saved)
    (both,) = list_sentences(replace(EMPTY, stacked_at_peak=(saved,), stack_copies=(copy,)))
    assert both.startswith(
        "3.0 MiB at most: 2 buffers (1 of them copied or transposed) that forward loops"
    )
    gradient = replace(copy, buffer=replace(saved, phase=BACKWARD))
    (alone,) = list_sentences(replace(EMPTY, stack_copies=(gradient,)))
    assert "of gradients that loops stack (`%while.2{1}` 2.0 MiB)" in alone


def test_a_stack_that_an_axis_could_split_says_what_is_left() -> None:
    saved = StackedBuffer("e", "while.2", 1, "s", "", 8 << 20, 1, 4, "", FORWARD)
    unsplit = UnsplitStack(saved, "tensor", 4)
    memory = replace(EMPTY, stacked_at_peak=(saved,), unsplit_stacks=(unsplit,))
    (sentence,) = list_sentences(memory)
    assert "`%while.2{1}` is the same on all 4 devices along `tensor`" in sentence
    assert sentence.endswith("leaves 2.0 MiB of 8.0 MiB.")
    assert "tensor" not in list_sentences(replace(memory, occupied_peak_bytes=700 << 20))[0]
    gradient = replace(saved, phase=BACKWARD)
    unsplit = replace(unsplit, buffer=gradient)
    memory = replace(EMPTY, stacked_at_peak=(gradient,), unsplit_stacks=(unsplit,))
    assert "tensor" not in list_sentences(memory)[0]


def test_layers_outside_of_loops_with_checkpoints_have_none_yet() -> None:
    kept = (Activation(("fusion.1", ()), 2 << 20, "layer_0"),)
    memory = replace(EMPTY, activations=kept, rematerialized_counts={FRAMEWORK: 1})
    (sentence,) = list_sentences(replace(memory, checkpoints_in_loops=True))
    assert "jax.checkpoint in the bodies of loops alone; around the layers" in sentence
    inside = (Activation(("fusion.1", ()), 2 << 20, IN_A_LOOP),)
    memory = replace(memory, activations=inside, checkpoints_in_loops=True)
    assert "jax.checkpoint; these are values that it saves" in list_sentences(memory)[0]


def shared_allocation(color: int) -> Allocation:
    text = f"BufferAssignment:\nallocation 1: size {4 << 20}, color {color}, preallocated-temp:\n"
    assignment, _ = read_buffer_assignment(text.encode(), "b.txt")
    (allocation,) = assignment.allocations
    return allocation


def test_what_is_not_in_use_at_the_peak_of_main_memory_is_no_advice() -> None:
    saved = StackedBuffer("e", "w", 0, "s", "f32[8]{0:S(1)}", 1 << 20, 1, 1, "", FORWARD)
    chip = shared_allocation(color=1)
    memory = replace(EMPTY, stacked=(saved,), fills=(Fill(chip, 1 << 20, 0),))
    assert list_sentences(memory) == []
    shared = shared_allocation(color=0)
    memory = replace(memory, fills=(*memory.fills, Fill(shared, 3 << 20, 0)))
    assert list_sentences(memory) == []
    assert memory.lost_bytes == 1 << 20


def test_activations_are_said_as_such_with_their_layers() -> None:
    kept = Activation(("fusion.1", ()), 2 << 20, "layer_0"), Activation(("dot.2", ()), 1 << 20, "")
    saving = Saving(8 << 20, 6 << 20, 6 << 20, ((("fusion.1", ()), 2 << 20),))
    rows = (replace(row("fusion.1", "fusion", PeakRole.ACTIVATION), size=2 << 20),)
    memory = replace(
        EMPTY, activations=kept, saving=saving, saving_values=rows, occupied_peak_bytes=8 << 20
    )
    (total,) = list_sentences(memory)
    assert total == (
        "3.0 MiB at most: 2 activations of the forward pass in use at the peak until the backward "
        "pass reads them (`layer_0` 2.0 MiB, outside of named layers 1.0 MiB); jax.checkpoint "
        "around their layers recomputes them."
    )
    done = {FRAMEWORK: 1}
    (total,) = list_sentences(replace(memory, rematerialized_counts=done))
    assert "he program already has jax.checkpoint" in total
    assert list_sentences(replace(memory, occupied_peak_bytes=3 << 30)) == []
    (part,) = list_sentences(replace(memory, activations=()))
    assert part == (
        "2.0 MiB at most: recompute `%fusion.1` (f32[8]) with jax.checkpoint (activations)."
    )


def test_what_is_not_in_use_at_the_peak_is_not_named() -> None:
    buffers = ((("fusion.1", ()), 2 << 20), (("fusion.2", ()), 1 << 20))
    saving = Saving(8 << 20, 7 << 20, 6 << 20, buffers, frozenset({("fusion.2", ())}))
    rows = row("fusion.1", "fusion"), row("fusion.2", "fusion")
    (sentence,) = list_sentences(replace(EMPTY, saving=saving, saving_values=rows))
    assert sentence == "1.0 MiB at most: shrink or rematerialize `%fusion.1` (f32[8])" + PIECES


def test_what_a_group_is_about_is_not_said_again() -> None:
    rows = row("ag.24", "all-gather-start"), row("b.1", "broadcast"), row("b.2", "broadcast")
    buffers = tuple(((value.instruction, ()), value.size) for value in rows)
    saving = Saving(8 << 20, 6 << 20, 5 << 20, buffers)
    gathers = PeakGroup("all-gather", "ag.24", 1, 1 << 20, 8)
    zeros = PeakGroup("broadcast", "b.1", 2, 2 << 20)
    memory = replace(EMPTY, saving=saving, saving_values=rows, peak_groups=(gathers, zeros))
    assert not [words for words in list_sentences(memory) if "shrink" in words]


def test_groups_at_the_peak_have_the_decision_that_put_them_there() -> None:
    gathers = PeakGroup("all-gather", "all-gather-start.24", 7, 28 << 20, 8)
    zeros = PeakGroup("broadcast", "wrapped_broadcast.3", 6, 48 << 20)
    copies, combined = list_sentences(replace(EMPTY, peak_groups=(gathers, zeros)))
    assert copies.startswith("48.0 MiB at most: 6 equal copies of the broadcast `%wrapped_broad")
    assert combined.startswith(
        "28.0 MiB at most: 7 results of `%all-gather-start.24`, which combines 8 all-gathers"
    )
    assert "`--xla_gpu_all_gather_combine_threshold_bytes`" in combined


def test_zeros_at_the_peak_lead_to_the_finding_on_their_scatter() -> None:
    zeros = PeakGroup("scatter", "fill.1", 1, 4 << 20, adding="scatter.2")
    memory = replace(EMPTY, peak_groups=(zeros,))
    (words,) = list_sentences(memory)
    assert words == (
        "4.0 MiB at most: `%fill.1` fills a buffer with zeros that nothing reads before the peak; "
        "`%scatter.2` adds to it later. Filled right before that, it is not in use there."
    )
    (words,) = list_sentences(memory, [dense_gradients.TITLE])
    assert words.endswith(f" See the finding `{dense_gradients.TITLE}`.")


def test_nothing_to_do_says_nothing() -> None:
    donated = replace(COULD, donated=True)
    assert list_sentences(replace(EMPTY, donations=(donated,))) == []


def test_activations_without_a_layer_are_named_by_the_largest() -> None:
    kept = tuple(
        Activation((name, ()), size << 20, layer)
        for name, size, layer in (("a", 1, IN_A_LOOP), ("b", 3, IN_A_LOOP), ("c", 2, ""))
    )
    memory = replace(EMPTY, activations=kept, occupied_peak_bytes=8 << 20)
    (total,) = list_sentences(memory)
    assert "reads them (`%b` 3.0 MiB, `%c` 2.0 MiB and 1 more); jax.checkpoint" in total


def test_fragmentation_lowers_no_peak() -> None:
    fill = SimpleNamespace(lost=1 << 20, allocation=SimpleNamespace(color=0))
    memory = replace(EMPTY, fills=cast("Any", (fill,)), occupied_peak_bytes=8 << 20)
    assert list_sentences(memory) == []


def test_less_than_a_hundredth_of_the_peak_is_no_advice() -> None:
    saved = StackedBuffer("e", "w", 0, "s", "", 48, 1, 1, "", "")
    memory = replace(EMPTY, stacked_at_peak=(saved,), occupied_peak_bytes=4 << 20)
    assert list_sentences(memory) == []
    assert len(list_sentences(replace(memory, occupied_peak_bytes=4800))) == 1


def test_a_saving_of_nearly_a_whole_value_is_the_value() -> None:
    saving = Saving(4 << 20, 3 << 20, (3 << 20) + 1000, ((("fusion.1", ()), 1 << 20),))
    enough = replace(saving, wanted=saving.reached)
    memory = replace(EMPTY, saving=enough, saving_values=(row("fusion.1", "fusion"),))
    (sentence,) = list_sentences(memory)
    assert sentence == "1.0 MiB at most: shrink or rematerialize `%fusion.1` (f32[8])" + PIECES
    half = replace(enough, reached=(3 << 20) + (1 << 19), wanted=4 << 20)
    (sentence,) = list_sentences(replace(memory, saving=half))
    assert sentence.startswith("512 KiB at most: shrink")


def test_what_a_policy_keeps_is_not_for_a_checkpoint_around_more() -> None:
    dot = StackedBuffer("e", "w", 0, "s", "bf16[4,8]", 3 << 20, 1, 4, "", FORWARD, "body/dot")
    state = replace(dot, index=1, bytes=1 << 20, stored="")
    done = {FRAMEWORK: 1}
    memory = replace(EMPTY, stacked_at_peak=(dot, state), rematerialized_counts=done)
    (some,) = list_sentences(replace(memory, kept_by_policy=(dot,)))
    assert "The policy of jax.checkpoint keeps 1 of them (3.0 MiB), which" in some
    assert some.endswith("A checkpoint around several layers saves fewer of the others.")
    (each,) = list_sentences(replace(memory, kept_by_policy=(dot, state)))
    assert "keeps all 2, which" in each
    assert each.endswith("nothing_saveable, or no policy, recomputes them.")
    assert "policy" not in list_sentences(memory)[0]
    copied = replace(memory, stacked_at_peak=(state,))
    copied = replace(copied, stack_copies=(StackCopy(("fusion.1", ()), 2 << 20, dot),))
    (moved,) = list_sentences(replace(copied, kept_by_policy=(dot,)))
    assert "2 buffers (1 of them copied or transposed)" in moved
    assert "The policy of jax.checkpoint keeps 1 of them (2.0 MiB), which" in moved


def test_random_numbers_of_which_a_share_is_used_are_drawn_per_shard() -> None:
    value = row("rng.1", "rng-bit-generator", PeakRole.WORKING)
    saving = Saving(8 << 20, 6 << 20, 5 << 20, ((("rng.1", ()), value.size),))
    memory = replace(EMPTY, saving=saving, saving_values=(value,))
    (sentence,) = list_sentences(replace(memory, purposes=ValuePurposes({"rng.1": "u32[2]"})))
    assert "generates all numbers of `%rng.1` (f32[8]) and uses a slice, u32[2]: draw" in sentence
    assert "jax_threefry_partitionable" in sentence


def test_what_is_in_use_elsewhere_has_to_shrink_as_well() -> None:
    rows = row("here", "fusion"), row("there", "fusion")
    buffers = tuple(((value.instruction, value.index), value.size) for value in rows)
    saving = Saving(8 << 20, 7 << 20, 7 << 20, buffers, frozenset({("there", ())}), 15 << 19)
    memory = replace(EMPTY, saving=saving, saving_values=rows)
    assert list_sentences(memory) == [
        (
            f"1.0 MiB at most: shrink or rematerialize `%here` (f32[8]){PIECES} That alone saves "
            "512 KiB: the peak then moves to another schedule position. For the rest, `%there` "
            "(f32[8]) must shrink too."
        )
    ]
