"""Modules from texts in the tests and from the dumps of the repository; a layout of a drawing."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.modules import parse_module

from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.pictures.dot_text import dot_text
from xlareport.pictures.drawing import Drawing
from xlareport.pictures.layout import Layout
from xlareport.pictures.layout_pool import LayoutPool

ReadModule: TypeAlias = Callable[[str], HloModule]
ReadFile: TypeAlias = Callable[[str, str], HloModule]
LayOut: TypeAlias = Callable[[Drawing], Layout]


@pytest.fixture(scope="session")
def module_of() -> ReadModule:
    """Return a function: the computations of a module as text -> the module."""

    def read(computations: str) -> HloModule:
        return parse_module(f"HloModule m\n\n{computations.strip()}\n")

    return read


@pytest.fixture(scope="session")
def dumped(unpacked: Callable[[str], Path]) -> ReadFile:
    """Return a function: a dump and the end of a file's name -> the module in that file."""
    reader = TextReader()

    def read(dump: str, ending: str) -> HloModule:
        files = sorted(path for path in unpacked(dump).iterdir() if path.name.endswith(ending))
        module = reader.read(files[0].read_bytes(), files[0].name)
        assert module is not None
        return module

    return read


@pytest.fixture(scope="session")
def lay_out() -> LayOut:
    """Return a function that lays a drawing out with Graphviz."""

    def laid(drawing: Drawing) -> Layout:
        with LayoutPool(1, time_limit=30) as pool:
            [(_, layout)] = pool.layout_many([("drawing", dot_text(drawing))])
        assert isinstance(layout, Layout), layout
        return layout

    return laid


@pytest.fixture(scope="session")
def parse() -> Callable[[str], ET.Element]:
    """Return a function that reads XML of our own."""
    return ET.fromstring
