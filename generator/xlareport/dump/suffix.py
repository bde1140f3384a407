"""Names with `module_<id>`, and the same names where the id was lost.

    [PREFIX "."] "module_" ID ["." NAME] ["." BUILD] "." SUFFIX

NAME may hold dots and numbers, so the suffix is looked for from the end: of all places where one of
the forms fits, the last is taken.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from xlareport.dump import endings
from xlareport.dump.grammar import GrammarForm, suffix_forms
from xlareport.dump.name_reading import NameReading

_CORE = re.compile(r"(?:(?P<prefix>.+?)\.)?module_(?P<id>\d{4,})(?=\.|$)", re.DOTALL | re.ASCII)
_STAMP = re.compile(r"\d{15,17}", re.ASCII)
_BUILD_ONLY = re.compile(r"(?:\.cl_\d+)?", re.ASCII)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*", re.ASCII)
_BUILT = re.compile(r".*?\.cl_\d+(?=\.)", re.DOTALL | re.ASCII)
_HEAD = re.compile(r"\.[^.]+(?:\.\d+(?=\.))?", re.ASCII)
_LOOKS_LIKE_A_PASS = re.compile(r"\.\d{4,}\.[^.]+\.(?:after|before)_", re.ASCII)

_Found = tuple[GrammarForm, re.Match[str]]


def read_with_id(reading: NameReading, name: str, module_names: Sequence[str]) -> bool:
    """Read `[PREFIX.]module_ID...` with a known suffix; return False for other forms.

    `module_names` are known names of the module, from other files; an empty one means that the file
    is known to have none.
    """
    core = _CORE.match(name)
    if core is None:
        return False
    after = name[core.end() :]
    known_suffix = _after_known_name(after, module_names)
    suffix = known_suffix or _suffix(after)
    if suffix is None:
        return False
    _read_prefix(reading, core, suffix[0])
    _read_suffix(reading, after, suffix, name_is_known=known_suffix is not None)
    if known_suffix is None and _LOOKS_LIKE_A_PASS.search(reading.fields.get("module_name", "")):
        reading.notes.append("The module's name looks like the name of a pass dump itself.")
    return True


def read_unknown_suffix(reading: NameReading, name: str, module_names: Sequence[str]) -> bool:
    """Read `[TIMESTAMP.]module_ID...` with a suffix that is in no table."""
    core = _CORE.match(name)
    if core is None or (core["prefix"] and not _STAMP.fullmatch(core["prefix"])):
        return False
    _read_prefix(reading, core, None)
    after = name[core.end() :]
    held = _end_of_name(after, module_names)
    reading.holder(after[:held])
    if held < len(after):
        _read_rest(reading, after[held:])
    return True


def _read_rest(reading: NameReading, text: str) -> None:
    """Read the text after the module's name: `.words.ending`, `.words` or `.ending`."""
    words, dot, ending = text[1:].rpartition(".")
    reading.kind = endings.kind_by_ending(ending)
    if not dot and not endings.is_ending(ending):
        words, ending = ending, ""
    if reading.kind == "unknown" and "build" in reading.fields:
        reading.kind = "tpu-report"
    reading.plain(".")
    reading.part("stage" if _WORD.fullmatch(words) else "suffix", words)
    reading.plain(dot)
    reading.part("format", ending)
    reading.notes.append("No table knows what comes after the module's name, nor where that ends.")


def _end_of_name(rest: str, module_names: Sequence[str]) -> int:
    """Return where `.NAME[.BUILD]` probably ends: after a build, a known name, or one part."""
    if built := _BUILT.match(rest):
        return built.end()
    names = [name for name in module_names if rest.startswith(f".{name}.")]
    if names:
        return max(map(len, names)) + 1
    head = _HEAD.match(rest)
    return head.end() if head else 0


def read_without_id(reading: NameReading, name: str) -> bool:
    """Read `NAME.SUFFIX` of a file that lost, or never had, `module_ID`."""
    for form in suffix_forms():
        if form.without_id and (match := form.pattern.fullmatch(f".{name}")):
            if not match["holder"]:
                return False
            reading.take(form)
            reading.holder(match["holder"].removeprefix("."))
            reading.match(match, match.end("holder"))
            return True
    return False


@lru_cache(maxsize=1 << 12)
def _suffix(rest: str) -> _Found | None:
    """Return the suffix in the text after a module's number; cached, as modules share them."""
    for form in suffix_forms():
        if match := form.pattern.fullmatch(rest):
            return form, match
    return None


def _after_known_name(rest: str, module_names: Sequence[str]) -> _Found | None:
    """Return the suffix after the longest of the known names that the rest begins with."""
    for name in sorted(module_names, key=len, reverse=True):
        start = len(name) + 1 if name else 0
        if not rest.startswith(f".{name}"):
            continue
        for form in suffix_forms():
            match = form.pattern.fullmatch(rest, start)
            if match and _BUILD_ONLY.fullmatch(match.groupdict().get("holder") or ""):
                return form, match
    return None


def _read_prefix(reading: NameReading, core: re.Match[str], form: GrammarForm | None) -> None:
    text = core["prefix"] or ""
    field = form.constants.get("prefix_is", "prefix") if form else "prefix"
    reading.part("timestamp" if _STAMP.fullmatch(text) else field, text)
    reading.plain(core.string[len(text) : core.start("id")])
    reading.part("module_id", core["id"])


def _read_suffix(reading: NameReading, rest: str, value: _Found, *, name_is_known: bool) -> None:
    form, match = value
    reading.take(form)
    before = rest[: match.start()]
    if "owner" in match.re.groupindex:
        reading.holder(before)
        reading.match(match, name_is_known=name_is_known)
    else:
        reading.holder(before + match["holder"])
        reading.match(match, match.end("holder"))
