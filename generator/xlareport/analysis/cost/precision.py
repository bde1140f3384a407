"""The precision in which dots are computed, as requested in the HLO.

`operand_precision` is DEFAULT, HIGH or HIGHEST; an `algorithm` names types and passes: see
PrecisionConfig in openxla/xla, xla/xla_data.proto. How a chip implements it is in `devices`.
"""

import re

from msgspec import Struct

from xlareport.analysis.cost.instruction_flops import COMPONENTS
from xlareport.analysis.cost.shape_sizes import UncountableError
from xlareport.analysis.cost.site import Site
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS
from xlareport.hlo.shape import bits_of

PRODUCTS = MATRIX_PRODUCTS | {"custom-call"}
"""Opcodes of dots and similar; custom calls only if their FLOPs are known."""
_PRECISION = re.compile(r"operand_precision=\{([a-z0-9_, ]{1,100})\}")
_IN_CONFIG = re.compile(r'"operand_precision":\["([A-Z0-9_]{1,20})"(?:,"([A-Z0-9_]{1,20})")?\]')
_ALGORITHM = re.compile(r"(?<![a-z_])algorithm=([a-z0-9_]{1,60})")
_ALGORITHM_IN_CONFIG = re.compile(r'"algorithm":"ALG_([A-Z0-9_]{1,60})"')
_PARTS = re.compile(r"dot_(?:any_)?([a-z0-9]+)_(?:any_)?[a-z0-9]+_([a-z0-9]+)(?:_x(\d))?")
_ORDER = ("default", "high", "highest")


class Precision(Struct, frozen=True):
    """The precision of one dot, as stated in the HLO."""

    operands: tuple[str, ...]
    """The types of the two operands."""
    setting: str
    """`default`, `high`, `highest`, or an algorithm such as `dot_bf16_bf16_f32_x3`."""
    accumulator: str | None
    """The type in which an algorithm accumulates; None without an algorithm."""
    result: str
    """The type of the result."""


def find_precision(site: Site) -> Precision:
    """Return the precision of a product. Raises UncountableError where an operand is unknown."""
    text = site.instruction.attributes_text
    algorithm = _algorithm(text)
    parts = _PARTS.match(algorithm)
    shape = site.shape.first
    return Precision(
        operands=(site.operand(0).element_type, site.operand(1).element_type),
        setting=algorithm or _operand_precision(text),
        accumulator=parts[2] if parts else None,
        result=shape.element_type,
    )


def name_product(site: Site) -> str:
    """Return the operand type, with the precision if it is not the default: `f32 highest`.

    An algorithm counts by its own type and passes, as in `bf16 x3`; complex numbers by their parts.
    Of two different operands the wider one counts, to which the other is converted.
    """
    try:
        precision = find_precision(site)
    except UncountableError:
        return site.shape.element_type
    parts = _PARTS.match(precision.setting)
    if parts:
        return f"{parts[1]} x{parts[3]}" if parts[3] else parts[1]
    widest = max(precision.operands, key=lambda name: bits_of(name) or 0)
    element_type = COMPONENTS.get(widest, widest)
    if precision.setting == "default" or element_type != "f32":
        return element_type
    return f"{element_type} {precision.setting}"


def _algorithm(text: str) -> str:
    match = _ALGORITHM.search(text)
    if match:
        return match[1]
    match = _ALGORITHM_IN_CONFIG.search(text)
    return match[1].lower() if match and match[1] != "UNSET" else ""


def _operand_precision(text: str) -> str:
    match, config = _PRECISION.search(text), _IN_CONFIG.search(text)
    written = match[1].replace(" ", "").split(",") if match else []
    if config and not match:
        written = [name.lower() for name in config.groups() if name]
    precisions = [name for name in written if name in _ORDER]
    return max(precisions, key=_ORDER.index, default="default")
