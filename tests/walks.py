"""What `make walks` does more of than `make test`: pages, pairs and examples."""

import os

from hypothesis import settings

LONG_WALKS = bool(os.environ.get("XLAREPORT_LONG_WALKS"))
"""Browsers walk through whole reports, which takes minutes (`make walks`); else some pages do."""
_FEW = 10


def examples(number: int) -> settings:
    """Return how many examples a property is tried on: `make walks` tries all, others a third."""
    return settings(max_examples=number if LONG_WALKS else max(number // 3, min(number, _FEW)))
