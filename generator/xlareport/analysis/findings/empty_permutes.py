"""Collective-permute without pairs.

A collective-permute has no source-target pairs: no device sends, and its result is zeros on every
device. Where a pass made it from a collective that sent something, the program computes with zeros
instead of its values.
"""

from collections.abc import Iterator

from xlareport.analysis.findings.emptied_pairs import has_empty_permute, is_empty_permute
from xlareport.analysis.findings.finding import Case, Finding, join_names
from xlareport.snapshots import PassStep


def empty_permutes(case: Case) -> Iterator[Finding]:
    """Report collective-permutes without pairs, together."""
    places = [
        (computation.name, instruction.name)
        for computation, instruction, _ in case.scheduled
        if is_empty_permute(instruction)
    ]
    if not places:
        return
    step = case.emptying_step
    names = join_names(name for _, name in places)
    is_single = len(places) == 1
    verb, results = ("has", "its result is") if is_single else ("have", "their results are")
    yield Finding(
        title="Collective-permute without pairs",
        places=tuple(places),
        evidence=(
            f"{names} {verb} no source-target pairs: no device sends, and {results} zeros on "
            f"every device.{_origin(case, step)}"
        ),
        suggestion=_advise(step),
        grade="exact",
        weight=0.0 if step is None else case.seconds,
        severity="high" if step is not None else "low",
    )


def _origin(case: Case, step: PassStep | None) -> str:
    if step is not None and step.name:
        return f" The first appears after `{step.name}` (step {step.number})."
    if step is not None:
        return " The program before optimization has none."
    is_written = case.before is not None and has_empty_permute(case.before)
    return " The program before optimization has such a collective-permute." if is_written else ""


def _advise(step: PassStep | None) -> str:
    if step is None:
        return (
            "If the program has a `jax.lax.ppermute` without pairs, write zeros instead. Else a "
            "pass dropped the pairs: compare the results with those on one device."
        )
    without = (
        f"of a run without the pass (`--xla_disable_hlo_passes={step.name}`)"
        if step.name
        else "on one device"
    )
    return (
        f"Compare the results of the program with those {without}. If they differ, it is an error "
        "of the compiler: report it to OpenXLA with this module."
    )
