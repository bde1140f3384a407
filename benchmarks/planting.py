"""Semantic edits of snapshots, as a faulty pass would make them: gross ones and masked ones."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.shape import Shape, parse_shape

_Edit = Callable[[Computation, Instruction], list[Instruction] | None]


@dataclass(frozen=True, slots=True)
class EditKind:
    """One way in which a pass can be wrong."""

    name: str
    group: str
    """gross or masked."""
    edit: _Edit


@dataclass(frozen=True, slots=True)
class PlantedEdit:
    """The snapshots of a module, with an edit from one of them on."""

    modules: tuple[HloModule, ...]
    where: str
    later: int
    """How many snapshots after the first one have the edit as well."""


def planted(
    modules: Sequence[HloModule], place: int, kind: EditKind, chance: random.Random
) -> PlantedEdit | None:
    """Plant an edit at a snapshot and the later ones; None where nothing there can be edited."""
    reached = [each for each in modules[place].computations if each.instructions]
    sites = [
        (computation.name, each.name)
        for computation in reached
        for each in computation.instructions
        if kind.edit(computation, each)
    ]
    if not sites:
        return None
    site = chance.choice(sites)
    edited = [_edited(module, site, kind) for module in modules[place:]]
    result = [new or old for new, old in zip(edited, modules[place:], strict=True)]
    later = sum(new is not None for new in edited[1:])
    return PlantedEdit((*modules[:place], *result), site[1], later)


def _edited(module: HloModule, site: tuple[str, str], kind: EditKind) -> HloModule | None:
    """Return the module with the edit at the instruction of that name; None where it is gone."""
    for computation in module.computations:
        each = computation.by_name.get(site[1])
        lines = kind.edit(computation, each) if each is not None else None
        if each is not None and lines:
            at = computation.instructions.index(each)
            instructions = computation.instructions
            new = (*instructions[:at], *lines, *instructions[at + 1 :])
            changed = Computation(computation.name, computation.header, new, computation.is_entry)
            bodies = tuple(changed if one is computation else one for one in module.computations)
            return HloModule(module.name, module.header, bodies)
    return None


def _line(
    like: Instruction,
    name: str,
    opcode: str,
    operands: Sequence[str],
    attributes: str = "",
    *,
    shape: Shape | None = None,
) -> Instruction:
    is_root = like.is_root and name == like.name
    of = shape or like.shape
    return Instruction(name, opcode, of, tuple(operands), "", is_root, attributes, "")


def _is_float(each: Instruction) -> bool:
    return each.shape.element_type in {"f32", "f64"}


def _wrong_constant(_: Computation, each: Instruction) -> list[Instruction] | None:
    if each.opcode != "constant" or not _is_float(each):
        return None
    if not re.fullmatch(r"-?[\d.e+-]+", each.argument):
        return None
    value = float(each.argument)
    new = 1.25 * value if value else 0.25
    return [Instruction(each.name, "constant", each.shape, (), repr(new), each.is_root, "", "")]


def _swapped(_: Computation, each: Instruction) -> list[Instruction] | None:
    same = len(set(each.operands)) < 2
    if each.opcode not in {"subtract", "divide", "power"} or same or not _is_float(each):
        return None
    return [_line(each, each.name, each.opcode, each.operands[::-1])]


def _other_comparison(_: Computation, each: Instruction) -> list[Instruction] | None:
    direction = each.attributes.get("direction", "")
    other = {"LT": "GE", "GT": "LE", "EQ": "NE", "NE": "EQ", "LE": "GT", "GE": "LT"}
    if each.opcode != "compare" or direction not in other or "(" in each.shape.text:
        return None
    if each.shape.dimensions == ():  # conditions of loops: they would not end
        return None
    return [_line(each, each.name, "compare", each.operands, f"direction={other[direction]}")]


def _dropped(_: Computation, each: Instruction) -> list[Instruction] | None:
    if each.opcode not in {"negate", "exponential", "tanh", "sqrt", "rsqrt", "log"}:
        return None
    return [_line(each, each.name, "copy", each.operands)] if _is_float(each) else None


def _other_opcode(_: Computation, each: Instruction) -> list[Instruction] | None:
    other = {"add": "subtract", "subtract": "add", "maximum": "minimum", "multiply": "add"}
    if each.opcode not in other or not _is_float(each):
        return None
    return [_line(each, each.name, other[each.opcode], each.operands)]


def _truncated_convert(_: Computation, each: Instruction) -> list[Instruction] | None:
    """Convert through a whole number on the way."""
    if each.opcode != "divide" or not _is_float(each):
        return None
    whole = parse_shape(f"s32[{','.join(map(str, each.shape.dimensions))}]")
    first, second = f"{each.name}.q", f"{each.name}.whole"
    return [
        _line(each, first, "divide", each.operands),
        _line(each, second, "convert", [first], shape=whole),
        _line(each, each.name, "convert", [second]),
    ]


def _reciprocal(computation: Computation, each: Instruction) -> list[Instruction] | None:
    if each.opcode != "divide" or not _is_float(each):
        return None
    del computation
    one, inverse = f"{each.name}.one", f"{each.name}.inverse"
    scalar = parse_shape(f"{each.shape.element_type}[]")
    lines = [
        Instruction(one, "constant", scalar, (), "1", is_root=False, attributes_text="", text="")
    ]
    wide = one
    if each.shape.dimensions:
        wide = f"{each.name}.ones"
        lines.append(_line(each, wide, "broadcast", [one], "dimensions={}"))
    return [
        *lines,
        _line(each, inverse, "divide", [wide, each.operands[1]]),
        _line(each, each.name, "multiply", [each.operands[0], inverse]),
    ]


def _reassociated(computation: Computation, each: Instruction) -> list[Instruction] | None:
    """Make `a op (b op c)` of `(a op b) op c`."""
    if each.opcode not in {"add", "multiply"} or not _is_float(each):
        return None
    inner = computation.by_name.get(each.operands[0])
    if inner is None or inner.opcode != each.opcode:
        return None
    other = f"{each.name}.other"
    return [
        _line(each, other, each.opcode, [inner.operands[1], each.operands[1]]),
        _line(each, each.name, each.opcode, [inner.operands[0], other]),
    ]


def _through_bf16(_: Computation, each: Instruction) -> list[Instruction] | None:
    if each.opcode not in {"add", "multiply", "dot", "exponential", "subtract"}:
        return None
    if not _is_float(each):
        return None
    raw, narrow = f"{each.name}.raw", f"{each.name}.narrow"
    bf16 = parse_shape(f"bf16[{','.join(map(str, each.shape.dimensions))}]")
    return [
        replace(each, name=raw, is_root=False),
        _line(each, narrow, "convert", [raw], shape=bf16),
        _line(each, each.name, "convert", [narrow]),
    ]


KINDS = (
    *(EditKind(f"wrong constant {n}", "gross", _wrong_constant) for n in (1, 2)),
    *(EditKind(f"swapped operands {n}", "gross", _swapped) for n in (1, 2)),
    *(EditKind(f"changed comparison {n}", "gross", _other_comparison) for n in (1, 2)),
    *(EditKind(f"dropped operation {n}", "gross", _dropped) for n in (1, 2)),
    EditKind("other opcode", "gross", _other_opcode),
    EditKind("truncated quotient", "gross", _truncated_convert),
    *(EditKind(f"reciprocal {n}", "masked", _reciprocal) for n in (1, 2, 3)),
    *(EditKind(f"reassociation {n}", "masked", _reassociated) for n in (1, 2, 3)),
    *(EditKind(f"through bf16 {n}", "masked", _through_bf16) for n in (1, 2, 3, 4)),
)
