"""Computations of which a step only made clones: `flatten-call-graph` gives each call its own."""

from collections import defaultdict
from collections.abc import Collection

from xlareport.analysis.matching.sides.contents import Contents, copied_name
from xlareport.analysis.matching.sides.graph import CallSites
from xlareport.analysis.matching.sides.values import UNKNOWN
from xlareport.hlo.model import HloModule


def only_cloned(
    modules: tuple[HloModule, HloModule],
    sites: tuple[CallSites, CallSites],
    contents: tuple[Contents, Contents],
) -> frozenset[str]:
    """Return the computations that stay as they are while whole clones of them are new, and these.

    Each of their calls before still calls the computation or one of its clones. A clone has the
    name of the original with a mark or a number behind it, and the same contents.
    """
    before, after = modules
    clones: dict[str, set[str]] = defaultdict(set)
    for name in after.by_name.keys() - before.by_name.keys():
        original = copied_name(name, before.by_name)
        if original in after.by_name and sites[1].transparent(name):
            clones[original].add(name)
    return frozenset(
        name
        for original, copies in clones.items()
        if _have_same_contents(original, copies, contents)
        and _stay_called(original, copies, sites[0], after)
        for name in (original, *copies)
    )


def _have_same_contents(
    original: str, clones: Collection[str], contents: tuple[Contents, Contents]
) -> bool:
    known = contents[0].of(original)
    return known != UNKNOWN and {contents[1].of(name) for name in (original, *clones)} == {known}


def _stay_called(
    original: str, clones: Collection[str], sites: CallSites, after: HloModule
) -> bool:
    """Return whether each call before is a call of the computation or of a clone of it now."""
    for computation, call in sites.by_callee.get(original, ()):
        line = after.find(computation.name, call.instruction.name)
        callee = None if line is None else after.callee(line, call.attribute)
        if callee is None or callee.name not in {original, *clones}:
            return False
    return True
