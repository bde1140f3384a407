"""Shapes of protos as text: `f32[2,3]{1,0:T(8,128)S(1)}`."""

from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.text_pieces import numbered
from xlareport.hlo.shape import ELEMENT_TYPES, TYPE_NAMES

_TUPLE, _BUFFER = ELEMENT_TYPES["tuple"].number, ELEMENT_TYPES["buffer"].number


def shape_text(shape: Message, *, with_layout: bool = True) -> str:
    """Return the shape as XLA prints it. Protobuf bounds how deep tuples can nest."""
    members = [
        shape_text(tuple_shape, with_layout=with_layout) for tuple_shape in shape.tuple_shapes
    ]
    if shape.element_type == _TUPLE:
        return f"({numbered(members)})"
    if shape.element_type == _BUFFER:
        return f"b({numbered(members)})"
    name = TYPE_NAMES.get(shape.element_type, f"type{shape.element_type}")
    layout = _layout_text(shape) if with_layout else ""
    return f"{name}[{','.join(_dimensions(shape))}]{layout}"


def _dimensions(shape: Message) -> list[str]:
    dynamic = shape.is_dynamic_dimension
    return [
        _dimension(size, dynamic=place < len(dynamic) and dynamic[place])
        for place, size in enumerate(shape.dimensions)
    ]


def _dimension(size: int, *, dynamic: bool) -> str:
    if size < 0:
        return "?"
    return f"<={size}" if dynamic else str(size)


def _layout_text(shape: Message) -> str:
    layout = shape.layout
    order = ",".join(map(str, layout.minor_to_major))
    details = _layout_details(layout)
    if not order and not details:
        return ""
    return "{" + order + (f":{details}" if details else "") + "}"


def _layout_details(layout: Message) -> str:
    tiles = "".join(f"({','.join(map(_tile, tile.dimensions))})" for tile in layout.tiles)
    parts = [
        f"T{tiles}" if tiles else "",
        _numbered("L", layout.tail_padding_alignment_in_elements, default=1),
        _typed("#", layout.index_primitive_type),
        _typed("*", layout.pointer_primitive_type),
        _numbered("E", layout.element_size_in_bits),
        _numbered("S", layout.memory_space),
        "".join(map(_split, layout.split_configs)),
        f"P({shape_text(layout.physical_shape)})" if layout.HasField("physical_shape") else "",
        _numbered("M", layout.dynamic_shape_metadata_prefix_bytes),
    ]
    return "".join(parts)


def _tile(size: int) -> str:
    # XLA marks a dimension that is combined with the next by the least number there is.
    return "*" if size == -(1 << 63) else str(size)


def _numbered(letter: str, value: int, default: int = 0) -> str:
    return f"{letter}({value})" if value not in (0, default) else ""


def _typed(letter: str, number: int) -> str:
    return f"{letter}({TYPE_NAMES.get(number, number)})" if number else ""


def _split(split: Message) -> str:
    return f"SC({split.dimension}:{','.join(map(str, split.split_indices))})"
