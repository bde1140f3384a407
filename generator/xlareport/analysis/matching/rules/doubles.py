"""New instructions that compute what another new one computes, which continues an old one."""

from typing import TYPE_CHECKING

from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node

if TYPE_CHECKING:
    from collections.abc import Hashable


class Doubles:
    """New nodes that compute what another new node with a partner computes."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._partners: dict[Hashable, Node] | None = None

    def are_of_another(self, node: Node, other: Node) -> bool:
        """Return whether a new node is a further copy of what continues another old value.

        Passes copy cheap work into each fusion that reads it.
        """
        values = self._search.before.own_values, self._search.after.own_values
        if self._partners is None:
            links = self._search.links
            self._partners = {values[1].get(link.after): link.before for link in links}
        known = self._partners.get(values[1].get(other)) if other in values[1] else None
        return known is not None and values[0].get(known) != values[0].get(node)
