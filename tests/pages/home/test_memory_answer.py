"""What holds the peak, and what lowers it."""

from types import SimpleNamespace
from typing import Any

from xlareport.analysis.memory_actions.actions import MemoryAction
from xlareport.pages.home.memory_answer import _largest, memory_lines


def test_the_action_that_saves_most_follows_what_is_known_of_the_memory() -> None:
    actions = (MemoryAction(8, "8 B at most: donate 1."), MemoryAction(4, "4 B at most: shrink."))
    memory = SimpleNamespace(
        estimated_peak_bytes=None, at_peak=(), spaces=(), held=None, actions=actions
    )
    final = SimpleNamespace(occupied_peak_bytes=1 << 20, allocated_bytes=2 << 20)
    module: Any = SimpleNamespace(
        cost=SimpleNamespace(memory=memory), final=final, backend="gpu", frontend="tensorflow"
    )
    assert memory_lines(module, None) == [
        "Peak memory 1.0 MiB.",
        "Allocated: 2.0 MiB.",
        "To lower it: 8 B at most: donate 1.",
    ]
    final.occupied_peak_bytes = final.allocated_bytes = None
    assert memory_lines(module, None) == []


def test_an_estimated_peak_is_not_more_than_what_is_allocated() -> None:
    memory = SimpleNamespace(
        estimated_peak_bytes=3 << 20, at_peak=(), spaces=(), held=None, actions=()
    )
    final = SimpleNamespace(occupied_peak_bytes=None, allocated_bytes=2 << 20)
    module: Any = SimpleNamespace(
        cost=SimpleNamespace(memory=memory), final=final, backend="tpu", frontend="tensorflow"
    )
    assert memory_lines(module, None)[0] == "Peak memory at most 2.0 MiB, all that is allocated."
    final.allocated_bytes = 4 << 20
    assert memory_lines(module, None)[0] == "Peak memory about 3.0 MiB, guessed from the schedule."


def test_the_largest_buffer_is_live_at_the_peak() -> None:
    sizes = [("late", False, 12), ("w", True, 12), ("small", True, 4)]
    values = [
        SimpleNamespace(value=name, live_at_peak=live, bytes=size << 10, argument=None)
        for name, live, size in sizes
    ]
    held = SimpleNamespace(argument_bytes=8 << 10, output_bytes=12 << 10, alias_bytes=0)
    memory: Any = SimpleNamespace(at_peak=values, spaces=(), held=held, stacked=())
    padded = _largest(memory, 28 << 10, ", with 4.0 KiB of tile padding")
    assert padded.startswith(" Arguments and outputs hold 20.0 KiB of it, with 4.0 KiB of tile pad")
    assert _largest(memory, 28 << 10) == (
        " Arguments and outputs hold 20.0 KiB of it. Largest buffer at the peak: `%w`, 12.0 KiB "
        "(one of 2 of this size)."
    )
    assert "hold" not in _largest(memory, 50 << 10)


def test_the_largest_buffer_can_be_an_argument_that_is_only_held_at_the_peak() -> None:
    values = [
        SimpleNamespace(value=name, live_at_peak=live, bytes=size << 20, argument=name[1:])
        for name, live, size in (("pkc", False, 3), ("pvc", False, 3), ("pemb", True, 2))
    ]
    memory: Any = SimpleNamespace(at_peak=values, spaces=(), held=None, stacked=())
    assert _largest(memory, 75 << 20) == (
        " Largest buffer at the peak: `kc` (`%pkc`), 3.0 MiB (one of 2 of this size)."
    )


def test_a_stack_is_named_by_what_the_loop_writes_into_it() -> None:
    value = SimpleNamespace(value="while.2{1}", live_at_peak=True, bytes=3 << 20, argument=None)
    stored = "jit(f)/jvp()/while/body/closed_call/space/exp"
    stack = SimpleNamespace(loop="while.2", index=1, stored=stored)
    memory: Any = SimpleNamespace(at_peak=(value,), spaces=(), held=None, stacked=(stack,))
    assert _largest(memory, 75 << 20) == (
        " Largest buffer at the peak: `%while.2{1}`, 3.0 MiB, where the loop stacks `space/exp`."
    )
    stack.stored = ""
    assert _largest(memory, 75 << 20).endswith("3.0 MiB.")
