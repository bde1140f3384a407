"""Shardings as HLO writes them: GSPMD's `devices=[2,4]<=[8]`, and along the axes of a mesh."""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import prod

from xlareport.hlo import quoting
from xlareport.hlo.shardings.device_order import MOST_DIMENSIONS, DeviceOrder
from xlareport.hlo.shardings.mesh import make_mesh, read_axes, read_numbers
from xlareport.hlo.shardings.named import AxisWords, make_named
from xlareport.hlo.shardings.sharding import DimensionAxes, Sharding, ShardingKind, tiled

MOST_DEPTH = 20
"""Tuples nested deeper are refused."""
_PLAIN = frozenset(
    {
        ShardingKind.REPLICATED,
        ShardingKind.MANUAL,
        ShardingKind.UNREDUCED,
        ShardingKind.UNKNOWN,
    }
)
_METADATA = re.compile(r",?\s{0,9}\bmetadata=\{")
_SHARD_GROUP = re.compile(r"\sshard_(?:as|like) \d{1,18}\Z", re.ASCII)
_MAXIMAL = re.compile(r"(?:maximal device=|maximal_mesh\[device_id=)(\d{1,9}+)\]?+", re.ASCII)
_TILED = re.compile(
    r"devices=\[([\d,]{1,800}+)\]"
    r"(?:<=\[([\d,]{1,800}+)\](?:T\(([\d,]{1,800}+)\))?+|([\d,]++))"
    r"(?:\s++last_tile_dim(?:(_replicate)|s=\{([\w, ]{0,800}+)\}))?+",
    re.ASCII,
)
_NAMED = re.compile(r"mesh\[([^\]]*+)\]")
_DEVICE_IDS = re.compile(r",\s{0,9}device_ids=\(((?:[^()]|\([^()]*+\))*+)\)")
_LISTED = re.compile(r"(\w++)=\{([^{}]*+)\}")


@lru_cache(maxsize=4096)
def parse_sharding(text: str) -> Sharding | None:
    """Parse a sharding with its braces, as in `sharding={replicated}`; None for another text."""
    return _parse(quoting.COMMENT.sub("", text).strip(), 0)


def _parse(text: str, depth: int) -> Sharding | None:
    if not (text.startswith("{") and text.endswith("}")) or depth > MOST_DEPTH:
        return None
    body = text[1:-1].strip()
    return _tuple(body, depth) if body.startswith("{") or not body else _array(body)


def _tuple(body: str, depth: int) -> Sharding | None:
    words = quoting.split_at_commas(body) if body else []
    elements = [_parse(word.strip(), depth + 1) for word in words]
    known = tuple(element for element in elements if element is not None)
    return Sharding(ShardingKind.TUPLE, elements=known) if len(known) == len(elements) else None


def _array(body: str) -> Sharding | None:
    body = _SHARD_GROUP.sub("", _METADATA.split(body, maxsplit=1)[0].strip()).strip()
    if body in _PLAIN:
        return Sharding(ShardingKind(body))
    maximal, tiled = _MAXIMAL.fullmatch(body), _TILED.fullmatch(body)
    if maximal:
        return Sharding(ShardingKind.MAXIMAL, devices=DeviceOrder.of([int(maximal[1])]))
    if tiled:
        return _tiled(tiled)
    named = _NAMED.match(body)
    return _parse_named(named[1], body[named.end() :]) if named else None


def _tiled(match: re.Match[str]) -> Sharding | None:
    tiles, devices = read_numbers(match[1]), _devices(match)
    if not tiles or devices is None or prod(tiles) != devices.count or len(tiles) > MOST_DIMENSIONS:
        return None
    kinds = ["replicated"] if match[5] else [word.strip() for word in (match[6] or "").split(",")]
    held = len(tiles) - len(kinds) if kinds != [""] else len(tiles)
    if held < 0 or not set(kinds) <= _PLAIN | {""}:
        return None
    subgroups = zip(map(ShardingKind, kinds if kinds != [""] else ()), tiles[held:], strict=True)
    return tiled(tiles[:held], subgroups, devices)


def _devices(match: re.Match[str]) -> DeviceOrder | None:
    if match[4]:
        listed = read_numbers(match[4])
        return DeviceOrder.of(listed) if listed else None
    sizes, order = read_numbers(match[2]), read_numbers(match[3] or "")
    if not sizes or order is None:
        return None
    return DeviceOrder.counted(sizes, order)


def _parse_named(axes: str, rest: str) -> Sharding | None:
    ids = _DEVICE_IDS.match(rest)
    mesh = make_mesh(axes, ids[1] if ids else None)
    listed = rest[ids.end() :] if ids else rest
    words = [word.strip() for word in quoting.split_at_commas(listed.strip(" ,"))]
    if mesh is None:
        return None
    if len(words) == 1 and (words[0] in _PLAIN or not words[0]):
        kind = ShardingKind(words[0] or "replicated")
        return Sharding(kind, mesh=mesh)
    dimensions = read_dimensions(words[0])
    others = [_LISTED.fullmatch(word) for word in words[1:]]
    if dimensions is None or None in others:
        return None
    lists = {other[1]: read_axes(other[2]) for other in others if other is not None}
    return make_named(mesh, dimensions, AxisWords.of(lists))


def local_dimensions(written: str, shape: Sequence[int | None]) -> tuple[int, ...] | None:
    """Return the shape of one device's shard; None if the sharding or the shape is unknown."""
    sharding = parse_sharding(written)
    if sharding is None or None in shape:
        return None
    sizes = [size for size in shape if size is not None]
    if sharding.kind is ShardingKind.REPLICATED:
        return tuple(sizes)
    if sharding.kind is not ShardingKind.TILED or len(sharding.tiles) != len(sizes):
        return None
    return tuple(-(-size // cuts) for size, cuts in zip(sizes, sharding.tiles, strict=True))


def read_dimensions(text: str) -> tuple[DimensionAxes, ...] | None:
    """Read `[{'x'}, {'y', ?}]`; None for another text."""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    words = quoting.split_at_commas(text[1:-1]) if text[1:-1].strip() else []
    dimensions = [_dimension(word.strip()) for word in words]
    known = tuple(dimension for dimension in dimensions if dimension is not None)
    return known if len(known) == len(dimensions) else None


def _dimension(text: str) -> DimensionAxes | None:
    if not (text.startswith("{") and text.endswith("}")):
        return None
    words = [word.strip() for word in text[1:-1].split(",")]
    is_open = words[-1] == "?"
    axes = read_axes(",".join(words[:-1] if is_open else words))
    return DimensionAxes(axes, is_open) if axes is not None else None
