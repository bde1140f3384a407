"""The content of Shardy's texts: meshes with their axes, and the sharding of each value."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from xlareport.analysis.shardings.sharding_words import describe_sharding
from xlareport.hlo.shardings.mesh import Mesh
from xlareport.hlo.shardings.shardy_attributes import (
    parse_sdy_mesh,
    parse_sdy_sharding,
    parse_sdy_shardings,
)
from xlareport.readers.shardy import ShardyText, ShardyValue

_MOST_VALUES = 300
"""Limit on values of one text."""


class ShardyMesh(Struct, frozen=True):
    """A mesh of a text."""

    name: str
    """Without its `@`."""
    axes: str
    """`data=2, model=4`; as written where it could not be read."""


class ShardyPlacement(Struct, frozen=True):
    """A value of a text with its sharding."""

    value: str
    """`%4`, `%arg0`, or `result 1` of the function, counted from 0."""
    operation: str
    """The op of the value: `stablehlo.dot`, `sdy.sharding_constraint`; `argument` or `result`."""
    type: str
    """`tensor<8x16xf32>`; empty where the line has none."""
    sharding: str
    """As written."""
    words: str
    """`not read` where it could not be."""
    line: int
    """In the file, counted from 1."""


class ShardyStep(Struct, frozen=True):
    """One of Shardy's texts."""

    path: str
    """Of the file in the dump."""
    meshes: tuple[ShardyMesh, ...]
    """As the text declares them."""
    placements: tuple[ShardyPlacement, ...]
    """The first 300 values."""
    count: int
    """Of all values with shardings."""
    manual_axes: tuple[str, ...]
    """The manual axes of each manual computation (`shard_map`)."""


def list_shardy_steps(texts: Sequence[ShardyText]) -> tuple[ShardyStep, ...]:
    """Return the texts in order; those without a mesh and a sharding are left out."""
    return tuple(_step(text) for text in texts if text.meshes or text.values)


def shardy_meshes(texts: Sequence[ShardyText]) -> Iterator[Mesh]:
    """Yield the meshes of the texts that could be read."""
    for text in texts:
        yield from _meshes(text).values()


def _meshes(text: ShardyText) -> Mapping[str, Mesh]:
    meshes = ((name, parse_sdy_mesh(f"#sdy.mesh{axes}")) for name, axes in text.meshes)
    return {name: mesh for name, mesh in meshes if mesh is not None}


def _step(text: ShardyText) -> ShardyStep:
    meshes = _meshes(text)
    return ShardyStep(
        path=text.path,
        meshes=tuple(_mesh(name, written, meshes.get(name)) for name, written in text.meshes),
        placements=tuple(_placement(value, meshes) for value in islice(text.values, _MOST_VALUES)),
        count=len(text.values),
        manual_axes=tuple(axes.replace('"', "") for axes in text.manual_axes),
    )


def _mesh(name: str, written: str, mesh: Mesh | None) -> ShardyMesh:
    axes = ", ".join(f"{axis}={size:,}" for axis, size in mesh.axes) if mesh else written
    return ShardyMesh(name, axes)


def _placement(value: ShardyValue, meshes: Mapping[str, Mesh]) -> ShardyPlacement:
    written = value.sharding
    is_list = "per_value" in written or written.startswith("[")
    shardings = (
        parse_sdy_shardings(written, meshes) if is_list else (parse_sdy_sharding(written, meshes),)
    )
    words = "; ".join(
        "not read" if sharding is None else describe_sharding(sharding) for sharding in shardings
    )
    return ShardyPlacement(
        value.name, value.operation, value.type, written, words or "not read", value.line
    )
