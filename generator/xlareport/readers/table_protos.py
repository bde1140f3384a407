"""Message classes made from a TOML table beside the readers: a message, its fields by name."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_KINDS = descriptor_pb2.FieldDescriptorProto


@cache
def message_class(table: str, name: str) -> Any:
    """Return the class of a message that `<table>.toml` describes."""
    package = f"xlareport.{table}"
    written = tomllib.loads(files(__package__).joinpath(f"{table}.toml").read_text("utf-8"))
    described = descriptor_pb2.FileDescriptorProto(
        name=f"{table}.proto",
        package=package,
        message_type=[
            descriptor_pb2.DescriptorProto(
                name=message, field=[_field(package, key, *value) for key, value in fields.items()]
            )
            for message, fields in written.items()
        ],
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(described)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))


def _field(package: str, name: str, number: int, kind: str) -> descriptor_pb2.FieldDescriptorProto:
    result = _KINDS(name=name, number=number)
    result.label = _KINDS.LABEL_REPEATED if kind.startswith("*") else _KINDS.LABEL_OPTIONAL
    plain = kind.removeprefix("*")
    if plain[0].isupper():
        result.type, result.type_name = _KINDS.TYPE_MESSAGE, f".{package}.{plain}"
    else:
        result.type = _KINDS.Type.Value(f"TYPE_{plain.upper()}")
    return result
