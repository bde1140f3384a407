"""The custom calls that a Pallas kernel of Mosaic's was compiled for.

Mosaic's files name neither the module nor the instruction. The kernel's name is in the scope of its
call, and its grid fits the shapes of few calls.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from xlareport.analysis.code.files import CodeLink
from xlareport.analysis.code.links import CodeOrigin
from xlareport.analysis.code.reading import code_file
from xlareport.analysis.cost.custom_calls import target_of
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.program import CodeText
from xlareport.readers.mosaic import MosaicKernel, read_mosaic

_TARGET = "tpu_custom_call"


def mosaic_links(
    texts: Iterable[CodeText], module: HloModule, *, alone: bool
) -> Iterator[CodeLink]:
    """Yield the files of Mosaic that may be of this module; `alone` where it is the only one."""
    calls = mosaic_calls(module)
    for text in texts:
        kernel = read_mosaic(text.content) if text.content else None
        places = mosaic_places(kernel, calls, alone=alone) if kernel else ()
        if kernel and places:
            yield CodeLink(replace(code_file(text), kernels=(kernel.name,)), places)


def mosaic_calls(module: HloModule) -> list[tuple[Computation, Instruction]]:
    """Return the instructions that run a kernel of Mosaic's, with their computations."""
    return [
        (computation, instruction)
        for computation in module.computations
        for instruction in computation.instructions
        if instruction.opcode == "custom-call" and target_of(instruction) == _TARGET
    ]


def mosaic_places(
    kernel: MosaicKernel, calls: Sequence[tuple[Computation, Instruction]], *, alone: bool
) -> tuple[CodeOrigin, ...]:
    """Return the calls that a kernel may be of; `alone` where no other module may hold them."""
    named = [call for call in calls if kernel.name in call[1].metadata.op_name.split("/")]
    fitting = [item for item in named if _fits(kernel, *item)]
    sure = alone and len(fitting) == 1
    reason = _reason(len(fitting), alone=alone)
    return tuple(
        CodeOrigin(
            kernel.name, place.name, instruction.name, "matched" if sure else "guessed", reason
        )
        for place, instruction in fitting
    )


def _reason(fitting: int, *, alone: bool) -> str:
    if fitting > 1:
        return f"{fitting} custom calls have the kernel's name in their scope, and fit its grid."
    only = "Only this custom call has the kernel's name in its scope, and shapes that fit its grid"
    return f"{only}." if alone else f"{only}; another module may have one as well."


def _fits(kernel: MosaicKernel, computation: Computation, call: Instruction) -> bool:
    """Say whether the grid can walk over the arrays of a call; what cannot be told fits."""
    shapes = [*_operands(computation, call), *_arrays(call.shape)][kernel.prefetched :]
    if len(shapes) != len(kernel.windows):
        return True
    return all(
        window.covers(shape.dimensions)
        for window, shape in zip(kernel.windows, shapes, strict=True)
        if len(shape.dimensions) == len(window.block)
    )


def _operands(computation: Computation, call: Instruction) -> Iterator[Shape]:
    for name in call.operand_names:
        operand = computation.by_name.get(name)
        if operand is not None:
            yield operand.shape


def _arrays(shape: Shape) -> tuple[Shape, ...]:
    return shape.elements or (shape,)
