"""The page on what a module's instructions became: thunks, kernels, machine code, decisions."""

from dataclasses import dataclass

from xlareport.analysis.code.module import CodeSummary
from xlareport.pages import navigation, words
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units


@dataclass(frozen=True, slots=True)
class CodePage:
    """Everything on the page beside its data."""

    name: str
    lead: str
    key: str
    history_key: str | None
    steps_address: str
    unlinked: tuple[tuple[str, str], ...]
    more_unlinked: int


_LISTED = 200


def code_page(module: ModuleRecord, summary: CodeSummary) -> CodePage:
    """Make the page of one module."""
    source = navigation.code_page(module.slug)
    unlinked = [(link.path, link.reason) for link in summary.links if link.computation is None]
    return CodePage(
        name=words.short_name(module.name),
        lead=code_words(summary),
        key=navigation.code_key(module.slug),
        history_key=navigation.history_key(module.slug) if module.changed_steps else None,
        steps_address=navigation.address(navigation.steps_page(module.slug), source),
        unlinked=tuple(unlinked[:_LISTED]),
        more_unlinked=max(0, len(unlinked) - _LISTED),
    )


def code_words(summary: CodeSummary) -> str:
    """Say in a few sentences how much code there is and how much of it is linked."""
    result = []
    if summary.files:
        of = "" if summary.linked == summary.files else f"{units.count(summary.linked)} of "
        files = units.plural(summary.files, "file")
        are = "is" if summary.files == 1 else "are"
        result.append(f"{of}{files} of code {are} linked to what they were made from.")
    if summary.thunks:
        result.append(f"{units.plural(summary.thunks, 'thunk')} run in a fixed order.")
    if summary.left_out:
        result.append(f"{units.count(summary.left_out)} further instructions are left out here.")
    return " ".join(result)
