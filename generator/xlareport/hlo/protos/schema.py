"""Message classes made from hlo.proto at import: no compiler of protos, no generated code."""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "xlareport"
_MESSAGE = re.compile(r"message (\w+) \{")
_FIELD = re.compile(r"  (optional|repeated) (\w+) (\w+) = (\d+);")
_KINDS = descriptor_pb2.FieldDescriptorProto

Message = Any
"""A protobuf message; the library gives its classes no types."""


def _described(text: str) -> Iterator[descriptor_pb2.DescriptorProto]:
    for block in text.split("\n}\n"):
        named = _MESSAGE.search(block)
        if named:
            fields = [_field(*item) for item in _FIELD.findall(block)]
            yield descriptor_pb2.DescriptorProto(name=named[1], field=fields)


def _field(label: str, kind: str, name: str, number: str) -> descriptor_pb2.FieldDescriptorProto:
    result = _KINDS(name=name, number=int(number))
    result.label = _KINDS.Label.Value(f"LABEL_{label.upper()}")
    if kind[0].isupper():
        result.type = _KINDS.TYPE_MESSAGE
        result.type_name = f".{_PACKAGE}.{kind}"
    else:
        result.type = _KINDS.Type.Value(f"TYPE_{kind.upper()}")
    return result


def _file() -> descriptor_pb2.FileDescriptorProto:
    text = files(__package__).joinpath("hlo.proto").read_text("utf-8")
    return descriptor_pb2.FileDescriptorProto(
        name="xlareport/hlo.proto", package=_PACKAGE, message_type=_described(text)
    )


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())


def message_class(name: str) -> type[Message]:
    """Return the class of a message that hlo.proto describes."""
    described = _pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")
    result: type[Message] = message_factory.GetMessageClass(described)
    return result
