"""Reads the tables that the work on nearly every module needs, for processes that are forked."""

from xlareport.dump.grammar import module_forms
from xlareport.dump.tokens import table
from xlareport.knowledge import kinds, memory_spaces, opcodes, passes, stages


def read_tables() -> None:
    """Read them, so that no process forked from now on does it again."""
    kinds.all_entries()
    memory_spaces.memory_spaces()
    opcodes.all_entries()
    passes.all_entries()
    stages.all_entries()
    for name in ("meanings", "module_words"):
        table(name)
    module_forms()
