"""One step for the page script: the account, the grouped changes, the text difference."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from xlareport.analysis.steps import wording
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import StepChange
from xlareport.analysis.steps.text_difference import TextDiff
from xlareport.knowledge.grades import weakest
from xlareport.pages.steps.change_rows import row, row_places
from xlareport.pages.steps.text_diff import StoredLines, diff_payload


def step_payload(
    change: StepChange,
    diff: TextDiff | None,
    certain: str,
    pictures: dict[str, Any],
    lines: StoredLines | None = None,
    *,
    further: str = "",
) -> dict[str, Any]:
    """Return the value of a step's payload; `pictures` is the part on its pictures.

    `lines` are those that the site has already; without them the difference has its own. `further`
    is the key prefix of the payloads with the lines of a long difference and the rows of large
    groups.
    """
    return {
        "headline": change.headline,
        "account": list(change.account),
        "certain": certain,
        "groups": _groups(change.groups, further),
        "opcodes": [list(item) for item in change.opcode_delta],
        "pictures": pictures,
        "diff": diff_payload(diff, change.renumbered, lines or StoredLines(), further),
    }


def _groups(groups: Sequence[ChangeGroup], further: str) -> list[dict[str, Any]]:
    """Return the groups; those that would have the same title have their whole scope in it."""
    titles = Counter((group.kind, _title(group, wording.short_scope)) for group in groups)
    places = row_places(groups, further) if further else [[] for _ in groups]
    return [
        _group(group, str if titles[group.kind, title] > 1 else wording.short_scope)
        | ({"rest": rest} if rest else {})
        for group, rest in zip(groups, places, strict=True)
        for title in [_title(group, wording.short_scope)]
    ]


def _group(group: ChangeGroup, shown: Callable[[str], str]) -> dict[str, Any]:
    return {
        "kind": str(group.kind),
        "label": _LABELS[group.kind],
        "title": _title(group, shown),
        "count": group.count,
        "grade": weakest(example.grade for example in group.examples),
        "examples": [*map(row, group.examples)],
    }


def _title(group: ChangeGroup, shown: Callable[[str], str]) -> str:
    before, after = group.opcodes
    what = (
        f"{before} → {after}"
        if before and after and before != after
        else before or after or "instruction"
    )
    where = f" in {shown(group.scope)}" if group.scope else ""
    per_layer = f", {group.per_layer} per layer" if group.per_layer else ""
    return f"{what}{where}{per_layer}"


_LABELS = {
    Kind.FUSED: "New fusions and what they fuse",
    Kind.ABSORBED: "Merged into other fusions",
    Kind.INLINED: "Inlined, and what came of it",
    Kind.OUTLINED: "New calls and what they call",
    Kind.REWRITTEN: "Rewritten as another operation",
    Kind.COMBINED: "Combined into one",
    Kind.SPLIT: "Split into several",
    Kind.EXPANDED: "Expanded into smaller ones",
    Kind.ASYNC: "Made asynchronous",
    Kind.PART: "Parts of what was combined or split",
    Kind.SWAPPED: "Moved past other instructions",
    Kind.REPLACED: "Replaced with another operation",
    Kind.FOLDED: "Folded into constants",
    Kind.REBUILT: "Rebuilt: the same operation on other values",
    Kind.MERGED: "Duplicates merged",
    Kind.UNIFIED: "Duplicate computations merged",
    Kind.CLONED: "Clones",
    Kind.COPIED: "Clones of computations",
    Kind.LEFT: "Left without live users",
    Kind.REMOVED: "Removed",
    Kind.DEAD: "Removed as dead",
    Kind.UNCALLED: "Removed with dead computations",
    Kind.ARGUMENT: "Removed parameters of fusions and calls",
    Kind.ADDED: "Added",
    Kind.DEFINED: "Added computations",
    Kind.UNUSED: "Added without live users",
    Kind.PARAMETER: "New parameters of fusions and calls",
    Kind.LEFTOVER: "Added to computations without live callers",
    Kind.UNTRACED: "Counterpart not known",
    Kind.TURNED: "Operands swapped",
    Kind.TYPE: "Element type changed",
    Kind.SHAPE: "Shape changed",
    Kind.SUMMED: "Number of summands changed",
    Kind.PRECISION: "Precision or algorithm changed",
    Kind.SPACE: "Memory space changed",
    Kind.LAYOUT: "Layout changed",
    Kind.OPERANDS: "Operands changed",
    Kind.REDIRECTED: "Operands replaced after instructions were added or removed",
    Kind.REWIRED: "The same value from another instruction",
    Kind.SHARED: "Operands redirected to equal instructions",
    Kind.ATTRIBUTES: "Attributes changed",
    Kind.HOISTED: "Moved out of loops",
    Kind.SUNK: "Moved into loops",
    Kind.MOVED: "Moved to another computation",
    Kind.SHARDING: "Sharding changed",
    Kind.CONFIG: "backend_config changed",
    Kind.METADATA: "Metadata changed, no effect",
    Kind.REORDERED: "Position in the schedule changed",
    Kind.RENAMED: "Renamed",
}
