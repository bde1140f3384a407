"""The start of a search: which computations continue each other, and both sides' graphs."""

from collections.abc import Callable

from xlareport.analysis.matching.search.moved_levels import MovedLevels
from xlareport.analysis.matching.search.provenance import Provenance
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.computations import Correspondence, correspond, pair_contents
from xlareport.analysis.matching.sides.contents import Contents
from xlareport.analysis.matching.sides.forms import Forms
from xlareport.analysis.matching.sides.graph import CallSites, Graph, MovedBy, Node, most_nodes
from xlareport.analysis.matching.sides.side import Side
from xlareport.analysis.matching.sides.values import Tokens, Values
from xlareport.hlo.model import HloModule


def start(
    before: HloModule,
    after: HloModule,
    *,
    same_program: bool = True,
    moved: MovedBy | None = None,
) -> Search:
    """Return a search with paired computations and both sides' graphs of the differences.

    Of two programs no line is kept: equal lines have their names by chance. Both graphs see
    through what `moved` passes on.
    """
    forms, tokens = Forms(), Tokens()
    divided = _are_divided(before, after, forms)
    if divided and same_program:
        forms.divide(before)
    sites = CallSites(before), CallSites(after)
    contents = Contents(before, forms, tokens), Contents(after, forms, tokens)
    correspondence = correspond(before, after, sites, contents, same_program=same_program)
    pair_contents(correspondence, sites, contents)
    lines = {
        old: correspondence.kept(old, new)
        for old, new in correspondence.pairs.items()
        if same_program and correspondence.steady(old)
    }
    numbers = _number_computations(before, after, correspondence)
    budget = most_nodes(correspondence.most_lines)
    sides = []
    open_again = {old: same - correspondence.left_over(old) for old, same in lines.items()}
    for here, module, differing, kept in (
        (0, before, correspondence.before, open_again),
        (
            1,
            after,
            correspondence.after,
            {correspondence.pairs[old]: same for old, same in lines.items()},
        ),
    ):
        program = 0 if same_program else here
        opened = correspondence.opened
        paired = (correspondence.pairs, correspondence.partners)[here]
        graph = Graph(
            module,
            differing,
            opened,
            sites[here],
            budget,
            paired=paired,
            program=program,
            moved=moved,
        )
        graph.build(numbers[here], kept)
        callees = _callees(correspondence, contents, here)
        sides.append(Side(graph, Values(graph, forms, tokens, callees)))
    literals = dict.fromkeys(literal for side in sides for literal in side.values.literals())
    for side in sides:
        side.values.note_kept(literals)
    search = Search(sides[0], sides[1], forms, tokens, correspondence, contents, divided)
    search.parted = None if same_program else Provenance(sides[0], sides[1]).parts
    search.moved_apart = MovedLevels(sides[0], sides[1], forms).are_apart if same_program else None
    search.unsettled += _kept_pairs(search)
    return search


def _are_divided(before: HloModule, after: HloModule, forms: Forms) -> bool:
    """Return whether arguments changed shape: a shard may have the shape of another array."""
    old = before.parameters
    new = after.parameters
    pairs = zip(old, new, strict=False)
    return len(old) == len(new) and any(
        forms.shape(line.shape) != forms.shape(other.shape) for line, other in pairs
    )


def _kept_pairs(search: Search) -> list[tuple[Node, Node]]:
    """Return kept lines at the border of the difference, with the same lines on the other side."""
    kept = [node for node in search.before.users if node.kept]
    pairs = ((node, search.itself_after(node)) for node in kept)
    return [(node, other) for node, other in pairs if other is not None]


def _number_computations(
    before: HloModule, after: HloModule, correspondence: Correspondence
) -> tuple[dict[str, int], dict[str, int]]:
    """Return a number for each computation: paired and shared ones have the same on both sides."""
    old = {computation.name: number for number, computation in enumerate(before.computations)}
    new: dict[str, int] = {}
    for number, computation in enumerate(after.computations, start=len(old)):
        partner = correspondence.partners.get(
            computation.name, "" if computation.name in correspondence.after else computation.name
        )
        new[computation.name] = old.get(partner, number)
    return old, new


def _callees(
    correspondence: Correspondence, contents: tuple[Contents, Contents], here: int
) -> Callable[[str], int]:
    """Return value numbers of called computations; paired ones have equal numbers."""
    if here == 0:
        return contents[0].of

    def token(name: str) -> int:
        partner = correspondence.partners.get(name)
        return contents[1].of(name) if partner is None else contents[0].of(partner)

    return token
