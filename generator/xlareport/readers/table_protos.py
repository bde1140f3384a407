"""The messages of the `.proto` files next to the readers."""

from functools import partial

from xlareport.runtime import proto_schema

message_class = partial(proto_schema.message_class, __package__)
"""Returns the class of a message by the name of its file and its own."""
