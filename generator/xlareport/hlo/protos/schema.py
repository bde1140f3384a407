"""The messages of hlo.proto."""

from functools import partial

from xlareport.runtime import proto_schema

Message = proto_schema.Message
message_class = partial(proto_schema.message_class, __package__, "hlo")
"""Returns the class of a message by its name."""
