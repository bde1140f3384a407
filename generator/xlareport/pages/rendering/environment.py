"""The template environment: whatever a template prints is safe in Markdown, HTML and attributes.

Pages are Markdown with HTML blocks, so a printed string is parsed twice. Every character that is
markup in either becomes a character reference. This is done to each printed value unless it is
`Markup`; templates do not need to request it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from xlareport.hlo.shape import without_layout
from xlareport.pages import navigation
from xlareport.runtime import units

_INSIDE = r",|(?<=[A-Za-z0-9])[._/-](?=[A-Za-z0-9])|(?<=\S) (?=\S)"
"""Punctuation that cannot be markup where it is; it stays, so that pages remain readable."""
_PUNCTUATION = re.compile(rf"({_INSIDE})|[\x00-/:-@\[-`{{-\x7f]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff\ud800-\udfff]"
)
_FLAG_BEGINS = re.compile(r"--?[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")
_FLAG = re.compile(r"(?<![\w-])--[a-z]\w*(?:=[\w-]+)?")
_BREAKS = re.compile(r"(?<=[._/])(?=[^._/])")
UNKNOWN = Markup('<span class="xr-unknown" title="not known">\N{EN DASH}</span>')


def environment(templates: Path) -> Environment:
    """Return the environment that renders the templates of the folder `templates`."""
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=checked,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(FILTERS)
    for unsafe in ("safe", "forceescape", "urlize", "xmlattr", "tojson"):
        del environment.filters[unsafe]
    return environment


def checked(value: object) -> object:
    """Return `value` as a template may print it; None is refused, as pages never print None."""
    if value is None:
        raise ValueError("A template printed None: use a filter that says that it is not known.")
    return text(value) if isinstance(value, str) else value


def text(value: object) -> Markup:
    """Return a string as text that neither Markdown nor HTML takes for anything else."""
    if isinstance(value, Markup):
        return value
    return Markup(_PUNCTUATION.sub(_reference, visible(str(value))))  # noqa: S704 - escaped


def breakable(value: str) -> Markup:
    """Return a name that may break behind its underscores, dots and slashes, before within words.

    `breakable` of the script does the same in tables.
    """
    return Markup("<wbr>").join(text(part) for part in _BREAKS.split(value))


def visible(value: str) -> str:
    """Return `value` with characters that cannot be seen, or that turn text round, written out."""
    return _INVISIBLE.sub(lambda match: _written_out(match[0]), value)


def code(value: object) -> Markup:
    """Return a name as inline code; a flag does not break after the hyphens that begin it."""
    begins = _FLAG_BEGINS.match(str(value))
    if isinstance(value, Markup) or begins is None:
        return Markup(f"<code>{text(value)}</code>")  # noqa: S704 - escaped
    return Markup('<code><span class="xr-unbroken">{}</span>{}</code>').format(
        text(begins[0]), text(str(value)[begins.end() :])
    )


def word(value: object, kind: str) -> Markup:
    """Return a name that explains itself and leads to its entry; its kind is one of `words.js`."""
    mark = text(f"{kind}:{value}")
    return Markup('<a class="xr-word" data-word="{}">{}</a>').format(mark, code(value))


def folded_shape(value: str) -> Markup:
    """Return a shape without its layouts; the tooltip has them."""
    mark = text(f"shape:{value}")
    return Markup('<a class="xr-word" data-word="{}">{}</a>').format(
        mark, code(without_layout(value))
    )


def byte_size(value: float | None) -> Markup:
    """Return a number of bytes for people, with the exact number on pointing at it."""
    return _figure(value, units.byte_size, "bytes")


def flops(value: float | None) -> Markup:
    """Return a number of floating-point operations for people, the exact number on pointing."""
    return _figure(value, lambda number: units.quantity(number, "FLOP"), "FLOP")


def seconds(value: float | None) -> Markup:
    """Return a time for people."""
    return UNKNOWN if value is None else text(units.seconds(value))


def count(value: int | None) -> Markup:
    """Return a whole number with thousands separators."""
    return UNKNOWN if value is None else Markup(units.count(value))  # noqa: S704 - digits


def signed(value: int | None) -> Markup:
    """Return a difference with its sign."""
    return UNKNOWN if value is None else Markup(units.signed(value))  # noqa: S704 - digits


def share(value: float | None) -> Markup:
    """Return a fraction as a percentage."""
    return UNKNOWN if value is None else text(units.share(value))


def precise_share(value: float | None) -> Markup:
    """Return a fraction as a percentage of three digits."""
    return UNKNOWN if value is None else text(units.precise_share(value))


def known(value: object) -> Markup:
    """Return text, or the sign for an unknown value."""
    return UNKNOWN if value is None else text(value)


def cell(value: object, kind: str, of: str) -> object:
    """Return a table cell by the kind of its column; `of` is the kind of names in it."""
    return word(value, of) if of else _CELLS.get(kind, known)(value)


def href(value: str) -> Markup:
    """Return an address inside the site for an attribute; any character of a name may be in it."""
    address = quote(value, safe="/#=&?.,-_~")
    if address.startswith(("/", "?")):
        raise ValueError(f"Addresses in the site are relative: {value!r}.")
    return text(address)


def front_matter(*, title: str, search: bool = True, wide: bool = False) -> Markup:
    """Return a page's front matter; with `wide` the page takes the space of the sidebars.

    Pages of modules, of which there can be thousands, are excluded from the text search.
    `between_headings` says that there is only HTML between headings, so that Markdown skips it.

    The theme prints titles unescaped, so the title is escaped here; JSON strings are YAML strings.
    """
    lines = ["---", f"title: {json.dumps(str(text(title)))}", "between_headings: html"]
    if not search:
        lines += ["search:", "  exclude: true"]
    if wide:
        lines += ["hide:", "  - navigation", "  - toc"]
    return Markup("\n".join([*lines, "---", ""]))  # noqa: S704 - JSON values


def _link(value: Sequence[str] | None) -> Markup:
    """Return the link `[text, address]`."""
    if value is None:
        return UNKNOWN
    return Markup('<a href="{}">{}</a>').format(href(value[1]), text(value[0]))


def _chip(value: Sequence[str] | None) -> Markup:
    """Return the words of `[words, class]`; without the script they have no color."""
    return known(value[0] if value else None)


def _dump_name(value: Sequence[str] | None) -> Markup:
    """Return a name without the meanings of its parts, which the script adds."""
    return UNKNOWN if value is None else code(value[0])


def prose(sentence: str, addresses: Mapping[str, str] | None = None) -> Markup:
    """Return a sentence as HTML: flags and what is between two backticks are code.

    A name that has an address becomes a link.
    """
    pieces = sentence.split("`")
    if len(pieces) % 2 == 0:
        return text(sentence)
    return Markup("").join(
        _linked_name(piece, (addresses or {}).get(piece)) if place % 2 else _with_flags(piece)
        for place, piece in enumerate(pieces)
    )


def _with_flags(words: str) -> Markup:
    """Return text with its flags as code."""
    if "--" not in words:  # as nearly all
        return text(words)
    flags = [code(match[0]) for match in _FLAG.finditer(words)]
    texts = [text(between) for between in _FLAG.split(words)]
    return texts[0] + Markup("").join(
        flag + after for flag, after in zip(flags, texts[1:], strict=True)
    )


def graded(grade: str, sentence: str) -> Markup:
    """Return a sentence with its grade of confidence before it."""
    return Markup('<span class="xr-grade xr-{0}">{0}</span> {1}').format(
        text(grade), text(sentence)
    )


def _linked_name(name: str, address: str | None) -> Markup:
    if address is None:
        return code(name)
    return Markup('<a href="{}">{}</a>').format(href(address), code(name))


_CELLS: Mapping[str, Callable[..., Markup]] = {
    "link": _link,
    "chip": _chip,
    "name": _dump_name,
    "code": code,
    "int": count,
    "bytes": byte_size,
    "flops": flops,
    "percent": share,
    "precise": precise_share,
}
FILTERS: Mapping[str, Callable[..., object]] = {
    "md": text,
    "e": text,
    "escape": text,
    "breakable": breakable,
    "code": code,
    "word": word,
    "folded_shape": folded_shape,
    "bytes": byte_size,
    "flops": flops,
    "seconds": seconds,
    "count": count,
    "signed": signed,
    "share": share,
    "known": known,
    "href": href,
    "key": navigation.module_key,
    "cell": cell,
    "plural": units.plural,
    "prose": prose,
}


def _figure(value: float | None, write: Callable[[float], str], unit: str) -> Markup:
    if value is None:
        return UNKNOWN
    exact = f"{value:,.0f} {unit}"
    return Markup('<span class="xr-figure" title="{}">{}</span>').format(exact, write(value))


def _reference(match: re.Match[str]) -> str:
    return match[1] or f"&#{ord(match[0])};"


def _written_out(character: str) -> str:
    number = ord(character)
    if number < 0x20:
        return chr(0x2400 + number)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
