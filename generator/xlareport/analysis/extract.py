"""A computation, or an instruction with its operands, as a module that XLA can parse.

The smallest text for a compiler bug report: the chosen part and every computation that it calls,
without schedule, aliasing and entry layout of its module.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlareport.hlo.graph import called_computations
from xlareport.hlo.model import Computation, HloModule, Instruction, StackFrame

_KEPT = ("replica_count", "num_partitions")
_ENTRY = re.compile(r"(?:ENTRY\s+)?")
_FRAME = re.compile(r"\bstack_frame_id=\d+")
_CONTROL = re.compile(r",\s*control-predecessors=\{[^{}]*\}")


def cut_computation(module: HloModule, name: str) -> str:
    """Return the text of a module with the computation as entry; raises KeyError."""
    chosen = module.by_name[name]
    lines = [
        _line_with_source(instruction, module.stack_frames) for instruction in chosen.instructions
    ]
    called = _called(module, chosen.instructions, {name})
    return _module(module, name, called, [_opened(chosen), *_indented(lines), "}"])


def cut_instruction(module: HloModule, computation: str, name: str, radius: int = 0) -> str:
    """Return the text of a module with this instruction as root; raises KeyError.

    Producers up to a distance of `radius` are included; further operands become parameters.
    """
    around = module.by_name[computation]
    root = around.by_name[name]
    taken = _producers(around, root, radius)
    instructions = [instruction for instruction in around.instructions if instruction.name in taken]
    fed = dict.fromkeys(
        operand
        for instruction in instructions
        for operand in instruction.operand_names
        if operand not in taken
    )
    given = [around.by_name[operand] for operand in fed if operand in around.by_name]
    lines = [
        f"%{instruction.name} = {instruction.shape.text} parameter({place})"
        for place, instruction in enumerate(given)
    ]
    lines += [
        _line_alone(instruction, module.stack_frames, is_root=instruction is root)
        for instruction in instructions
    ]
    called = _called(module, instructions, set())
    return _module(module, name, called, ["ENTRY %cut {", *_indented(lines), "}"])


def _producers(computation: Computation, root: Instruction, radius: int) -> set[str]:
    """Return the names of the instruction and of its producers; parameters are left outside."""
    taken = {root.name}
    edge = [root]
    for _ in range(radius):
        names = {name for instruction in edge for name in instruction.operand_names} - taken
        instructions = (computation.by_name.get(name) for name in names)
        edge = [
            instruction
            for instruction in instructions
            if instruction is not None and instruction.opcode != "parameter"
        ]
        taken |= {instruction.name for instruction in edge}
    return taken


def _called(
    module: HloModule, instructions: Iterable[Instruction], without: set[str]
) -> list[Computation]:
    """Return every computation that is called, however far, in the order of the module."""
    reached = called_computations(module, instructions, without)
    return [computation for computation in module.computations if computation.name in reached]


def _module(
    module: HloModule, name: str, called: Sequence[Computation], entry: Sequence[str]
) -> str:
    attributes = [f", {key}={module.attributes[key]}" for key in _KEPT if key in module.attributes]
    title = re.sub(r"[^\w.-]", "_", f"{module.name}.{name}", flags=re.ASCII)
    blocks = [f"HloModule {title}{''.join(attributes)}"]
    blocks += [
        "\n".join(_computation_lines(computation, module.stack_frames)) for computation in called
    ]
    return "\n\n".join([*blocks, "\n".join(entry)]) + "\n"


def _computation_lines(computation: Computation, frames: Mapping[int, StackFrame]) -> Iterator[str]:
    yield f"{_ENTRY.sub('', computation.header, count=1).strip()} {{"
    yield from _indented(
        _line_with_source(instruction, frames) for instruction in computation.instructions
    )
    thread = computation.execution_thread
    yield "}" if thread == "main" else f'}}, execution_thread="{thread}"'


def _opened(computation: Computation) -> str:
    return f"ENTRY {_ENTRY.sub('', computation.header, count=1).strip()} {{"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _line_alone(
    instruction: Instruction, frames: Mapping[int, StackFrame], *, is_root: bool
) -> str:
    """Return the line without the parts that only hold in its module."""
    line = _CONTROL.sub("", _line_with_source(instruction, frames).removeprefix("ROOT "))
    if instruction.opcode == "parameter":  # only the chosen one can be, and it is then the only one
        line = f"%{instruction.name} = {instruction.shape.text} parameter(0)"
    return f"ROOT {line}" if is_root else line


def _line_with_source(instruction: Instruction, frames: Mapping[int, StackFrame]) -> str:
    """Return the line with its source written out: the tables of frames are not taken along."""
    frame = frames.get(instruction.metadata.stack_frame_id or 0)
    place = ""
    if frame is not None and "\\" not in frame.file and '"' not in frame.file:
        place = f'source_file="{frame.file}" source_line={frame.line}'
    return _FRAME.sub(lambda _: place, instruction.text)
