"""One step for the page script: the account, the grouped changes, the text difference."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from xlareport.analysis.steps import wording
from xlareport.analysis.steps.groups import ChangeGroup
from xlareport.analysis.steps.kinds import words_of_kinds
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
        "label": words_of_kinds()[group.kind].label,
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
