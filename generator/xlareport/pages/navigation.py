"""Where every page lies: the one place that names addresses."""

from urllib.parse import quote

from xlareport.storage.payloads import SHARED

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
"""The payload key of what the pictures that the page script draws look like."""


def module_page(slug: str) -> str:
    """Return the source of a module's page, relative to site_src/.

    What else tells of a module are parts of that page: `m/x.md?cost`.
    """
    return f"m/{slug}.md"


def steps_page(slug: str) -> str:
    """Return the part of a module's page with its pass gallery."""
    return f"m/{slug}.md?steps"


def expense_page(slug: str) -> str:
    """Return the part on what a module costs."""
    return f"m/{slug}.md?cost"


def code_page(slug: str) -> str:
    """Return the part on a module's kernels and machine code."""
    return f"m/{slug}.md?code"


def texts_page(slug: str) -> str:
    """Return the part that shows the texts of a module."""
    return f"m/{slug}.md?texts"


def memory_page(slug: str) -> str:
    """Return the part on a module's memory."""
    return f"m/{slug}.md?memory"


def source_page(slug: str) -> str:
    """Return the part on the lines that became a module."""
    return f"m/{slug}.md?source"


def measured_page(slug: str) -> str:
    """Return the part on what a profiler measured."""
    return f"m/{slug}.md?time"


def part_name(page: str) -> str:
    """Return the name of a part, `cost` of `m/x.md?cost`; empty for a whole page."""
    return page.partition("?")[2]


def part_key(page: str) -> str:
    """Return the payload key of a part; of a whole page, what those of its parts begin with."""
    source, _, part = page.partition("?")
    return f"{source.removesuffix('.md')}/page-{part}"


def address(page: str, seen_from: str = HOME) -> str:
    """Return the address of a page, or of a part of one, as a link from another page."""
    source, mark, part = page.partition("?")
    target = source.removesuffix(".md") + ".html"
    return "../" * seen_from.count("/") + quote(target) + mark + part


def neighbour(slug: str | None, seen_from: str) -> str | None:
    """Return the address of a module's page, None where there is no such module."""
    return None if slug is None else address(module_page(slug), seen_from)


def step_address(slug: str, step: str, seen_from: str = HOME) -> str:
    """Return the address of one step in a module's gallery."""
    return f"{address(steps_page(slug), seen_from)}#step={quote(step)}"


def text_address(slug: str, text: str, name: str = "", seen_from: str = HOME) -> str:
    """Return the address of a text, named by its stage or path, at the line that defines `name`."""
    at = f"&name={quote(name)}" if name else ""
    return f"{address(texts_page(slug), seen_from)}#text={quote(text)}{at}"


def small_key(slug: str) -> str:
    """Return the payload key of what is small of a module: its payloads by their names."""
    return f"m/{slug}/{SHARED}"


def steps_key(slug: str) -> str:
    """Return the payload key of a module's list of steps."""
    return f"m/{slug}/steps"


def step_key(slug: str, step: str) -> str:
    """Return the payload key of one step."""
    return f"m/{slug}/step-{step}"


def history_key(slug: str) -> str:
    """Return the payload key of what has a history in a module; chunks are `-0`, `-1`, ..."""
    return f"m/{slug}/history"


def pictures_key(slug: str) -> str:
    """Return the payload key of the first pictures of a module; those of steps are `-0`, ..."""
    return f"m/{slug}/picture"


def levels_key(slug: str, snapshot: str) -> str:
    """Return the payload key of the index of a snapshot's pictures; bundles are `-0`, `-1`, ..."""
    return f"m/{slug}/pictures-{snapshot}"


def code_key(slug: str) -> str:
    """Return the payload key of what a module's instructions became."""
    return f"m/{slug}/code"


def code_chunk_key(slug: str, number: int) -> str:
    """Return the payload key of some texts of code."""
    return f"{code_key(slug)}-{number}"


def graph_key(slug: str) -> str:
    """Return the payload key of the graph of the final snapshot; pieces are `-0`, `-1`, ..."""
    return f"m/{slug}/graph"


def first_graph_key(slug: str) -> str:
    """Return the payload key of the graph of the first snapshot; pieces are `-0`, `-1`, ..."""
    return f"m/{slug}/graph-first"


def instructions_key(slug: str) -> str:
    """Return the payload key of the figures of a module's instructions; pieces are `-0`, ..."""
    return f"m/{slug}/instructions"


def search_key(slug: str) -> str:
    """Return the payload key of what a module can be searched for."""
    return f"m/{slug}/search"


def versions_key(slug: str) -> str:
    """Return the payload key of the list of computation timelines; they are `-0`, `-1`, ..."""
    return f"m/{slug}/versions"


def timeline_key(slug: str) -> str:
    """Return the payload key of the runs that a module's page of measured time draws."""
    return f"m/{slug}/timeline"


def table_key(slug: str, table: str) -> str:
    """Return the payload key of a table on a module's page."""
    return f"m/{slug}/{table}"


def texts_key(slug: str) -> str:
    """Return the payload key of the list of a module's texts; chunks are `-0`, `-1`, ..."""
    return f"m/{slug}/texts"
