"""Shardings and device groups of protos as text: `{devices=[2,1]<=[2]}`, `[2,2]<=[4]`."""

from collections.abc import Iterable, Sequence

from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.text_pieces import braces, numbered, text

_OTHER, _TUPLE, _MAXIMAL = 3, 2, 1
_KINDS = {0: "replicated", 4: "manual", 5: "unknown", 6: "unreduced"}


def sharding_text(sharding: Message) -> str:
    """Return a sharding with its braces. Protobuf bounds how deep tuples can nest."""
    if sharding.HasField("named_sharding"):
        return _named_sharding(sharding.named_sharding)
    if sharding.type == _TUPLE:
        return "{" + numbered(list(map(sharding_text, sharding.tuple_shardings))) + "}"
    group = ""
    if sharding.is_shard_group:
        group = f" shard_{'like' if sharding.shard_group_type else 'as'} {sharding.shard_group_id}"
    return "{" + _placement(sharding) + group + "}"


def _placement(sharding: Message) -> str:
    if sharding.type == _MAXIMAL:
        return f"maximal device={','.join(map(str, sharding.tile_assignment_devices))}"
    if sharding.type != _OTHER:
        return _KINDS.get(sharding.type, "unknown")
    devices = _devices(
        sharding.tile_assignment_dimensions,
        sharding.tile_assignment_devices,
        sharding.iota_reshape_dims,
        sharding.iota_transpose_perm,
    )
    return f"devices={devices}{_last_dimensions(sharding)}"


def _devices(
    sizes: Sequence[int], listed: Sequence[int], reshape: Sequence[int], order: Sequence[int]
) -> str:
    tiles = f"[{','.join(map(str, sizes))}]"
    if not reshape:
        return tiles + ",".join(map(str, listed))
    return tiles + _iota(reshape, order)


def _iota(reshape: Sequence[int], order: Sequence[int]) -> str:
    turned = f"T({','.join(map(str, order))})" if len(order) > 1 else ""
    return f"<=[{','.join(map(str, reshape))}]{turned}"


def _last_dimensions(sharding: Message) -> str:
    if sharding.replicate_on_last_tile_dim:
        return " last_tile_dim_replicate"
    kinds = ", ".join(_KINDS.get(kind, "unknown") for kind in sharding.last_tile_dims)
    return f" last_tile_dims={{{kinds}}}" if kinds else ""


def _named_sharding(sharding: Message) -> str:
    if sharding.tuple_shardings:
        return "{" + numbered(list(map(_named_sharding, sharding.tuple_shardings))) + "}"
    mesh = sharding.mesh
    parts = [
        _mesh(mesh),
        f"[{', '.join(_dimension(dim_sharding, mesh) for dim_sharding in sharding.dim_shardings)}]",
    ]
    for word, axes in (
        ("replicated", sharding.replicated_axes),
        ("unreduced", sharding.unreduced_axes),
    ):
        if axes:
            parts.append(f"{word}={{{_axes(axes, mesh)}}}")
    return "{" + ", ".join(parts) + "}"


def _dimension(sharding: Message, mesh: Message) -> str:
    words = [_axes(sharding.axes, mesh)] if sharding.axes else []
    # An open dimension can be sharded further. Without axes it is the usual case, not marked.
    if not sharding.is_closed and sharding.axes:
        words.append("?")
    return "{" + ", ".join(words) + "}"


def _mesh(mesh: Message) -> str:
    axes = ",".join(f"'{text(axis.name)}'={axis.size}" for axis in mesh.axes)
    listed = f", device_ids=({','.join(map(str, mesh.device_ids))})" if mesh.device_ids else ""
    return f"mesh[{axes}]{listed}"


def _axes(axes: Iterable[Message], mesh: Message) -> str:
    return ", ".join(_axis(axis, mesh) for axis in axes)


def _axis(axis: Message, mesh: Message) -> str:
    known = 0 <= axis.mesh_axis_index < len(mesh.axes)
    name = text(mesh.axes[axis.mesh_axis_index].name) if known else str(axis.mesh_axis_index)
    part = axis.sub_axis_info
    return f"'{name}'" + (f":({part.pre_size}){part.size}" if part.size else "")


def device_groups(instruction: Message) -> str:
    """Return the value of `replica_groups`; empty where the instruction has none."""
    if instruction.HasField("mesh_axes_replica_group_list"):
        groups = instruction.mesh_axes_replica_group_list
        return f"{_mesh(groups.mesh)} {{{_axes(groups.axes, groups.mesh).replace(', ', ',')}}}"
    iota = _iota_groups(instruction)
    if iota is not None:
        sizes = f"[{iota.num_replica_groups},{iota.num_devices_per_group}]"
        return sizes + _iota(iota.iota_reshape_dims, iota.iota_transpose_perm)
    listed = instruction.collective_device_list.replica_groups or instruction.replica_groups
    return braces(braces(group.replica_ids) for group in listed)


def _iota_groups(instruction: Message) -> Message | None:
    if instruction.HasField("iota_collective_device_list"):
        return instruction.iota_collective_device_list
    devices = instruction.collective_device_list
    return devices.iota_replica_group_list if devices.HasField("iota_replica_group_list") else None
