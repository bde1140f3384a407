"""Buffer assignments as text, with the values and live ranges that old files hold as well."""

from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.buffer_values import read_buffer_values
from xlareport.readers.live_range import read_live_range


def check(data: bytes) -> None:
    """Read the data with all three readers that old files are for."""
    assigned, problems = read_buffer_assignment(data, "a")
    assert problems or not data.strip() or data.startswith(b"BufferAssignment:")
    assert all(one.kind for one in assigned.allocations)
    read_buffer_values(data, "a")
    live, problems = read_live_range(data, "a")
    assert live is not None or problems or b"\nHloLiveRange (" not in data
