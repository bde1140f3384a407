"""Attributes that any instruction may have: sharding, frontend attributes, metadata, backend."""

from collections.abc import Sequence

from xlareport.hlo.protos.schema import Message
from xlareport.hlo.protos.shardings import sharding_text
from xlareport.hlo.protos.text_pieces import text
from xlareport.hlo.quoting import escape

_METADATA_TEXTS = ("op_type", "op_name", "source_file")
_METADATA_NUMBERS = ("source_line", "source_end_line", "source_column", "source_end_column")
_METADATA_NAMES = ("deduplicated_name", "scheduling_name")


def common_attributes(instruction: Message, control: Sequence[str]) -> dict[str, str]:
    """Return them in XLA's order; `control` names the control predecessors."""
    sharded = instruction.HasField("sharding")
    return {
        "sharding": sharding_text(instruction.sharding) if sharded else "",
        "frontend_attributes": frontend_text(instruction.frontend_attributes),
        "control-predecessors": _names(control),
        "metadata": _metadata_text(instruction.metadata),
        "backend_config": _config_text(text(instruction.backend_config)),
    }


def _names(names: Sequence[str]) -> str:
    return "{" + ", ".join(f"%{name}" for name in names) + "}" if names else ""


def frontend_text(attributes: Message) -> str:
    """Return `{a="b",c={...}}` sorted by name; empty where there is none."""
    pairs = sorted((text(item.key), text(item.value)) for item in attributes.map)
    words = (
        f"{name}={value}" if value.startswith("{") else f'{name}="{escape(value)}"'
        for name, value in pairs
    )
    return "{" + ",".join(words) + "}" if pairs else ""


def _metadata_text(metadata: Message) -> str:
    words = [
        *(_quoted(name, getattr(metadata, name)) for name in _METADATA_TEXTS),
        *(_numeric_attribute(name, getattr(metadata, name)) for name in _METADATA_NUMBERS),
        *(_quoted(name, getattr(metadata, name)) for name in _METADATA_NAMES),
        _numeric_attribute("stack_frame_id", metadata.stack_frame_id),
    ]
    written = " ".join(filter(None, words))
    return "{" + written + "}" if written else ""


def _quoted(name: str, value: bytes) -> str:
    return f'{name}="{escape(text(value))}"' if value else ""


def _numeric_attribute(name: str, value: int) -> str:
    return f"{name}={value}" if value else ""


def _config_text(config: str) -> str:
    """Return JSON unchanged, other texts quoted."""
    if not config or config.startswith("{"):
        return config
    return f'"{escape(config)}"'
