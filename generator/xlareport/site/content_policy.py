"""The Content-Security-Policy of a page: which scripts may run, and from where it may load."""

import base64
import hashlib
from collections.abc import Iterable


def script_hash(script: str) -> str:
    """Return the source expression that lets one inline script run, and no other."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy_element(directives: Iterable[str]) -> str:
    """Return the element that lays down a policy; what no directive names is forbidden."""
    content = "; ".join(
        ("default-src 'none'", *directives, "base-uri 'none'", "form-action 'none'")
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{content}">'
