"""Message classes made from `.proto` files as they are read: no compiler, no generated code.

The files hold flat messages with one field a line. Names follow XLA's; enums are int64 and texts
bytes (so that a text that is not UTF-8 costs one name and not the file).
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_MESSAGE = re.compile(r"message (\w+) \{")
_FIELD = re.compile(r"  (optional|repeated) (\w+) (\w+) = (\d+);")
_KINDS = descriptor_pb2.FieldDescriptorProto

Message = Any
"""A protobuf message; the library gives its classes no types."""


@cache
def message_class(package: str, file: str, name: str) -> type[Message]:
    """Return the class of a message that `<file>.proto` in a package describes."""
    described = _pool(package, file).FindMessageTypeByName(f"xlareport.{file}.{name}")
    message: type[Message] = message_factory.GetMessageClass(described)
    return message


@cache
def _pool(package: str, file: str) -> descriptor_pool.DescriptorPool:
    text = files(package).joinpath(f"{file}.proto").read_text("utf-8")
    scope = f"xlareport.{file}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(
        descriptor_pb2.FileDescriptorProto(
            name=f"xlareport/{file}.proto", package=scope, message_type=_messages(text, scope)
        )
    )
    return pool


def _messages(text: str, scope: str) -> Iterator[descriptor_pb2.DescriptorProto]:
    for block in text.split("\n}\n"):
        named = _MESSAGE.search(block)
        if named:
            fields = [_field(scope, *item) for item in _FIELD.findall(block)]
            yield descriptor_pb2.DescriptorProto(name=named[1], field=fields)


def _field(
    scope: str, label: str, kind: str, name: str, number: str
) -> descriptor_pb2.FieldDescriptorProto:
    field = _KINDS(name=name, number=int(number))
    field.label = _KINDS.Label.Value(f"LABEL_{label.upper()}")
    if kind[0].isupper():
        field.type, field.type_name = _KINDS.TYPE_MESSAGE, f".{scope}.{kind}"
    else:
        field.type = _KINDS.Type.Value(f"TYPE_{kind.upper()}")
    return field
