"""Cases for the rules: a module as text, or a file of a dump, counted for a nominal device."""

import re
from collections.abc import Callable
from typing import TypeAlias

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.cycles import add_cycles
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.findings.finding import Case
from xlareport.hlo.text import TextReader
from xlareport.knowledge.devices import Device, device_named, nominal_device

MakeCase: TypeAlias = Callable[..., Case]


@pytest.fixture(scope="session")
def case_of() -> MakeCase:
    """Return a function: the text of a module -> a case, on a nominal CPU unless a TPU is meant."""

    def make(text: str, before: str = "") -> Case:
        module = parse_module(text)
        first = TextReader().read(before.encode(), "b.txt") if before else None
        cost = add_cycles(count_cost(module), module, module)
        device = device_of(text)
        return Case(module, cost, device, before=first)

    return make


def device_of(text: str) -> Device:
    """Return a TPU where the text has tiles of one, a GPU where it has collectives, else a CPU."""
    found = device_named("TPU v5e") if "T(8,128)" in text and "estimated_cycles" in text else None
    collective = re.search("all-gather|all-reduce|all-to-all", text)
    return found or nominal_device("gpu" if collective else "cpu")
