"""What axe says of a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from tests.conftest import LONG_WALKS

_ONLY = {"resultTypes": ["violations"]}
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
