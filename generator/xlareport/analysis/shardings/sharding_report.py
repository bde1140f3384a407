"""The shardings of a module, for its page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.shardings.meshes import ModuleMesh, find_mesh
from xlareport.analysis.shardings.partitioning import Partitioning, find_partitioning, is_sharded
from xlareport.analysis.shardings.rematerializations import (
    Rematerialization,
    find_rematerializations,
)
from xlareport.analysis.shardings.replicated_products import (
    ReplicatedProduct,
    find_replicated_products,
)
from xlareport.analysis.shardings.sharding_changes import (
    ShardingChange,
    find_changes,
    find_cut_parameters,
    split_tuple,
)
from xlareport.analysis.shardings.sharding_words import describe_tiles, words_of
from xlareport.analysis.shardings.shardy_texts import ShardyStep, list_shardy_steps
from xlareport.analysis.shardings.split_stores import SplitStore, list_split_stores
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.shape import Shape
from xlareport.hlo.shardings.mesh import Mesh
from xlareport.readers.partitioner_log import PartitionerWarning
from xlareport.readers.shardy import ShardyText

_MOST_VALUES = 5_000


class ShardedEntryValue(Struct, frozen=True):
    """A parameter or a result of the entry computation."""

    number: int
    name: str
    label: str
    """The framework's name; for a result, the op that computes it."""
    shape: str
    """Of the whole array."""
    bytes: int | None
    """Of the whole array."""
    part_bytes: int | None
    """On each device."""
    sharding: str
    """As the snapshot writes it; empty where it does not."""
    words: str
    """The sharding in words; by the sizes alone where no snapshot writes it."""


class ShardingReport(Struct, frozen=True):
    """The shardings of a module with several partitions."""

    partitions: int
    mesh: ModuleMesh | None
    partitioner: str
    """`Shardy` or `GSPMD`, which propagated the shardings; empty where neither shows."""
    parameters: tuple[ShardedEntryValue, ...]
    results: tuple[ShardedEntryValue, ...]
    uses: tuple[tuple[str, int], ...]
    """Every sharding with the number of instructions that have it, before the partitioner; of the
    parameters alone where the dump has no such snapshot."""
    changes: tuple[ShardingChange, ...] | None
    """None where the dump lacks the snapshot with the shardings of instructions."""
    rematerializations: tuple[Rematerialization, ...] | None
    """None where the dump lacks a snapshot before partitioning, or one after it."""
    is_read_fresh: bool = False
    """Whether these were looked for right after the partitioner, not in the final module."""
    shardy: tuple[ShardyStep, ...] = ()
    """The content of Shardy's texts; empty if they were not dumped."""
    warnings: tuple[PartitionerWarning, ...] = ()
    """Warnings of the partitioner in a log in the dump."""
    replicated_products: tuple[ReplicatedProduct, ...] = ()
    """Products of which several devices compute the same; empty if that is not known."""
    split_stores: tuple[SplitStore, ...] = ()
    """What loops store, with the axes that could split it; empty if instructions have none."""
    cut_parameters: tuple[tuple[int, int], ...] = ()
    """Whole parameters of which each use takes a part alone, with how many parts there are."""


def report_shardings(
    modules: Sequence[HloModule], texts: Sequence[ShardyText] = ()
) -> ShardingReport | None:
    """Return the shardings of a module by its snapshots; None for one that is not partitioned."""
    last = modules[-1] if modules else None
    partitions = last.partition_count if last is not None else 1
    if last is None or partitions < 2:
        return None
    partitioning = find_partitioning(modules)
    whole = partitioning.before if partitioning else modules[0]
    part = partitioning.after if partitioning else last
    mesh = find_mesh(list(dict.fromkeys([modules[0], whole, part])), partitions, texts)
    axes = mesh.mesh if mesh is not None else None
    parameters = tuple(_parameters(whole, part, last, axes))
    propagated = partitioning is not None and partitioning.is_propagated
    changes = _sharding_changes(partitioning, partitions, axes)
    return ShardingReport(
        partitions=partitions,
        mesh=mesh,
        partitioner=_partitioner(mesh, modules, partitioning),
        parameters=parameters,
        results=tuple(_results(whole, part, last, axes)),
        uses=_uses(whole) if propagated else _count(parameters),
        changes=changes,
        rematerializations=_rematerializations(partitioning, axes),
        shardy=list_shardy_steps(texts),
        is_read_fresh=partitioning is not None and partitioning.is_fresh,
        replicated_products=find_replicated_products(partitioning, partitions),
        split_stores=list_split_stores(whole, axes) if propagated else (),
        cut_parameters=tuple(find_cut_parameters(whole, changes or ())),
    )


def _sharding_changes(
    partitioning: Partitioning | None, partitions: int, mesh: Mesh | None
) -> tuple[ShardingChange, ...] | None:
    if partitioning is None or not partitioning.is_propagated:
        return None
    return tuple(
        describe_shardings(change, mesh) for change in find_changes(partitioning, partitions)
    )


def _rematerializations(
    partitioning: Partitioning | None, mesh: Mesh | None
) -> tuple[Rematerialization, ...] | None:
    values = find_rematerializations(partitioning)
    if values is None:
        return None
    return tuple(
        replace(
            value,
            from_words=_cut_words(value.from_sharding, value.from_tiles, mesh),
            to_words=_cut_words(value.to_sharding, value.to_tiles, mesh),
        )
        for value in values
    )


def _cut_words(text: str, tiles: tuple[int, ...], mesh: Mesh | None) -> str:
    return words_of(text, mesh) if text else describe_tiles(tiles)


_T = TypeVar("_T", ShardingChange, PartitionerWarning)


def describe_shardings(value: _T, mesh: Mesh | None) -> _T:
    """Return a value with its two shardings in words, along the axes of the mesh."""
    return replace(
        value,
        from_words=words_of(value.from_sharding, mesh),
        to_words=words_of(value.to_sharding, mesh),
    )


def _partitioner(
    mesh: ModuleMesh | None, modules: Sequence[HloModule], partitioning: Partitioning | None
) -> str:
    """Return who propagated: only Shardy keeps the names of axes."""
    if (mesh is not None and mesh.is_named) or any(
        "xla.sdy." in module.header for module in modules
    ):
        return "Shardy"
    sharded = partitioning is not None and any(map(is_sharded, partitioning.before.instructions))
    return "GSPMD" if sharded else ""


def _parameters(
    whole: HloModule, part: HloModule, last: HloModule, mesh: Mesh | None
) -> Iterator[ShardedEntryValue]:
    before = whole.parameters
    after = part.parameters
    if len(before) != len(after):
        after = before if len(before) > 0 else after
    stored = _stored([parameter.shape for parameter in last.parameters], len(before))
    rows = zip(before, after, stored, strict=False)
    for number, (old, new, final) in enumerate(list(rows)[:_MOST_VALUES]):
        written = old.attributes.get("sharding", "") or new.attributes.get("sharding", "")
        label = old.metadata.op_name or old.name
        yield _entry_value((number, old.name, label), (old.shape, new.shape, final), written, mesh)


def _stored(shapes: Sequence[Shape], count: int) -> Sequence[Shape | None]:
    """Return the shapes of the last snapshot, which pack small types; None where others count."""
    return shapes if len(shapes) == count else [None] * count


def _results(
    whole: HloModule, part: HloModule, last: HloModule, mesh: Mesh | None
) -> Iterator[ShardedEntryValue]:
    roots = [module.entry.root if module.entry else None for module in (whole, part)]
    if roots[0] is None or roots[1] is None:
        return
    old, new = _members(roots[0].shape), _members(roots[1].shape)
    final = last.entry.root if last.entry else None
    stored = _stored(_members(final.shape) if final else (), len(old))
    if len(old) != len(new):
        return
    written = roots[0].attributes.get("sharding", "")
    shardings = split_tuple(written) or (written,) * len(old)
    names = _makers(roots[0], len(old))
    for number, shapes in enumerate(list(zip(old, new, stored, strict=True))[:_MOST_VALUES]):
        sharding = shardings[number] if number < len(shardings) else ""
        yield _entry_value((number, names[number], names[number]), shapes, sharding, mesh)


def _makers(root: Instruction, count: int) -> Sequence[str]:
    names = root.operand_names if root.opcode == "tuple" else (root.name,)
    return names if len(names) == count else [root.name] * count


def _members(shape: Shape) -> Sequence[Shape]:
    return shape.elements if shape.element_type == "tuple" else (shape,)


def _entry_value(
    named: tuple[int, str, str],
    shapes: tuple[Shape, Shape, Shape | None],
    sharding: str,
    mesh: Mesh | None,
) -> ShardedEntryValue:
    whole, part, stored = shapes
    return ShardedEntryValue(
        *named,
        shape=whole.type_and_sizes,
        bytes=_stored_bytes(whole, stored),
        part_bytes=_stored_bytes(part, stored),
        sharding=sharding,
        words=words_of(sharding, mesh) if sharding else _by_size(whole, part),
    )


def _stored_bytes(shape: Shape, stored: Shape | None) -> int | None:
    """Return the bytes of a shape: `s4` takes half a byte if the last snapshot packs it."""
    if stored is None or stored.element_type != shape.element_type or not stored.element_count:
        return shape.byte_size
    if stored.byte_size is None or shape.element_count is None:
        return shape.byte_size
    return -(-shape.element_count * stored.byte_size // stored.element_count)


def _by_size(whole: Shape, part: Shape) -> str:
    """Return the sharding that the sizes of a value without a written one imply."""
    if whole.byte_size is None or not part.byte_size:
        return ""
    if whole.byte_size == part.byte_size:
        return "whole on each device, by its shape"
    return f"1/{round(whole.byte_size / part.byte_size):,} on each device, by its shape"


def _count(values: Sequence[ShardedEntryValue]) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(value.sharding for value in values if value.sharding).most_common())


def _uses(module: HloModule) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for instruction in module.instructions:
        written = (
            instruction.attributes.get("sharding", "")
            if "sharding=" in instruction.attributes_text
            else ""
        )
        if written:
            counts.update(split_tuple(written) or (written,))
    return tuple(counts.most_common())
