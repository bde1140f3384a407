"""Modules from HLO texts that a test has in it."""

from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.cost.work import ModuleCost
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.program import ParsedModule


def parse_module(text: str | bytes) -> HloModule:
    """Return the module of a whole HLO text; the test fails where there is none."""
    read = TextReader().read(text.encode() if isinstance(text, str) else text, "m.txt")
    assert read is not None
    return read


def count_final_cost(module: ParsedModule) -> ModuleCost:
    """Return the cost of the final snapshot; the test fails where there is none."""
    costed = cost_module(module, None)
    assert costed is not None
    return costed.cost
