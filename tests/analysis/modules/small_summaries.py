"""Summaries of modules that were never compiled."""

from xlareport.analysis.modules.module_origin import Origin
from xlareport.analysis.modules.signature import Argument, Result, Signature
from xlareport.analysis.modules.summary import ModuleFigures, ModuleSummary
from xlareport.dump.modules import ModuleFiles


def argument(number: int, size: int, *, donated: bool = False) -> Argument:
    shape = f"f32[{size // 4}]"
    return Argument(number, f"p{number}", f"p{number}", shape, size, donated, "")


def small_summary(name: str) -> ModuleSummary:
    """Return the summary of a module that does next to nothing."""
    return ModuleSummary(
        files=ModuleFiles(name, name, None, name, None, (), ()),
        display_name=name,
        origin=Origin("cpu", "jax"),
        stages=(),
        signature=Signature((argument(0, 16),), (Result("f32[4]", 16),), 1),
        final_stage=None,
        final=ModuleFigures(instructions=10, computations=1, flops=1000, bytes_accessed=1000),
        heaviest=(),
        opcodes=(("add", 10),),
        operations=(("add", 10),),
        matrix_flops=0,
        bit_flops=0,
        collectives=0,
        user_lines=0,
        settings=(),
        problems=(),
    )
