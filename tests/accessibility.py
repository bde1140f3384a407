"""What axe says of a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_ONLY = {"resultTypes": ["violations"]}


def axe_violations(page: Page, part: str | None = None) -> list[str]:
    """Return the rules of axe that a page breaks, or the part of it that a selector names."""
    results = Axe().run(page, context=part, options=_ONLY)
    return [violation["id"] for violation in results.response["violations"]]
