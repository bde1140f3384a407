"""English of pages and messages: plurals, lists, beginnings of sentences."""

from collections.abc import Sequence


def pluralize(noun: str) -> str:
    """Return the plural of a noun or opcode."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun}s"


def with_article(noun: str) -> str:
    """Return a noun with its article: `an add`; also of a name in backticks."""
    first = noun.lstrip("`")[:1].lower()
    return f"{'an' if first in 'aeiou' else 'a'} {noun}"


def listing(items: Sequence[str]) -> str:
    """Join with commas and `and`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def first_few(items: Sequence[str], most: int, count: int | None = None) -> str:
    """Join the first with commas and count the others, of `count` in all: `a, b and 4 more`."""
    more = (len(items) if count is None else count) - min(len(items), most)
    shown = ", ".join(items[:most])
    return f"{shown} and {more:,} more" if more > 0 else shown


def capitalize(text: str) -> str:
    """Return a text with its first letter as a capital, the others as they are."""
    return text[:1].upper() + text[1:]


def fits_code(name: str) -> bool:
    """Return whether a name can be set in backticks: not empty, and with no sign that ends them."""
    return bool(name) and name.isprintable() and "`" not in name


def plain(sentence: str) -> str:
    """Return a sentence without its backticks, for where nothing is set as code."""
    return sentence.replace("`", "")


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, with its period."""
    first, stop, _ = text.partition(". ")
    return first + stop.rstrip()
