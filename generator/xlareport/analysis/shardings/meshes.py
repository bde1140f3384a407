"""The device mesh of a module: as the framework named it, else as its shardings reshape devices."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from xlareport.analysis.shardings.shardy_texts import shardy_meshes
from xlareport.hlo import quoting
from xlareport.hlo.model import HloModule
from xlareport.hlo.shardings.device_order import DeviceOrder
from xlareport.hlo.shardings.mesh import Mesh
from xlareport.hlo.shardings.sharding import Sharding
from xlareport.hlo.shardings.shardy_attributes import parse_sdy_mesh, unquote
from xlareport.hlo.shardings.written import parse_sharding
from xlareport.readers.shardy import ShardyText

_MESHES = "xla.sdy.meshes"
_NAMED = re.compile(r"\{?\s*+\"?([\w.\-$]++)\"?\s*+=\s*+(#sdy\.mesh<.*>)\s*+\}?", re.DOTALL)


class ModuleMesh(Struct, frozen=True):
    """A mesh with where it is from."""

    mesh: Mesh
    source: str
    """`Shardy's meshes in the module's header`, ..."""
    is_named: bool
    """Whether the framework named the axes; else they are `axis_0`, `axis_1`, ..."""


def find_mesh(
    modules: Sequence[HloModule], partitions: int, texts: Sequence[ShardyText] = ()
) -> ModuleMesh | None:
    """Return the mesh over all partitions; None if no snapshot shows it.

    If a header, a sharding or a Shardy text has the framework's mesh, that one, of several the one
    with most axes; else the finest way in which a sharding reshapes the device count.
    """
    headers = (mesh for module in modules for mesh in read_meshes(module).values())
    for meshes, source in (
        (headers, "Shardy's meshes in the module header"),
        (_meshes_of(modules), "the mesh that shardings name"),
        (shardy_meshes(texts), "Shardy's texts"),
    ):
        best = _best(meshes, partitions)
        if best is not None:
            return ModuleMesh(best, source, is_named=True)
    reshaped = _best(_reshaped(modules), partitions)
    if reshaped is None:
        return None
    return ModuleMesh(reshaped, "how shardings reshape the devices", is_named=False)


def _best(meshes: Iterable[Mesh], partitions: int) -> Mesh | None:
    fitting = [mesh for mesh in meshes if mesh.axes and mesh.devices.count == partitions]
    return max(fitting, key=lambda mesh: len(mesh.axes)) if fitting else None


def read_meshes(module: HloModule) -> Mapping[str, Mesh]:
    """Return Shardy's meshes by their names, as the module header has them."""
    attributes = module.attributes.get("frontend_attributes", "")
    _, mark, text = attributes.partition(f"{_MESHES}=")
    if not mark:
        return {}
    text = unquote(text)
    end = quoting.closing(text, 0) if text.startswith("{") else -1
    words = quoting.split_at_commas(text[1:end]) if end > 0 else []
    named = (_NAMED.fullmatch(word.strip()) for word in _rejoin_words(words))
    meshes = ((match[1], parse_sdy_mesh(match[2])) for match in named if match)
    return {name: mesh for name, mesh in meshes if mesh is not None}


def _rejoin_words(words: Sequence[str]) -> Iterator[str]:
    """Yield the words, with those rejoined that a comma inside `<...>` divided."""
    held = ""
    for word in words:
        held = f"{held},{word}" if held else word
        if held.count("<") <= held.count(">"):
            yield held
            held = ""


def _shardings(modules: Iterable[HloModule]) -> Iterator[Sharding]:
    texts = {
        text
        for module in modules
        for instruction in module.instructions
        if "sharding=" in instruction.attributes_text
        and (text := instruction.attributes.get("sharding", ""))
    }
    for text in sorted(texts):
        sharding = parse_sharding(text)
        if sharding is not None:
            yield from sharding.elements or (sharding,)


def _meshes_of(modules: Sequence[HloModule]) -> Iterator[Mesh]:
    yield from (sharding.mesh for sharding in _shardings(modules) if sharding.mesh is not None)


def _reshaped(modules: Sequence[HloModule]) -> Iterator[Mesh]:
    """Yield a mesh for each way in which shardings divide the devices."""
    for sharding in _shardings(modules):
        devices = sharding.devices
        if devices is not None and devices.listed is None and devices.count > 1:
            axes = tuple((f"axis_{number}", size) for number, size in enumerate(devices.sizes))
            order = DeviceOrder.counted(devices.sizes)
            if order is not None:
                yield Mesh(axes, order)
