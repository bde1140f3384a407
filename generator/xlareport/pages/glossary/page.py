"""The glossary: words of the report, passes and opcodes of this dump, in plain words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup
from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.grammar import instruction_forms
from xlareport.dump.tokens import table
from xlareport.hlo.shape import ELEMENT_TYPES
from xlareport.knowledge import element_types, flags, glossary, kinds, opcodes, passes, stages
from xlareport.knowledge.flags import Flag
from xlareport.knowledge.layouts import layout_sentences, space_sentences
from xlareport.pages.rendering.environment import prose
from xlareport.pages.token_views import PSEUDO_PASSES, describe_pass, meaning_of_pass
from xlareport.runtime.english import plain


class GlossaryEntry(Struct, frozen=True):
    """A term with its meaning."""

    name: str
    anchor: str
    words: Markup
    source: str = ""
    """A file of openxla/xla, or `closed source`; empty where it was not found."""
    example: Markup = field(default_factory=Markup)
    also: str = ""
    """Synonyms."""
    guess: str = ""
    """Why the words are a guess; empty where they are not."""


class GlossaryPage(Struct, frozen=True):
    """Everything on the glossary page."""

    words: tuple[GlossaryEntry, ...]
    passes: tuple[GlossaryEntry, ...]
    opcodes: tuple[GlossaryEntry, ...]
    """The opcodes of this dump first, then the others."""
    types: tuple[GlossaryEntry, ...]
    kinds: tuple[GlossaryEntry, ...]
    stages: tuple[GlossaryEntry, ...]
    flags: tuple[GlossaryEntry, ...]


def glossary_page(named: Sequence[str], used: Iterable[str]) -> GlossaryPage:
    """Explain the report's words; `named` are the passes of this dump, `used` its opcodes."""
    names = dict.fromkeys((*sorted(used), *opcodes.all_entries()))
    return GlossaryPage(
        words=tuple(
            replace(_entry(entry.name, entry.words), also=", ".join(entry.aliases))
            for entry in glossary.all_entries().values()
        ),
        passes=tuple(_pass_entry(name) for name in named),
        opcodes=tuple(_opcode_entry(name) for name in names),
        types=_entries(element_types.all_entries()),
        kinds=tuple(
            _entry(kind.name, f"{kind.words} {kind.opened}")
            for kind in kinds.all_entries().values()
        ),
        stages=_entries(stages.all_entries()),
        flags=tuple(_flag_entry(entry) for entry in flags.all_entries().values()),
    )


def anchor(name: str) -> str:
    """Return a name as the end of an anchor."""
    return re.sub(r"[^a-zA-Z0-9_-]", "-", name)


def pass_names(summaries: Iterable[ModuleSummary]) -> tuple[str, ...]:
    """Return every name that represents a pass or a pipeline in the names of a dump, sorted."""
    stages_of_all = (stage.stage for summary in summaries for stage in summary.stages)
    named = ((snapshot.pipeline, snapshot.after, snapshot.before) for snapshot in stages_of_all)
    return tuple(sorted({name for three in named for name in three if name}))


def _pass_entry(name: str) -> GlossaryEntry:
    pass_info = passes.find_either(name)
    if pass_info is None:
        guess = (
            "" if name in PSEUDO_PASSES or describe_pass(name) else "Derived from the name alone."
        )
        return GlossaryEntry(name, anchor(name), prose(meaning_of_pass(name)), guess=guess)
    return GlossaryEntry(
        name=name,
        anchor=anchor(name),
        words=prose(pass_info.words),
        source=pass_info.source or "",
        example=prose(pass_info.example or ""),
        guess=pass_info.basis if pass_info.known_from == "name" else "",
    )


def _opcode_entry(name: str) -> GlossaryEntry:
    opcode = opcodes.find(name)
    return _entry(name, opcode.words if opcode else "Unknown opcode.")


def _flag_entry(flag: Flag) -> GlossaryEntry:
    return GlossaryEntry(
        flag.name, anchor(flag.name), prose(flag.words), example=prose(_about_flag(flag))
    )


def _about_flag(flag: Flag) -> str:
    """Return where a flag is set, its default, and its first release."""
    facts = (("Set in", flag.set_in), ("Default", flag.default), ("Since", flag.since))
    sentences = [f"{word} {fact}." for word, fact in facts if fact]
    return " ".join([*sentences, *([f"Removed in {flag.until}."] if flag.until else [])])


def _entries(table: Mapping[str, Any]) -> tuple[GlossaryEntry, ...]:
    return tuple(_entry(entry.name, entry.words) for entry in table.values())


def _entry(name: str, words: str) -> GlossaryEntry:
    return GlossaryEntry(name, anchor(name), prose(words))


WORDS = "words"
"""The payload's key."""


def lexicon(pass_names: Iterable[str]) -> Mapping[str, Any]:
    """Return the meanings of names, by kind; only passes that the dump names."""
    return {
        "words": {
            "opcode": _plain_words(opcodes.all_entries()),
            "pass": {name: meaning_of_pass(name) for name in sorted(set(pass_names))},
            "flag": _plain_words(flags.all_entries()),
            "type": _plain_words(element_types.all_entries()),
            "kind": _plain_words(kinds.all_entries()),
            "stage": _plain_words(stages.all_entries()),
            "word": _plain_words(glossary.all_entries()),
        },
        "synonyms": {
            alias: entry.name
            for entry in glossary.all_entries().values()
            for alias in entry.aliases
        },
        "bits": {
            name: element_type.bits
            for name, element_type in ELEMENT_TYPES.items()
            if element_type.bits
        },
        "layout": dict(layout_sentences()),
        "spaces": dict(space_sentences()),
        "instruction": _instruction_grammar(),
    }


def _plain_words(entries: Mapping[str, Any]) -> dict[str, str]:
    """Return the words of a table without the signs that Markdown puts around code."""
    return {name: plain(entry.words) for name, entry in entries.items()}


def _instruction_grammar() -> dict[str, Any]:
    """Return the tables of instruction names; groups are named as scripts name them."""
    tables = table("instructions")
    patterns = [instruction_form.pattern.pattern for instruction_form in instruction_forms()]
    return {
        "forms": [pattern.replace("(?P<", "(?<") for pattern in patterns],
        "fields": tables["fields"],
        "manner": tables["manner"],
        "suffix": tables["suffix"],
    }
