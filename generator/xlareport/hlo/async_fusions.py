"""Collectives that several fusions execute one after the other, as XLA:TPU writes them."""

from xlareport.hlo.model import Computation, Instruction

_HALF = "AsyncCollective"
"""The beginning of the targets of the custom calls that begin and end such a collective."""
_CHAIN = "chain_id="
"""What the frontend attributes of its parts have, which are copies of the collective."""


def is_async_piece(home: Computation, instruction: Instruction) -> bool:
    """Return whether a collective in a fusion is one of several pieces of an asynchronous one."""
    root = home.root
    ends = root is not None and _HALF in root.attributes_text
    return ends or _CHAIN in instruction.attributes.get("frontend_attributes", "")
