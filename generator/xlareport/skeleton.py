"""The static execution skeleton of one module, for the command line and other tools."""

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.modules.module_origin import origin_of
from xlareport.analysis.skeleton.items import Skeleton
from xlareport.analysis.skeleton.skeleton_folds import SkeletonLine, every_line, fold
from xlareport.analysis.skeleton.skeleton_outline import read_skeleton
from xlareport.analysis.skeleton.skeleton_text import skeleton_head, text_lines
from xlareport.program import ParsedModule
from xlareport.runtime.errors import UnreadableInputError

SCREEN = 50
"""Lines of a folded skeleton, its head included."""


def module_skeleton(module: ParsedModule) -> Skeleton:
    """Return the skeleton of a module's final snapshot; raises UnreadableInputError."""
    costed = cost_module(module, origin_of(module).backend)
    if costed is None:
        raise UnreadableInputError(f"No snapshot of {module.files.key} could be read.")
    return read_skeleton(costed)


def skeleton_lines(skeleton: Skeleton, *, full: bool = False) -> Sequence[SkeletonLine]:
    """Return its lines, folded to a screen unless all are wanted."""
    if full:
        return every_line(skeleton.items)
    return fold(skeleton.items, SCREEN - len(list(skeleton_head(skeleton))))


def skeleton_text(skeleton: Skeleton, *, full: bool = False, width: int = 160) -> str:
    """Return the skeleton as text: a header, then a line for each item or fold of items."""
    lines = text_lines(skeleton_lines(skeleton, full=full), width)
    return "\n".join([*skeleton_head(skeleton), *lines])


def skeleton_value(skeleton: Skeleton) -> dict[str, Any]:
    """Return the skeleton as a value for JSON, with every item; times in seconds."""
    return {"times": "estimates", **to_builtins(skeleton), "seconds": skeleton.seconds}
