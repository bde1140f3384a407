"""Sentences that hold names in backticks become text with inline code."""

from collections.abc import Mapping

from markupsafe import Markup

from xlareport.pages.rendering.environment import code, href, text


def prose(sentence: str, addresses: Mapping[str, str] | None = None) -> Markup:
    """Return a sentence as HTML: what stands between two backticks is code, the rest is text.

    A name that has an address becomes a link.
    """
    pieces = sentence.split("`")
    if len(pieces) % 2 == 0:
        return text(sentence)
    return Markup("").join(
        _name(piece, (addresses or {}).get(piece)) if place % 2 else text(piece)
        for place, piece in enumerate(pieces)
    )


def _name(name: str, address: str | None) -> Markup:
    if address is None:
        return code(name)
    return Markup('<a href="{}">{}</a>').format(href(address), code(name))
