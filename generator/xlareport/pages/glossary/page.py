"""The glossary: words of the report, passes and opcodes of this dump, in plain words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.knowledge import element_types, flags, glossary, kinds, opcodes, passes, stages
from xlareport.knowledge.flags import Flag
from xlareport.knowledge.kinds import FileKind
from xlareport.pages.prose import prose
from xlareport.pages.tokens import PSEUDO_PASSES, meaning_of_pass, pass_words


@dataclass(frozen=True, slots=True)
class Entry:
    """One word with its meaning."""

    name: str
    anchor: str
    words: Markup
    source: str = ""
    """A file of openxla/xla, or `closed source`; empty where it was not found."""
    example: Markup = field(default_factory=Markup)
    guess: str = ""
    """Why the words are a guess; empty where they are not."""


@dataclass(frozen=True, slots=True)
class GlossaryPage:
    """Everything on the glossary page."""

    words: tuple[Entry, ...]
    passes: tuple[Entry, ...]
    opcodes: tuple[Entry, ...]
    """Those of this dump first, then the others."""
    types: tuple[Entry, ...]
    kinds: tuple[Entry, ...]
    stages: tuple[Entry, ...]
    flags: tuple[Entry, ...]


def glossary_page(named: Sequence[str], used: Iterable[str]) -> GlossaryPage:
    """Explain the report's words; `named` are the passes of this dump, `used` its opcodes."""
    found = dict.fromkeys((*sorted(used), *opcodes.all_entries()))
    return GlossaryPage(
        words=tuple(_entry(one.name, one.words) for one in glossary.all_entries().values()),
        passes=tuple(_pass_entry(name) for name in named),
        opcodes=tuple(_opcode_entry(name) for name in found),
        types=tuple(_entry(one.name, one.words) for one in element_types.all_entries().values()),
        kinds=tuple(_kind_entry(one) for one in kinds.all_entries().values()),
        stages=tuple(_entry(one.name, one.words) for one in stages.all_entries().values()),
        flags=tuple(_flag_entry(one) for one in flags.all_entries().values()),
    )


def anchor(name: str) -> str:
    """Return a name as the end of an anchor."""
    return re.sub(r"[^a-zA-Z0-9_-]", "-", name)


def pass_names(summaries: Iterable[ModuleSummary]) -> tuple[str, ...]:
    """Return every name that stands for a pass or a pipeline in the names of a dump, sorted."""
    stages_of_all = (one.stage for summary in summaries for one in summary.stages)
    named = ((one.pipeline, one.after, one.before) for one in stages_of_all)
    return tuple(sorted({name for three in named for name in three if name}))


def _pass_entry(name: str) -> Entry:
    found = passes.find_either(name)
    if found is None:
        guess = "" if name in PSEUDO_PASSES or pass_words(name) else "Derived from the name alone."
        return Entry(name, anchor(name), prose(meaning_of_pass(name)), guess=guess)
    return Entry(
        name=name,
        anchor=anchor(name),
        words=prose(found.words),
        source=found.source or "",
        example=prose(found.example or ""),
        guess=found.basis if found.known_from == "name" else "",
    )


def _opcode_entry(name: str) -> Entry:
    found = opcodes.find(name)
    return _entry(name, found.words if found else "Not an opcode that is known.")


def _kind_entry(one: FileKind) -> Entry:
    return Entry(one.name, anchor(one.name), prose(f"{one.words} {one.opened}"))


def _flag_entry(one: Flag) -> Entry:
    return Entry(one.name, anchor(one.name), prose(one.words), example=prose(_about_flag(one)))


def _about_flag(one: Flag) -> str:
    """Say where a flag is set, what it is without, and since when there is one."""
    facts = (("Set in", one.set_in), ("Default", one.default), ("Since", one.since))
    told = [f"{word} {fact}." for word, fact in facts if fact]
    return " ".join([*told, *([f"Gone since {one.until}."] if one.until else [])])


def _entry(name: str, words: str) -> Entry:
    return Entry(name, anchor(name), prose(words))
