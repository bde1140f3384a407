"""File names: whatever they are, they are taken apart, and the parts give them back."""

from xlareport.dump.classify import classify
from xlareport.dump.instruction_names import explain_instruction
from xlareport.dump.module_names import explain_module
from xlareport.dump.tokens import joined

_MOST = 8
"""Names of one dump that are read together."""


def check(data: bytes) -> None:
    """Read each line as the path of a file of one dump, and as the names inside a file."""
    paths = data.decode("utf-8", "backslashreplace").split("\n")[:_MOST]
    found = classify(paths, lambda _: data[:100])
    assert [str(one) for one in found] == paths
    assert all(one.kind for one in found)
    for path in paths:
        assert joined(explain_module(path).tokens) == path
        assert joined(explain_instruction(path).tokens) == path
