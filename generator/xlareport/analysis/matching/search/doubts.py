"""How sure links are in the end: of guesses that proved equal, and of what only guesses show."""

from collections.abc import Iterable, Mapping

from xlareport.analysis.matching.search.search import NodePair, Search
from xlareport.analysis.matching.sides.graph import Node
from xlareport.knowledge.grades import Grade

_KNOWN, _GUESSED = "counterpart is known", "counterpart is a guess"
_WITH, _WITH_GUESS = "with a known counterpart", "whose counterpart is a guess"
_OF_THAT, _GUESS_OF_THAT = "counterpart of that is known", "counterpart of that is a guess"


def grade_doubts(search: Search) -> None:
    """Grade guesses that proved equal as MATCHED, and so what is equal because of guesses.

    What was paired as a neighbor of a guess, without its value, is a guess as well.
    """
    if not any(link.grade is Grade.GUESSED for link in search.links):
        return
    search.evaluate()
    links = {link.before: link for link in search.links}
    _doubt_equal_values(search, links)
    if _doubt_neighbors(search.links, links):
        _doubt_equal_values(search, links)


def _doubt_equal_values(search: Search, links: Mapping[Node, NodePair]) -> None:
    """Grade as MATCHED what is equal because of guesses, and guesses that proved equal."""
    doubtful: set[Node] = set()
    for node in search.before.values.order:
        link = links.get(node)
        by_value = link is None or (link.equal and link.grade is Grade.EXACT)
        if link is not None and link.grade is Grade.GUESSED:
            if doubtful.isdisjoint(node.inputs) and _is_confirmed(search, link):
                link.grade, link.reason = Grade.MATCHED, "the same work on equal values"
            else:
                doubtful.add(node)
        elif by_value and not doubtful.isdisjoint(node.inputs):
            doubtful.add(node)
            if link is not None:
                link.grade = Grade.MATCHED


def _doubt_neighbors(pairs: Iterable[NodePair], links: Mapping[Node, NodePair]) -> bool:
    """Grade as GUESSED what was paired as a neighbor of a guess; return whether there was any.

    Links are in the order in which they were made, each after the one that led to it.
    """
    some = False
    for link in pairs:
        origin = None if link.led_from is None else links.get(link.led_from)
        if origin is None or origin.grade is not Grade.GUESSED or link.equal:
            continue
        if link.grade is not Grade.GUESSED:
            link.grade, some = Grade.GUESSED, True
            if isinstance(link.reason, str):
                words = link.reason.replace(_KNOWN, _GUESSED).replace(_WITH, _WITH_GUESS)
                link.reason = words.replace(_OF_THAT, _GUESS_OF_THAT)
    return some


def _is_confirmed(search: Search, link: NodePair) -> bool:
    """Return whether the nodes of a guess are the same operation on equal values."""
    ours, theirs = link.before, link.after
    nodes = zip(search.contents, (ours, theirs), strict=True)
    called = [[known.of(name) for _, name in node.instruction.called] for known, node in nodes]
    read = search.before.values.read(ours), search.after.values.read(theirs)
    same = search.forms.of(ours.instruction) == search.forms.of(theirs.instruction)
    return same and called[0] == called[1] and read[0] == read[1] != []
