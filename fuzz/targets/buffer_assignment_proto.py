"""Buffer assignments in protos."""

from targets.protos import mutated
from xlareport.readers.buffer_assignment import read_buffer_assignment_proto
from xlareport.readers.table_protos import message_class


def check(data: bytes) -> None:
    """Read the data as a proto that may hold an assignment."""
    found, problems = read_buffer_assignment_proto(data, "a")
    assert found is None or not problems
    assert all(one.kind for one in found.allocations) if found else True


def mutate(data: bytes, size: int, seed: int) -> bytes:
    """Change a field somewhere in the data, as far as they are a proto."""
    return mutated(message_class("buffer_assignment", "HloProto")(), data, size, seed)
