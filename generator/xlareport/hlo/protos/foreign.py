"""Attributes of calls into other code: custom calls, fusions, feeds, domains."""

from xlareport.hlo.protos.enums import word
from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.shapes import shape_text
from xlareport.hlo.protos.shardings import sharding_text
from xlareport.hlo.protos.words import Attributes, braces, numbered, quoted, set_flag, text
from xlareport.hlo.quoting import escape


def custom_call(value: Message) -> Attributes:
    """Return the target and what it asks of its operands."""
    shapes = [shape_text(shape) for shape in value.operand_shapes_with_layout]
    return {
        "custom_call_target": f'"{escape(text(value.custom_call_target))}"',
        "operand_layout_constraints": _constraints(shapes) if value.constrain_layout else "",
        "custom_call_has_side_effect": set_flag(value.custom_call_has_side_effect),
    }


def _constraints(shapes: list[str]) -> str:
    return "{" + numbered(shapes) + "}"


def aliasing(value: Message) -> Attributes:
    """Return which outputs are operands."""
    pairs = [
        f"{braces(pair.output_shape_index)}: ({pair.operand_index}, "
        f"{braces(pair.operand_shape_index)})"
        for pair in value.output_operand_aliasing
    ]
    return {"output_to_operand_aliasing": "{" + ", ".join(pairs) + "}" if pairs else ""}


def custom_call_api(value: Message) -> Attributes:
    """Return when to call, and by which interface."""
    return {
        "schedule": word("schedule", value.custom_call_schedule),
        "api_version": word("api_version", value.custom_call_api_version),
    }


def fusion(value: Message) -> Attributes:
    """Return the kind."""
    return {"kind": text(value.fusion_kind)}


def infeed(value: Message) -> Attributes:
    """Return the configuration."""
    return {"infeed_config": quoted(value.infeed_config)}


def outfeed(value: Message) -> Attributes:
    """Return shape and configuration."""
    shape = shape_text(value.outfeed_shape) if value.HasField("outfeed_shape") else ""
    return {"outfeed_shape": shape, "outfeed_config": quoted(value.outfeed_config)}


def domain(value: Message) -> Attributes:
    """Return the shardings on both sides."""
    entry, leave = value.domain_entry_sharding, value.domain_exit_sharding
    return {
        "domain": f'{{kind="sharding", entry={sharding_text(entry)}, exit={sharding_text(leave)}}}'
    }
