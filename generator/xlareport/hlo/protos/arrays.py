"""Attributes of what moves, cuts and compares arrays."""

from xlareport.hlo.protos.dimensions import padding_text, slice_text
from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.words import Attributes, braces, flag, set_flag, text


def dimensions(value: Message) -> Attributes:
    """Return the dimensions, also where there are none."""
    return {"dimensions": braces(value.dimensions)}


def some_dimensions(value: Message) -> Attributes:
    """Return the dimensions where there are any."""
    return {"dimensions": braces(value.dimensions) if value.dimensions else ""}


def iota(value: Message) -> Attributes:
    """Return the dimension that counts."""
    return {"iota_dimension": str(value.dimensions[0]) if value.dimensions else ""}


def compare(value: Message) -> Attributes:
    """Return the direction."""
    return {"direction": text(value.comparison_direction)}


def sort(value: Message) -> Attributes:
    """Return whether equal elements keep their order."""
    return {"is_stable": set_flag(value.is_stable)}


def parameter(value: Message) -> Attributes:
    """Return which leaves are the same on all replicas."""
    leaves = value.parameter_replication.replicated_at_leaf_buffers
    return {"parameter_replication": braces(map(flag, leaves)) if leaves else ""}


def static_slice(value: Message) -> Attributes:
    """Return starts, limits and strides."""
    return {"slice": slice_text(value.slice_dimensions)}


def dynamic_slice(value: Message) -> Attributes:
    """Return the sizes."""
    return {"dynamic_slice_sizes": braces(value.dynamic_slice_sizes)}


def pad(value: Message) -> Attributes:
    """Return the padding."""
    return {"padding": padding_text(value.padding_config)}


def tuple_element(value: Message) -> Attributes:
    """Return which element it is."""
    return {"index": str(value.tuple_index)}


def topk(value: Message) -> Attributes:
    """Return how many, and whether the largest."""
    return {"k": str(value.k), "largest": flag(value.largest)}


def scan(value: Message) -> Attributes:
    """Return along what, how and how many values are carried."""
    return {
        "dimensions": braces(value.dimensions),
        "is_reverse": set_flag(value.is_reverse),
        "num_carries": str(value.num_carries),
        "is_associative": set_flag(value.is_associative),
    }


def comparison_order(instruction: Message, *, of_floats: bool) -> Attributes:
    """Return the order of a comparison where it is not the one that its operands usually have."""
    old = "TOTAL" if instruction.comparison_type == b"TOTALORDER" else ""
    order = text(instruction.comparison_order) or old
    return {"order": order} if order and order != ("PARTIAL" if of_floats else "TOTAL") else {}
