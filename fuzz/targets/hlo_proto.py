"""Protos of HLO, packed or not."""

from targets.protos import mutated
from targets.snapshots import check_reading
from xlareport.hlo.proto import ProtoReader
from xlareport.hlo.protos.schema import message_class


def check(data: bytes) -> None:
    """Read the data as a snapshot of a module."""
    check_reading(ProtoReader(), data)


def mutate(data: bytes, size: int, seed: int) -> bytes:
    """Change a field somewhere in the data, as far as they are a proto."""
    return mutated(message_class("HloProto")(), data, size, seed)
