"""Differences between the headers of two snapshots: schedule, aliases, layouts, partitions."""

import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from xlareport.analysis.steps import wording
from xlareport.hlo.attributes import split_attributes
from xlareport.hlo.model import HloModule
from xlareport.runtime import english

_ALIAS = re.compile(r"\{([\d, ]*+)\}: \((\d++), \{([\d, ]*+)\}(?:, ([\w-]++))?")
_DONOR = re.compile(r"\((\d++), \{([\d, ]*+)\}\)")


class HeaderChange(Struct, frozen=True):
    """One module attribute that was set, removed or changed."""

    attribute: str
    """`is_scheduled`, `input_output_alias`, `entry_computation_layout`..."""
    before: str | None
    """As written; None where the header does not have it."""
    after: str | None
    phrase: str
    """The change as a phrase: `scheduled the module`, `added 7 input/output aliases`."""


def header_changes(before: HloModule, after: HloModule) -> tuple[HeaderChange, ...]:
    """Return the differences in the order of the header after, then what was removed."""
    if before.header == after.header:
        return ()
    old, new = before.attributes, after.attributes
    return tuple(
        HeaderChange(
            name, old.get(name), new.get(name), _phrase(name, old.get(name), new.get(name))
        )
        for name in {**new, **old}
        if old.get(name) != new.get(name)
    )


def header_line(module: HloModule) -> str:
    """Return the first line of a module as HLO text writes it."""
    return f"HloModule {module.name}{', ' if module.header else ''}{module.header}"


def _phrase(name: str, before: str | None, after: str | None) -> str:
    if name in _ENTRIES:
        return _entries(name, before or "", after or "")
    if name == "frontend_attributes":
        return _fields(before or "", after or "")
    if name == "is_scheduled":
        return "scheduled the module" if after == "true" else "removed the schedule of the module"
    return _value_phrase(wording.code(name), before, after)


def _value_phrase(name: str, before: str | None, after: str | None) -> str:
    """Return a phrase for the change of a value; a long value is left out."""
    if after is None or (before == "true" and after == "false"):
        return f"cleared {name}"
    short = after.isdecimal() or after == "false"
    to = f" to {after}" if short else ""
    return f"{'set' if before is None or short else 'changed'} {name}{to}"


def _aliases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_ALIAS.findall(text))


def _donors(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_DONOR.findall(text))


_ENTRIES: Mapping[str, tuple[str, str, Callable[[str], frozenset[tuple[str, ...]]]]] = {
    "input_output_alias": ("input/output alias", "input/output aliases", _aliases),
    "buffer_donor": ("buffer donor", "buffer donors", _donors),
}
"""Attributes that are lists: what an entry is called, one and many, and how they are read."""


def _entries(name: str, before: str, after: str) -> str:
    noun, nouns, read = _ENTRIES[name]
    old, new = read(before), read(after)
    counts = (("added", len(new - old)), ("removed", len(old - new)))
    done = [f"{verb} {count:,} {noun if count == 1 else nouns}" for verb, count in counts if count]
    return english.listing(done) or f"changed {wording.code(name)}"


def _fields(before: str, after: str) -> str:
    """Return which frontend attributes of the module were set, changed and removed."""
    old, new = (split_attributes(text.strip()[1:-1]) for text in (before, after))
    done = [f"{verb} {english.listing(names)}" for verb, names in _sorted_fields(old, new) if names]
    return english.listing(done) or f"changed {wording.code('frontend_attributes')}"


def _sorted_fields(
    old: Mapping[str, str], new: Mapping[str, str]
) -> Iterator[tuple[str, list[str]]]:
    kind = "the frontend attribute "
    added, removed = new.keys() - old.keys(), old.keys() - new.keys()
    changed = {name for name in old.keys() & new.keys() if old[name] != new[name]}
    for verb, names in (("set", added), ("changed", changed), ("removed", removed)):
        yield verb, [f"{kind}{wording.code(name)}" for name in sorted(names)]
