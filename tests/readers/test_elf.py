"""Sections and symbols of a real object file, and of what only begins like one."""

from pathlib import Path

import pytest
from tests.readers.parsers import DATA, Parser, without_problems

from xlareport.readers.elf import GLOBAL_FUNCTION, NO_BITS, read_sections, read_symbols

AMD = (DATA / "rocm-made/module_0003.jit_sums.hsaco").read_bytes()
PARSERS = (Parser(without_problems(read_sections), AMD, says=False),)
"""For `tests/properties/test_parsers.py`."""


CODE = Path("rocm-made/module_0003.jit_sums.hsaco")


def test_sections_and_symbols(data: Path) -> None:
    """LLVM's code object has a text, notes, and a symbol for each kernel."""
    content = (data / CODE).read_bytes()
    sections = read_sections(content)
    names = [section.name for section in sections]
    assert {".text", ".note", ".symtab"} <= set(names)
    assert sections[names.index(".note")].content(content)
    symbols = read_symbols(content, sections)
    functions = {symbol.name for symbol in symbols if symbol.info == GLOBAL_FUNCTION}
    assert functions == {"loop_add_fusion", "input_reduce_fusion"}


@pytest.mark.parametrize("size", [0, 4, 40, 64, 300, 2000])
def test_cut_off(data: Path, size: int) -> None:
    """A file that is cut off has no sections, or symbols that are not there."""
    content = (data / CODE).read_bytes()[:size]
    sections = read_sections(content)
    assert read_symbols(content, sections) == ()
    assert all(not section.content(content) for section in sections if section.type == NO_BITS)
