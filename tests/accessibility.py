"""What axe says of a page, and whether a page fits a narrow screen."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from tests.fixtures.browser import SIZE
from tests.walks import LONG_WALKS

SCHEMES = ("light", "dark") if LONG_WALKS else ("light",)
"""Colors in which axe looks at pages. Dark ones come from the same style sheets everywhere:
`make test` looks at those of a few kinds of pages, `make walks` at all."""
_ONLY = {"resultTypes": ["violations"], "preload": False}
"""Without `preload`, since no page in a file may fetch its own style sheets."""
_OF_COLORS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def axe_violations(page: Page, part: str | None = None) -> list[str]:
    """Return the rules of axe that a page breaks, or the part of it that a selector names.

    On a page that is dark only rules of colors are asked for, since the others do not look at them
    and are asked for where it is light; `make walks` asks for all.
    """
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    options = _ONLY | (_OF_COLORS if is_dark and not LONG_WALKS else {})
    results = Axe().run(page, context=part, options=options)
    return [violation["id"] for violation in results.response["violations"]]


def violations_by_scheme(page: Page, *schemes: str) -> dict[str, list[str]]:
    """Return the rules of axe that a page breaks in each color scheme where it breaks some."""
    broken: dict[str, list[str]] = {}
    for scheme in schemes or SCHEMES:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        broken[scheme] = axe_violations(page)
    page.emulate_media(color_scheme="light")
    return {scheme: rules for scheme, rules in broken.items() if rules}


def narrow_width(page: Page, width: int = 400) -> int:
    """Return how many pixels wide a page is on a screen of `width`, which it has for a moment."""
    page.set_viewport_size({"width": width, "height": 800})
    wide: int = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size(SIZE)
    return wide
