"""The contents of a module that determine its role, and its embedded constants."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from heapq import nlargest

from msgspec import Struct

from xlareport.analysis.modules.signature import Signature, read_signature
from xlareport.analysis.source.locations import PLACEHOLDERS
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.knowledge.opcodes import opcode_work

_LARGEST = 10


class EmbeddedConstant(Struct, frozen=True):
    """A constant with its size."""

    computation: str
    name: str
    shape: str
    bytes: int


class Weights(Struct, frozen=True):
    """The total of a module's constants, and the largest ones."""

    constants: int
    bytes: int
    """Bytes of constants with known shapes; dumps often omit values, but never shapes."""
    largest: tuple[EmbeddedConstant, ...]


NO_WEIGHTS = Weights(0, 0, ())
"""The weights of a module that could not be read."""


def find_weights(module: HloModule) -> Weights:
    """Measure the constants of a module, the largest first."""
    embedded_constants = [
        EmbeddedConstant(
            computation.name,
            instruction.name,
            instruction.shape.text,
            instruction.shape.byte_size or 0,
        )
        for computation, instruction in module.placed
        if instruction.opcode == "constant"
    ]
    largest = nlargest(
        _LARGEST, embedded_constants, key=lambda embedded_constant: embedded_constant.bytes
    )
    return Weights(
        len(embedded_constants),
        sum(embedded_constant.bytes for embedded_constant in embedded_constants),
        tuple(largest),
    )


_PLUMBING = frozenset(
    {"parameter", "constant", "tuple", "get-tuple-element", "call", "bitcast", "copy", "after-all"}
)
_GENERATORS = frozenset({"rng-bit-generator", "rng", "rng-get-and-update-state"})
_NOTHING_GIVEN = Signature((), (), 1)
_SCALARS_KEPT = 200
_PLACES_KEPT = 400


class CollectiveCall(Struct, frozen=True):
    """A collective in module order, as far as all devices must agree on it."""

    opcode: str
    shape: str
    groups: str

    def __str__(self) -> str:
        return f"{self.opcode} {self.shape}" + (f" over {self.groups}" if self.groups else "")


class Features(Struct, frozen=True):
    """Features of a module's contents; empty if no snapshot could be read."""

    given: Signature = _NOTHING_GIVEN
    """The entry signature as the module came in, before it was partitioned."""
    operations: tuple[tuple[str, int], ...] = ()
    """Opcodes of the input module with effects, with their counts."""
    places: tuple[str, ...] = ()
    """Source places `file:line:column` of its instructions, sorted; what was called where."""
    functions: tuple[str, ...] = ()
    """Functions of the framework's stack frames, sorted."""
    scalars: tuple[str, ...] = ()
    """Scalar constants as the module came in, sorted; static values are among them."""
    content: str = ""
    """Hash of the module as it came in, without names, metadata and values of constants."""
    entry: str = ""
    """The same of the entry computation alone."""
    pieces: frozenset[str] = frozenset()
    """The same of every computation that another one calls, over all snapshots."""
    collectives: tuple[CollectiveCall, ...] = ()
    """As they are left in the optimized module."""
    weights: Weights = NO_WEIGHTS

    @property
    def operation_count(self) -> int:
        """Number of instructions of the input module with effects."""
        return sum(count for _, count in self.operations)


_SHARDINGS = frozenset({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"})
"""Targets of custom calls that only say how a value is sharded."""


def _does_something(instruction: Instruction) -> bool:
    target = instruction.call_target
    is_sharding = target in _SHARDINGS or target.startswith("xla.sdy.")
    return instruction.opcode not in _PLUMBING and not is_sharding


NO_FEATURES = Features()
"""The features of a module that could not be read."""


def extract_features(snapshots: Sequence[HloModule], final: HloModule | None) -> Features:
    """Read the features of a module off its snapshots, in their order."""
    if not snapshots or final is None:
        return NO_FEATURES
    first = snapshots[0]
    given = list(first.instructions)
    doing = Counter(instruction.opcode for instruction in given if _does_something(instruction))
    return Features(
        given=read_signature(first),
        operations=tuple(doing.most_common()),
        places=_scopes_and_places(given, first),
        functions=tuple(
            sorted({stack_frame.function for stack_frame in first.stack_frames.values()})
        ),
        scalars=tuple(sorted(_scalars(given))[:_SCALARS_KEPT]),
        content=_digest(
            sorted(_computation_hash(computation) for computation in first.computations)
        ),
        entry=_content(first.entry) if first.entry else "",
        pieces=frozenset(_pieces(snapshots)),
        collectives=tuple(_collectives(final)),
        weights=find_weights(final),
    )


def is_random_generator(features: Features) -> bool:
    """Return whether a module generates random numbers: an own opcode, or the rounds of a hash."""
    counts = dict(features.operations)
    if counts.keys() & _GENERATORS:
        return True
    rotates = counts.get("shift-left", 0) and counts.get("shift-right-logical", 0)
    return bool(rotates) and counts.get("xor", 0) >= _HASH_ROUNDS


_HASH_ROUNDS = 4
NO_FILES = PLACEHOLDERS | {"<stdin>"}
"""Placeholder file names that compilers write for programs from text."""


def _scopes_and_places(instructions: Iterable[Instruction], module: HloModule) -> tuple[str, ...]:
    scopes = {
        _source_place(instruction, module)
        for instruction in instructions
        if instruction.opcode not in _PLUMBING
    }
    return tuple(sorted(scopes - {""})[:_PLACES_KEPT])


def _source_place(instruction: Instruction, module: HloModule) -> str:
    frame = module.stack_frames.get(instruction.metadata.stack_frame_id or 0)
    if frame is not None:
        file, line, column = frame.file, frame.line, frame.column or 0
    else:
        file, line, column = (
            instruction.metadata.source_file,
            instruction.metadata.source_line or 0,
            0,
        )
    return "" if file in NO_FILES else f"{file}:{line}:{column}"


def _scalars(instructions: Iterable[Instruction]) -> Iterator[str]:
    for instruction in instructions:
        if (
            instruction.opcode == "constant"
            and not instruction.shape.dimensions
            and len(instruction.argument) < 40
        ):
            yield f"{instruction.shape.element_type}[] {instruction.argument}"


def _pieces(snapshots: Iterable[HloModule]) -> Iterator[str]:
    seen: set[Computation] = set()
    for module in snapshots:
        for computation in module.computations:
            if not computation.is_entry and computation not in seen:
                seen.add(computation)
                yield _content(computation)


_TELLING = frozenset(
    [
        "custom_call_target",
        "dim_labels",
        "dimensions",
        "direction",
        "dynamic_slice_sizes",
        "fft_type",
        "index",
        "iota_dimension",
        "lhs_batch_dims",
        "lhs_contracting_dims",
        "padding",
        "rhs_batch_dims",
        "rhs_contracting_dims",
        "slice",
        "window",
    ]
)
"""Attributes that distinguish instructions with the same opcode and shapes."""


def _computation_hash(computation: Computation) -> str:
    """Return a hash of a computation's work, including distinguishing attributes."""
    attributes = [
        f"{name} {value}"
        for instruction in computation.instructions
        for name, value in instruction.attributes.items()
        if name in _TELLING
    ]
    return _digest([_content(computation), *attributes])


def _content(computation: Computation) -> str:
    """Return a hash of a computation's work: opcodes and shapes, by operand positions."""
    places = {instruction.name: str(at) for at, instruction in enumerate(computation.instructions)}
    lines = [
        f"{instruction.opcode} {_shape_words(instruction.shape)} "
        f"{[places.get(name, '') for name in instruction.operand_names]}"
        for instruction in computation.instructions
    ]
    return _digest(lines)


@lru_cache(maxsize=1 << 13)
def _shape_words(shape: Shape) -> str:
    return ",".join(f"{member.element_type}{member.dimensions}" for member in shape.members)


def _digest(lines: Iterable[str]) -> str:
    return blake2b("\n".join(lines).encode(errors="replace"), digest_size=10).hexdigest()


def _collectives(module: HloModule) -> Iterator[CollectiveCall]:
    for instruction in module.instructions:
        opcode = instruction.opcode.removesuffix("-start")
        if opcode in opcode_work().collectives:
            groups = instruction.attributes.get(
                "replica_groups", instruction.attributes.get("source_target_pairs")
            )
            shapes = ", ".join(shape.type_and_sizes for shape in instruction.shape.members)
            yield CollectiveCall(opcode, shapes, groups or "")
