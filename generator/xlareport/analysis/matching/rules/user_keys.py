"""What users of a value have in common with the users of its counterpart."""

from collections.abc import Callable, Hashable

from xlareport.analysis.matching.rules.shares import place_keys
from xlareport.analysis.matching.search.nodes import is_array_call, origin, sharding
from xlareport.analysis.matching.search.search import Search
from xlareport.analysis.matching.sides.graph import Node, opcode_of

SHARED = {
    "form": "opcode, shape and attributes",
    "rough_form": "opcode and shape",
    "origin": "opcode and op_name",
    "edge": "sharding",
    "stack_key": "opcode, op_name and Python stack",
}
"""In words what users share, by the name of the key."""
_STAYING = {"get-tuple-element": "index", "reduce": "dimensions"}
"""By opcode, the attribute that stays where work is divided."""


class UserKeys:
    """Keys by which two users of a value and of its counterpart are alike."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.crosses = any(map(is_array_call, search.before.open()))
        """Whether calls at the edges of `shard_map` may have become copies."""
        self._says_where = self.crosses and any(map(sharding, search.after.open()))
        """Whether the copies still have the shardings of these calls."""
        self.lines = place_keys(search)
        """Keys with the Python stack, where work is divided."""

    @property
    def keys(self) -> tuple[Callable[[Node], Hashable], ...]:
        """The keys, the surest first."""
        return (self.form, self.rough_form, self.origin, *self.of_places)

    @property
    def of_places(self) -> tuple[Callable[[Node], Hashable], ...]:
        """The keys that say where in the program a user is, as shape and op_name do not."""
        edges = (self.edge,) if self.crosses else ()
        return (*edges, *self.lines)

    def form(self, node: Node) -> Hashable:
        """Return opcode, shape and attributes."""
        return (self._search.forms.of(node.instruction), self._divided_op(node))

    def rough_form(self, node: Node) -> Hashable:
        """Return opcode and shape, and what stays of the attributes where work is divided."""
        form = self._search.forms.of(node.instruction)
        return (form.opcode, form.shape, self._divided_op(node), self._divided_numbers(node))

    def origin(self, node: Node) -> Hashable:
        """Return opcode and op_name; without an op_name a node is like no other."""
        return (node.instruction.opcode, origin(node) or node, self._divided_numbers(node))

    def edge(self, node: Node) -> Hashable:
        """Return the sharding of a node that only states where an array is; else the node."""
        if not is_array_call(node) and opcode_of(node) != "copy":
            return node
        return sharding(node) if self._says_where else ""

    def _divided_op(self, node: Node) -> str:
        """Return the framework op if work is divided: what is added for an op has its shape too."""
        return origin(node) if self._search.divided else ""

    def _divided_numbers(self, node: Node) -> str:
        """Return the dimensions of a reduce, or the index of an element, if work is divided.

        These stay, unlike the shape, which may be that of another one before.
        """
        name = _STAYING.get(opcode_of(node), "") if self._search.divided else ""
        return node.instruction.attributes.get(name, "") if name else ""
