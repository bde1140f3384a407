"""The line of the user's program that an instruction comes from: file, line and function.

There are two generations: `source_file` and `source_line` at each instruction, and since 2025 a
`stack_frame_id` into tables of frames. The innermost frame of user code counts.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from xlareport.hlo.model import HloModule, Instruction
from xlareport.runtime.remembered import remembered

_FRAMEWORK = re.compile(r"site-packages|dist-packages|/lib/python3|<frozen|<string>")
PLACEHOLDERS = frozenset({"-", "<unknown>", "dummy_file_name", ""})
"""Placeholders for an unknown file; the third is TensorFlow's for clusters, with line 10."""
_Key = tuple[str, int | None, int | None]


class SourcePlace(Struct, frozen=True):
    """A line of a source file."""

    file: str
    """The path as the dump writes it."""
    line: int | None
    """Counted from 1; None where only the file is known."""
    function: str = ""
    """Empty where the dump does not say."""

    @property
    def text(self) -> str:
        """The whole path with the line: `/home/me/train.py:12`."""
        return f"{self.file}:{'?' if self.line is None else self.line}"

    @property
    def short(self) -> str:
        """The file's own name with the line: `train.py:12`."""
        name = self.file.replace("\\", "/").rsplit("/", 1)[-1]
        return f"{name}:{'?' if self.line is None else self.line}"


def place_of(instruction: Instruction, module: HloModule) -> SourcePlace | None:
    """Return the innermost place in user code, else the innermost; None if unknown.

    A place at the instruction itself takes precedence over the stack.
    """
    metadata = instruction.metadata
    if metadata.source_file not in PLACEHOLDERS:
        return SourcePlace(metadata.source_file, metadata.source_line)
    return find_user_frame(walk_stack(metadata.stack_frame_id, module))


def find_source(instruction: Instruction, module: HloModule) -> str:
    """Return `file.py:12`: the innermost frame that is the user's, else the innermost."""
    place = place_of(instruction, module)
    return place.short if place else ""


def places_of(module: HloModule) -> Callable[[Instruction], SourcePlace | None]:
    """Return `place_of` for one module, with a cache for equal metadata.

    A fusion without a place has that of its root.
    """
    places: dict[_Key, SourcePlace | None] = {}

    def own(instruction: Instruction) -> SourcePlace | None:
        metadata = instruction.metadata
        key = (metadata.source_file, metadata.source_line, metadata.stack_frame_id)
        if key not in places:
            places[key] = place_of(instruction, module)
        return places[key]

    def place(instruction: Instruction) -> SourcePlace | None:
        root = fused_root(instruction, module)
        return own(instruction) or (own(root) if root is not None else None)

    return place


@remembered  # origins and source lines ask for those of the same final snapshot
def places_by_op(module: HloModule) -> Mapping[str, SourcePlace]:
    """Return the lines of the op_names of a module that have one line."""
    place_of_line = places_of(module)
    places: dict[str, dict[str, SourcePlace]] = {}
    for instruction in module.instructions:
        op_name, place = instruction.metadata.op_name, place_of_line(instruction)
        if op_name and place is not None:
            places.setdefault(op_name, {})[place.text] = place
    return {op_name: next(iter(by.values())) for op_name, by in places.items() if len(by) == 1}


def op_name_of(instruction: Instruction, module: HloModule) -> str:
    """Return the framework op; for a fusion without one, that of its root."""
    op_name = instruction.metadata.op_name
    root = None if op_name else fused_root(instruction, module)
    return op_name if root is None else root.metadata.op_name


def fused_root(instruction: Instruction, module: HloModule) -> Instruction | None:
    """Return the root of what a fusion fused; None for anything else."""
    fused = module.callees(instruction) if instruction.opcode == "fusion" else ()
    return fused[0].root if fused else None


def find_user_frame(frames: Iterator[SourcePlace]) -> SourcePlace | None:
    """Return the first place, of the innermost outwards, that is the user's; else the first."""
    first = None
    for frame in frames:
        if not is_framework(frame.file):
            return frame
        first = first or frame
    return first


@lru_cache(maxsize=4_096)
def is_framework(path: str) -> bool:
    """Return whether a path is in an installed package, not in the user's program."""
    return _FRAMEWORK.search(path) is not None


def walk_stack(frame_id: int | None, module: HloModule) -> Iterator[SourcePlace]:
    """Walk a stack from the innermost frame outwards; a circle ends the walk."""
    seen: set[int] = set()
    while frame_id is not None and frame_id in module.stack_frames and frame_id not in seen:
        seen.add(frame_id)
        frame = module.stack_frames[frame_id]
        yield SourcePlace(frame.file, frame.line, frame.function)
        frame_id = frame.parent


def user_functions(instruction: Instruction, module: HloModule) -> tuple[str, ...]:
    """Return the functions of the user's program in a stack, each once, the innermost first."""
    stack = walk_stack(instruction.metadata.stack_frame_id, module)
    named = (frame.function for frame in stack if not is_framework(frame.file))
    return tuple(dict.fromkeys(filter(None, named)))


def find_call_site(
    instruction: Instruction, module: HloModule, place: SourcePlace
) -> SourcePlace | None:
    """Return the place in user code that calls the function of a place; None if unknown."""
    stack = walk_stack(instruction.metadata.stack_frame_id, module)
    users = (frame for frame in stack if not is_framework(frame.file))
    inside = next((frame for frame in users if frame.text == place.text), None)
    return next(users, None) if inside is not None else None


def short_function(name: str) -> str:
    """Return a function's qualified name without the functions around it."""
    return name.rpartition("<locals>.")[2]


SourceOf = Callable[[Instruction], SourcePlace | None]


class PlacedInstruction(Instruction, kw_only=True, eq=False):
    """An instruction of a snapshot, with its source lines."""

    _source_of: SourceOf

    @staticmethod
    def of(instruction: Instruction, source_of: SourceOf) -> "PlacedInstruction":
        """Return the instruction with all its fields, and the source that the function finds."""
        values = (getattr(instruction, name) for name in Instruction.__struct_fields__)
        return PlacedInstruction(*values, _source_of=source_of)

    @property
    def source(self) -> SourcePlace | None:
        """File, line and function of the user's program; None where they are not known."""
        return self._source_of(self)
