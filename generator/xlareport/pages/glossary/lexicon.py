"""What the page script needs to explain any name: the payload `words`, see `words.js`."""

from collections.abc import Iterable, Mapping
from typing import Any

from xlareport.analysis.steps.wording import plain
from xlareport.dump.grammar import instruction_forms
from xlareport.dump.tokens import table
from xlareport.hlo.element_types import ELEMENT_TYPES
from xlareport.knowledge import element_types, flags, glossary, kinds, opcodes, stages
from xlareport.pages.tokens import meaning_of_pass

KEY = "words"
"""The payload's key."""


def lexicon(pass_names: Iterable[str]) -> Mapping[str, Any]:
    """Return what names mean, by kind; of passes only those that the dump names."""
    return {
        "words": {
            "opcode": _plain((name, entry.words) for name, entry in opcodes.all_entries().items()),
            "pass": {name: meaning_of_pass(name) for name in sorted(set(pass_names))},
            "flag": _plain((name, entry.words) for name, entry in flags.all_entries().items()),
            "type": _plain(
                (name, entry.words) for name, entry in element_types.all_entries().items()
            ),
            "kind": _plain((name, entry.words) for name, entry in kinds.all_entries().items()),
            "stage": _plain((name, entry.words) for name, entry in stages.all_entries().items()),
            "word": _plain((name, entry.words) for name, entry in glossary.all_entries().items()),
        },
        "bits": {
            name: element_type.bits
            for name, element_type in ELEMENT_TYPES.items()
            if element_type.bits
        },
        "instruction": _instruction_grammar(),
    }


def _plain(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return sentences without the signs that Markdown puts around code."""
    return {name: plain(words) for name, words in entries}


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
