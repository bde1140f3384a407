"""The groups of opcodes hold opcodes that XLA has."""

import pytest

from xlareport.hlo import opcode_groups
from xlareport.hlo.opcode_groups import OPCODES

GROUPS = {name: group for name, group in vars(opcode_groups).items() if name.isupper()}


@pytest.mark.parametrize("name", GROUPS)
def test_every_member_is_an_opcode_of_xla(name: str) -> None:
    assert GROUPS[name] <= OPCODES
