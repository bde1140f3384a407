"""The HLO model: module, computation, instruction, shape.

Sharing is the model. What is parsed from a line depends on nothing but the line, so equal lines are
one `Instruction`; equal computations are one `Computation`; equal files are one `HloModule`. Names
stay names: the computation resolves operands, the module resolves called computations and stack
frames. Everything derived is computed on first use and kept with the object that it belongs to.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

from msgspec import Struct, field

from xlareport.hlo.attributes import AttributeList, Metadata, split_attributes
from xlareport.hlo.shape import Shape
from xlareport.runtime.whole_numbers import parse_whole_number

_LONGEST_REPR = 60
_ZEROS = frozenset({"0", "-0", "0.0", "false"})
_TILES = re.compile(r"\bdevices=\[(\d{1,9}(?:,\d{1,9}){0,30})\]")
_PARTITIONED = re.compile(r"_spmd(?:\.|\Z)")
_MOST_DEVICES = 1_000_000_000
"""Partitions or replicas; a larger number in a header cannot be meant."""


def _short(text: str) -> str:
    return (
        text
        if len(text) <= _LONGEST_REPR
        else f"{text[: _LONGEST_REPR - 1]}\N{HORIZONTAL ELLIPSIS}"
    )


InstructionKey = tuple[str, str]
"""(computation name, instruction name)."""


class Instruction(Struct, eq=False):
    """One instruction, independent of its computation. Compared by identity."""

    name: str
    """Without `%`."""
    opcode: str
    shape: Shape
    operands: tuple[str, ...]
    """Names without `%`, in order; `while.6#1` is a compact tuple element."""
    argument: str
    """The text in parentheses if it is no operand: `parameter(0)`, `constant(3)`."""
    is_root: bool
    attributes_text: str
    """All after the closing parenthesis of the operands, without the leading comma."""
    text: str
    """The line as written, without indentation; generated if there was no text."""
    attribute_list: AttributeList | None = None
    """Data derived from `attributes_text`; shared by instructions with the same text."""
    operand_names: tuple[str, ...] = ()
    """Operands without tuple elements: `while.6#1` gives `while.6`."""

    def __post_init__(self) -> None:
        """Set the names of the operands, which are read millions of times."""
        names = self.operands
        if "#" in "".join(names):
            names = tuple([operand.partition("#")[0] for operand in names])
        self.operand_names = names

    def __repr__(self) -> str:
        return f"<Instruction %{self.name} = {_short(self.shape.text)} {self.opcode}>"

    @property
    def attributes(self) -> Mapping[str, str]:
        """Top-level attributes in order, values as written: `{"dimensions": "{0,1}"}`."""
        return (self.attribute_list or self._attribute_list()).values

    @property
    def called(self) -> tuple[tuple[str, str], ...]:
        """Called computations as (attribute, computation name): `(("body", "region_0.5"), ...)`."""
        return (self.attribute_list or self._attribute_list()).called

    @property
    def call_target(self) -> str:
        """The `custom_call_target` without quotes; empty where there is none."""
        return self.attributes.get("custom_call_target", "").strip('"')

    @property
    def is_zero(self) -> bool:
        """Whether it is a constant whose text is a zero."""
        return self.opcode == "constant" and self.argument.strip() in _ZEROS

    @property
    def metadata(self) -> Metadata:
        """The framework's metadata of the instruction; empty if there is none."""
        return (self.attribute_list or self._attribute_list()).metadata

    @property
    def taken_element(self) -> int | None:
        """The number of the element that a `get-tuple-element` takes; None for other opcodes."""
        return parse_whole_number(self.attributes.get("index", ""))

    def _attribute_list(self) -> AttributeList:
        attribute_list = self.attribute_list = AttributeList(self.attributes_text)
        return attribute_list


class Computation(Struct, eq=False, dict=True, weakref=True):
    """A computation: header and instructions. Compared by identity; equal ones are shared."""

    name: str
    header: str
    """The line up to `{`, as written: `ENTRY %main (a: f32[2,3]) -> f32[2,3]`."""
    instructions: tuple[Instruction, ...]
    is_entry: bool
    execution_thread: str = "main"

    def __repr__(self) -> str:
        return f"<Computation {self.name}: {len(self.instructions):,} instructions>"

    @cached_property
    def by_name(self) -> Mapping[str, Instruction]:
        """Instructions by name; the first one where a name is given twice."""
        return {instruction.name: instruction for instruction in reversed(self.instructions)}

    @cached_property
    def root(self) -> Instruction | None:
        """The instruction marked ROOT, else the last."""
        marked = (instruction for instruction in self.instructions if instruction.is_root)
        return next(marked, self.instructions[-1] if self.instructions else None)

    @cached_property
    def parameters(self) -> tuple[Instruction, ...]:
        """The parameters by number."""
        instructions = [
            instruction for instruction in self.instructions if instruction.opcode == "parameter"
        ]
        return tuple(
            sorted(
                instructions, key=lambda instruction: parse_whole_number(instruction.argument) or 0
            )
        )

    @cached_property
    def calling(self) -> tuple[Instruction, ...]:
        """The instructions that call computations, in order."""
        return tuple([line for line in self.instructions if line.called])

    def operand(self, user: Instruction, number: int = 0) -> Instruction | None:
        """Return the instruction that an operand of another one names; None if there is none."""
        names = user.operand_names
        return self.by_name.get(names[number]) if number < len(names) else None

    def behind(
        self, line: Instruction | None, opcodes: Collection[str], most: int
    ) -> Instruction | None:
        """Return what an instruction has the first operand of, through so many of some opcodes.

        The instruction itself if it has another opcode; None if an operand is not known.
        """
        for _ in range(most):
            if line is None or line.opcode not in opcodes or not line.operands:
                break
            line = self.operand(line)
        return line

    def operands(self, user: Instruction) -> list[Instruction | None]:
        """Return the instruction behind each operand of another one; None where it is unknown."""
        return [self.by_name.get(name) for name in user.operand_names]

    @cached_property
    def users(self) -> Mapping[str, tuple[Instruction, ...]]:
        """The users of each instruction, in order, by the name of the instruction used."""
        users: dict[str, list[Instruction]] = {}
        for instruction in self.instructions:
            names = instruction.operand_names
            for name in names if len(names) < 2 else dict.fromkeys(names):
                users.setdefault(name, []).append(instruction)
        return {name: tuple(user) for name, user in users.items()}

    def drop_derived(self) -> None:
        """Free what is derived from it, but for `by_name`; it is derived anew on use."""
        derived = vars(self)
        by_name = derived.get("by_name")
        derived.clear()
        if by_name is not None:
            derived["by_name"] = by_name


class StackFrame(Struct, frozen=True):
    """A frame of a Python stack at which the framework made an instruction."""

    file: str
    function: str
    line: int
    column: int | None
    """None if XLA says 0, which may be the first column or unknown."""
    parent: int | None
    """The id of the calling frame."""


class ComputationCall(NamedTuple):
    """A call of a computation."""

    role: str
    """The attribute that names the computation: `body`, `to_apply`, ..."""
    computation: Computation
    """The caller's."""
    instruction: Instruction


class HloModule(Struct, eq=False, dict=True, weakref=True):
    """A snapshot of a module: the content of a single text, proto or dot file."""

    name: str
    header: str
    """The first line after `HloModule NAME, `: module attributes as written."""
    computations: tuple[Computation, ...]
    """In the order of the file: callees first, entry last, in today's dialects."""
    stack_frames: Mapping[int, StackFrame] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<HloModule {self.name}: {len(self.computations):,} computations>"

    @cached_property
    def attributes(self) -> Mapping[str, str]:
        """Module attributes in order, values as written: `is_scheduled`, `num_partitions`..."""
        return split_attributes(self.header)

    @cached_property
    def is_scheduled(self) -> bool:
        """Whether the order of the lines is the order of execution."""
        return self.attributes.get("is_scheduled") == "true"

    @cached_property
    def partition_count(self) -> int:
        """`num_partitions` of the header, else of the shardings after partitioning, else 1.

        Texts before 2024 (jaxlib 0.4.20) and drawings do not state it.
        """
        if "num_partitions" in self.attributes or not self.is_named_as_partitioned:
            return self._count("num_partitions")
        shardings = (parameter.attributes.get("sharding", "") for parameter in self.parameters)
        tiles = (_TILES.search(sharding) for sharding in shardings)
        counts = (prod(map(int, match[1].split(","))) for match in tiles if match)
        return next((count for count in counts if count < _MOST_DEVICES), 1)

    @property
    def is_named_as_partitioned(self) -> bool:
        """Whether the entry has the name that the SPMD partitioner gives: `main_spmd`."""
        return self.entry is not None and _PARTITIONED.search(self.entry.name) is not None

    @cached_property
    def replica_count(self) -> int:
        """`replica_count` of the header; 1 where it is not written."""
        return self._count("replica_count")

    def _count(self, name: str) -> int:
        count = parse_whole_number(self.attributes.get(name, "1")) or 1
        return count if count < _MOST_DEVICES else 1

    @cached_property
    def by_name(self) -> Mapping[str, Computation]:
        """Computations by name."""
        return {computation.name: computation for computation in self.computations}

    @cached_property
    def entry(self) -> Computation | None:
        """The entry computation, else the last one; None in an empty module."""
        marked = (computation for computation in self.computations if computation.is_entry)
        return next(marked, self.computations[-1] if self.computations else None)

    @property
    def parameters(self) -> tuple[Instruction, ...]:
        """The parameters of the entry computation by number."""
        return self.entry.parameters if self.entry is not None else ()

    @cached_property
    def calls(self) -> Mapping[str, Sequence[ComputationCall]]:
        """The calls of each computation that is called, in the order of the callers."""
        calls: dict[str, list[ComputationCall]] = {}
        for computation in self.computations:
            for line in computation.calling:
                for role, name in line.called:
                    calls.setdefault(name, []).append(ComputationCall(role, computation, line))
        return calls

    def sole_calls(
        self, counts: Callable[[ComputationCall], bool]
    ) -> Mapping[str, tuple[Computation, Instruction]]:
        """Return the caller of each computation of whose calls just one counts."""
        counted = {name: list(filter(counts, calls)) for name, calls in self.calls.items()}
        return {name: calls[0][1:] for name, calls in counted.items() if len(calls) == 1}

    @cached_property
    def only_loops(self) -> Mapping[str, tuple[Computation, Instruction]]:
        """The loop of each body that belongs to one loop alone, with the loop's computation."""
        return self.sole_calls(
            lambda call: call.instruction.opcode == "while" and call.role == "body"
        )

    @property
    def instructions(self) -> Iterator[Instruction]:
        """Every instruction, computation by computation."""
        for computation in self.computations:
            yield from computation.instructions

    @property
    def placed(self) -> Iterator[tuple[Computation, Instruction]]:
        """Every instruction with its computation."""
        for computation in self.computations:
            for instruction in computation.instructions:
                yield computation, instruction

    def find(self, computation: str, instruction: str) -> Instruction | None:
        """Return an instruction by the two names of its place; None where there is none."""
        home = self.by_name.get(computation)
        return None if home is None else home.by_name.get(instruction)

    def callee(self, instruction: Instruction, role: str = "") -> Computation | None:
        """Return the computation that an instruction calls first, or in a role such as `body`."""
        names = (name for attribute, name in instruction.called if role in ("", attribute))
        return self.by_name.get(next(names, ""))

    def callees(self, instruction: Instruction) -> list[Computation]:
        """Return the computations that an instruction calls, as far as the module has them."""
        return [self.by_name[name] for _, name in instruction.called if name in self.by_name]

    @cached_property
    def instruction_count(self) -> int:
        """Instructions as written; compact texts leave out get-tuple-element."""
        return sum(len(computation.instructions) for computation in self.computations)
