"""Attributes of what devices do together, and of transfers to the host."""

from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.shardings import device_groups
from xlareport.hlo.protos.words import Attributes, braces, quoted, set_flag


def channel(value: Message) -> Attributes:
    """Return the channel; XLA prints none that is not positive."""
    return {"channel_id": str(value.channel_id) if value.channel_id > 0 else ""}


def groups(value: Message) -> Attributes:
    """Return which devices work together."""
    return {"replica_groups": device_groups(value)}


def collective(value: Message) -> Attributes:
    """Return how the groups are meant."""
    return {
        "constrain_layout": set_flag(value.constrain_layout),
        "use_global_device_ids": set_flag(value.use_global_device_ids),
    }


def permute(value: Message) -> Attributes:
    """Return who sends to whom."""
    pairs = (braces((pair.source, pair.target)) for pair in value.source_target_pairs)
    return {"source_target_pairs": braces(pairs)}


def transfer(value: Message) -> Attributes:
    """Return whether the other side is the host."""
    return {"is_host_transfer": set_flag(value.is_host_transfer)}


def copy_start(value: Message) -> Attributes:
    """Return which prefetch across programs it is, if it is one."""
    shown = value.HasField("cross_program_prefetch_index")
    return {
        "cross_program_prefetch_index": str(value.cross_program_prefetch_index) if shown else ""
    }


def thread(value: Message) -> Attributes:
    """Return the thread, unless it is the main one."""
    thread = value.async_execution_thread
    return {"async_execution_thread": "" if thread == b"main" else quoted(thread)}
