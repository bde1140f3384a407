"""Modules that carry a state, returning their arguments updated; others only read it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from xlareport.analysis.cost.phases import BACKWARD
from xlareport.analysis.modules.summary import ModuleSummary

_FEW_OPERATIONS = 4
_REMEMBERED = 10_000
"""Limit on signatures for which the state that they read is cached."""


def count_arguments(summary: ModuleSummary) -> Counter[str]:
    """Count the shapes that a module takes, scalars aside."""
    return Counter(
        argument.shape
        for argument in summary.features.given.arguments
        if "[]" not in argument.shape
    )


def count_results(summary: ModuleSummary) -> Counter[str]:
    """Count the shapes that a module returns, scalars aside."""
    return Counter(
        result.shape for result in summary.features.given.results if "[]" not in result.shape
    )


def updates_state(summary: ModuleSummary) -> bool:
    """Return whether a module returns many of its arguments updated, as a training step does."""
    given = count_arguments(summary)
    back = (given & count_results(summary)).total()
    return (
        back >= 2
        and 4 * back >= given.total()
        and summary.features.operation_count > _FEW_OPERATIONS
    )


def is_training_step(summary: ModuleSummary, phases: Collection[str]) -> bool:
    """Return whether a module looks like a training step: matmuls, and a state that it updates.

    JAX and TensorFlow mark gradients in the op_names, so that a step of theirs has a backward phase
    among its `phases`: a decoding step updates its caches in the same way.
    """
    is_step = updates_state(summary) and summary.matrix_flops > 0
    marks_gradients = summary.origin.frontend in ("jax", "tensorflow")
    return is_step and (BACKWARD in phases or not marks_gradients)


def count_state_arguments(summary: ModuleSummary, other: ModuleSummary) -> int:
    """Count the arguments that one shares with a module that trains, and does not return itself."""
    if not updates_state(other) or updates_state(summary):
        return 0
    mine = count_arguments(summary)
    shared = (mine & count_arguments(other) & count_results(other)).total()
    return shared if shared >= 2 and 2 * shared >= mine.total() else 0


def find_state_readers(summaries: Sequence[ModuleSummary]) -> Mapping[str, frozenset[str]]:
    """Return, for each training module, the keys of the modules that only read its state.

    Modules with equal signatures are compared once, because a dump can have thousands.
    """
    steps: dict[_Signature, tuple[ModuleSummary, list[str]]] = {}
    for summary in summaries:
        if updates_state(summary):
            steps.setdefault(_signature(summary), (summary, []))[1].append(summary.files.key)
    watching: dict[_Signature, set[str]] = {signature: set() for signature in steps}
    for key, signature in _watched(summaries, steps) if steps else ():
        watching[signature].add(key)
    keys = {signature: frozenset(members) for signature, members in watching.items()}
    return {key: keys[signature] for signature, (_, same) in steps.items() for key in same}


def _watched(
    summaries: Iterable[ModuleSummary],
    steps: "Mapping[_Signature, tuple[ModuleSummary, list[str]]]",
) -> "Iterator[tuple[str, _Signature]]":
    """Yield the keys of modules that only look at a state, each with the signature of its steps."""
    signatures_before: dict[_Signature, tuple[_Signature, ...]] = {}
    for summary in summaries:
        signature = _signature(summary)
        if signature not in signatures_before:
            if len(signatures_before) >= _REMEMBERED:
                signatures_before.clear()
            signatures_before[signature] = tuple(
                of_step
                for of_step, (step, _) in steps.items()
                if count_state_arguments(summary, step)
            )
        yield from ((summary.files.key, of_step) for of_step in signatures_before[signature])


_Signature = tuple[tuple[str, ...], tuple[str, ...], bool]


def _signature(summary: ModuleSummary) -> _Signature:
    given = summary.features.given
    shapes = (
        tuple(argument.shape for argument in given.arguments),
        tuple(result.shape for result in given.results),
    )
    return (*shapes, summary.features.operation_count > _FEW_OPERATIONS)
