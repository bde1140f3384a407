"""Shardy's attributes as MLIR and frontend attributes write them: `#sdy.sharding<@m, [...]>`."""

import re
from collections.abc import Mapping

from xlareport.hlo import quoting
from xlareport.hlo.shardings.device_order import DeviceOrder
from xlareport.hlo.shardings.mesh import Mesh, make_mesh, read_axes
from xlareport.hlo.shardings.named import AxisWords, make_named
from xlareport.hlo.shardings.sharding import Sharding, ShardingKind
from xlareport.hlo.shardings.written import read_dimensions

_MESH = re.compile(
    r"(?:#sdy\.)?+(?:mesh)?+\s*+<\s*+\[([^\]]*+)\]\s*+(?:,\s*+device_ids\s*+=\s*+\[([^\]]*+)\]\s*+)?+>"
)
_SHARDING = re.compile(
    r"(?:#sdy\.sharding)?+\s*+<\s*+(?:@(\"[^\"]*+\"|[\w.\-$]++)|(mesh\s*+<[^<>]*+>))\s*+,\s*+(.*)>",
    re.DOTALL,
)
_PER_VALUE = re.compile(r"(?:#sdy\.sharding_per_value\s*+<)?+\s*+\[(.*)\]\s*+>?+", re.DOTALL)
_PRIORITY = re.compile(r"\}\s{0,9}p\d{1,9}", re.ASCII)
_LISTED = re.compile(r"(\w++)\s*+=\s*+\{([^{}]*+)\}")
_ESCAPED_QUOTE = re.compile(r"\\22|\\\"")


def unquote(text: str) -> str:
    """Return an attribute without the quotes that a frontend attribute keeps it in."""
    inner = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    return _ESCAPED_QUOTE.sub('"', inner)


def parse_sdy_mesh(text: str) -> Mesh | None:
    """Parse `<["x"=2, "y"=4]>` or `#sdy.mesh<["x"=2], device_ids=[1, 0]>`; None for another text.

    A mesh without axes and with one device id, which Shardy calls maximal, is that device.
    """
    match = _MESH.fullmatch(text.strip())
    return make_mesh(match[1], match[2]) if match else None


def parse_sdy_sharding(text: str, meshes: Mapping[str, Mesh]) -> Sharding | None:
    """Return a sharding along the axes of one of the meshes; None if unknown or unreadable."""
    match = _SHARDING.fullmatch(unquote(text.strip()))
    if match is None:
        return None
    mesh = parse_sdy_mesh(match[2]) if match[2] else meshes.get(match[1].strip('"'))
    words = [word.strip() for word in quoting.split_at_commas(_PRIORITY.sub("}", match[3]))]
    dimensions = read_dimensions(words[0])
    others = [_LISTED.fullmatch(word) for word in words[1:]]
    if dimensions is None or None in others:
        return None
    if mesh is None:
        # A piece that a compiler cut out of a module has no meshes; none is needed to cut nothing.
        axes = any(dimension.axes for dimension in dimensions)
        return None if axes or others else Sharding(ShardingKind.REPLICATED, dimensions=dimensions)
    if not mesh.axes and mesh.devices.listed:
        return Sharding(ShardingKind.MAXIMAL, devices=DeviceOrder.of(mesh.devices.listed))
    lists = {other[1]: read_axes(other[2]) for other in others if other is not None}
    return make_named(mesh, dimensions, AxisWords.of(lists))


def partition_spec(text: str) -> str:
    """Return a sharding as JAX writes it, `P(None, 'x')`; empty if it says more, or is unreadable.

    Axes that shardings do not use, and dimensions that propagation may cut further, are left out.
    """
    match = _SHARDING.fullmatch(unquote(text.strip()))
    words = quoting.split_at_commas(_PRIORITY.sub("}", match[3])) if match else []
    dimensions = read_dimensions(words[0].strip()) if len(words) == 1 else None
    if dimensions is None or any(axis.size for cut in dimensions for axis in cut.axes):
        return ""
    entries = [[repr(axis.name) for axis in cut.axes] for cut in dimensions]
    written = [
        f"({', '.join(names)})" if len(names) > 1 else (names or ["None"])[0] for names in entries
    ]
    return f"P({', '.join(written)})"


def parse_sdy_shardings(text: str, meshes: Mapping[str, Mesh]) -> tuple[Sharding | None, ...]:
    """Parse `#sdy.sharding_per_value<[<@mesh, [...]>, ...]>`: one for each result of an op."""
    match = _PER_VALUE.fullmatch(unquote(text.strip()))
    if match is None:
        return ()
    return tuple(parse_sdy_sharding(word, meshes) for word in _split(match[1]))


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets of any kind, angled ones too."""
    pieces = quoting.split_at_commas(text) if text.strip() else []
    words: list[str] = []
    depth = 0
    for piece in pieces:
        if depth:
            words[-1] += "," + piece
        else:
            words.append(piece)
        depth += piece.count("<") - piece.count(">")
    return words
