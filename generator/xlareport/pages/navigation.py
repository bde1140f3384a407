"""The addresses of all pages; scripts take theirs from `core/pages.js`."""

from urllib.parse import quote

from msgspec import Struct

HOME = "index.md"
MODULES = "modules.md"
PROGRAM = "program.md"
NAMES = "names.md"
COVERAGE = "coverage.md"
GLOSSARY = "glossary.md"
TRENDS = "trends.md"
SEARCH = "search"
"""The payload key of the small index of the search over everything."""
PICTURE_LOOK = "pictures/look"
"""The payload key of the style of pictures that the page script draws."""


class Link(Struct, frozen=True):
    """A name that leads somewhere."""

    name: str
    address: str


def module_page(slug: str, part: str = "") -> str:
    """Return the source of a module's page or of one of its parts, relative to site_src/.

    A part is loaded into the page: `m/x.md?cost`.
    """
    return f"m/{slug}.md?{part}" if part else f"m/{slug}.md"


def module_key(slug: str, name: str) -> str:
    """Return the payload key of what a module's page loads: `m/x/NAME`.

    NAME is that of a table, or `steps`, `step-STEP`, `step~STEP` (the further lines of its
    difference), `history` (what has a history), `versions`
    (computation timelines), `picture` (those of the page, and of steps), `pictures-SNAPSHOT` (those
    behind them), `graph` and `graph-first` (of the final and of the first snapshot), `code`,
    `instructions`, `tpu` (programs of a TPU), `texts`, `timeline` (measured runs), `search`, and
    `small`, which holds small payloads by their names. Payloads that belong to one of these are
    called NAME-0, NAME-1, ...
    """
    return f"m/{slug}/{name}"


def further_lines_key(slug: str, step: str) -> str:
    """Return the key prefix of the payloads with a step's further lines and rows."""
    return module_key(slug, f"step~{step}")


def part_key(page: str) -> str:
    """Return the payload key of a part; of a whole page, the prefix of its parts' keys."""
    source, _, part = page.partition("?")
    return f"{source.removesuffix('.md')}/page-{part}"


def address(page: str, seen_from: str = HOME) -> str:
    """Return the address of a page or part, as a link from another page."""
    source, mark, part = page.partition("?")
    target = source.removesuffix(".md") + ".html"
    return "../" * seen_from.count("/") + quote(target) + mark + part


def module_address(slug: str, part: str = "", seen_from: str = HOME) -> str:
    """Return the address of a module's page or of one of its parts, as a link from another page."""
    return address(module_page(slug, part), seen_from)


def step_address(slug: str, step: str, seen_from: str = HOME) -> str:
    """Return the address of one step in a module's gallery."""
    return f"{module_address(slug, 'steps', seen_from)}#step={quote(step)}"


def instructions_address(slug: str, seen_from: str = HOME) -> str:
    """Return the address of a module's table of instructions; `&q=WORDS` filters it."""
    page = address(module_page(slug), seen_from)
    return f"{page}#t={module_key(quote(slug), 'instructions')}"
