"""What changed between two dumps, by the kinds of causes: program, device, compiler, options."""

from collections.abc import Sequence

from xlareport.analysis.compare.causes import Cause
from xlareport.analysis.compare.program_changes import ChangeKind
from xlareport.runtime import english

OF_COMPILATION = frozenset({"modules", "pass", "autotuning"})
"""Kinds of causes that the compilation itself has."""
OUTSIDE = {
    "device": "the device",
    "compiler": "the compiler",
    "disabled pass": "disabled passes",
    "option": "options",
}
"""Kinds of causes outside of the program, in words."""


def describe_changes(causes: Sequence[Cause], *, instructions: bool = True) -> str:
    """Return a sentence on what changed between the dumps, by the kinds of causes; may be empty.

    `instructions` says whether a changed program has other instructions, not its header alone.
    """
    kinds = {cause.kind for cause in causes}
    outside = [words for kind, words in OUTSIDE.items() if kind in kinds]
    if changes_program(causes):
        program = "the program (its input HLO)"
        if not instructions:
            what = "the donation of arguments" if "donation" in kinds else "the program's header"
            program = f"{what} (the instructions of the program are the same)"
        if not outside:
            return (
                f"{english.capitalize(program)}; no change of options, device or compiler was "
                "found."
            )
        outside.insert(0, program)
    if outside:
        return f"{english.capitalize(', '.join(outside))}."
    return "The same program, compiled differently." if causes else ""


def changes_program(causes: Sequence[Cause]) -> bool:
    """Return whether a cause is that the program itself, its input HLO, differs."""
    return any(cause.kind not in OUTSIDE.keys() | OF_COMPILATION for cause in causes)


def describe_program_change(causes: Sequence[Cause]) -> str:
    """Return that the program differs, with its layers or sizes; empty if it does not."""
    if not changes_program(causes):
        return ""
    kinds = (ChangeKind.LAYERS, ChangeKind.SIZE)
    clauses = (cause.clause for kind in kinds for cause in causes if cause.kind == kind)
    return next(clauses, "the program was changed")
