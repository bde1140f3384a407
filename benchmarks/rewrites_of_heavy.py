"""Known rewrites of dots, convolutions and scatters: others do their work then."""

import random
import re
from collections.abc import Iterable

from elementwise import ELEMENTWISE, SHARE
from program import Body, Line, Program, renamed_operand
from rewriting import (
    metadata_of,
    new_line,
    new_parameter,
    put_in_place,
    read_instead,
    shape_like,
    sizes_of,
    tuple_element,
)


def swap_dots(program: Program, chance: random.Random) -> set[int]:
    """Exchange the operands of dots, and transpose what they give."""
    return put_in_place(program, {"dot"}, chance, _swapped)


def _swapped(program: Program, body: Body, line: Line) -> list[Line] | None:
    product = _contracted(body, line)
    if product is None:
        return None
    left, right, dims = product
    sizes = [*(right[: dims[1]] + right[dims[1] + 1 :]), *(left[: dims[0]] + left[dims[0] + 1 :])]
    rows = len(right) - 1
    dot = new_line(
        program, "dot", shape_like(line.shape, sizes), [line.operands[1], line.operands[0]]
    )
    dot.attributes = (
        f"lhs_contracting_dims={{{dims[1]}}}, rhs_contracting_dims={{{dims[0]}}}{metadata_of(line)}"
    )
    dot.origins = line.origins
    order = [*range(rows, len(sizes)), *range(rows)]
    back = new_line(program, "transpose", line.shape, [dot.name])
    back.attributes = f"dimensions={{{','.join(map(str, order))}}}{metadata_of(line)}"
    return [dot, back]


def call_libraries(program: Program, chance: random.Random) -> set[int]:
    """Let calls of a library do the work of dots."""
    return put_in_place(program, {"dot"}, chance, _called)


def _called(program: Program, body: Body, line: Line) -> list[Line]:
    del body
    call = new_line(
        program, "custom-call", f"({line.shape}, s8[4194304]{{0}})", list(line.operands)
    )
    call.name = program.name("cublas-gemm")
    call.attributes = f'custom_call_target="__cublas$gemm"{metadata_of(line)}'
    call.origins = line.origins
    return [call, tuple_element(program, call.name, 0, line.shape)]


def fuse_dots(program: Program, chance: random.Random) -> set[int]:
    """Put dots into fusions that a code generator for matrix products takes."""
    return put_in_place(program, {"dot"}, chance, _in_fusion)


def _in_fusion(program: Program, body: Body, line: Line) -> list[Line] | None:
    shapes = {other.name: other.shape for other in body.lines}
    if not all(operand in shapes for operand in line.operands):
        return None
    parameters = [
        new_parameter(program, number, shapes[operand])
        for number, operand in enumerate(line.operands)
    ]
    inside = Line(
        program.name("dot"), "dot", line.shape, [parameter.name for parameter in parameters], "",
        line.attributes, (), is_root=True, origins=line.origins,
    )  # fmt: skip
    made = Body(program.name("gemm_fusion_dot_computation"), [*parameters, inside], is_entry=False)
    program.bodies.insert(0, made)
    fusion = new_line(program, "fusion", line.shape, list(line.operands))
    fusion.attributes = f"kind=kCustom, calls=%{made.name}{metadata_of(line)}"
    fusion.callees = (made.name,)
    return [fusion]


def split_k(program: Program, chance: random.Random) -> set[int]:
    """Let dots sum in two parts, which are added afterwards."""
    return put_in_place(program, {"dot"}, chance, _split_k)


def _split_k(program: Program, body: Body, line: Line) -> list[Line] | None:
    product = _contracted(body, line)
    if product is None or product[0][product[2][0]] % 2:
        return None
    left, right, dims = product
    parts = [
        _halved(program, line.operands[side], line.shape, sizes, dims[side])
        for side, sizes in enumerate((left, right))
    ]
    sizes = sizes_of(line.shape) or []
    dot = new_line(
        program, "dot", shape_like(line.shape, [2, *sizes]), [part.name for part in parts]
    )
    batch, summed = dims, [dim + 1 for dim in dims]
    dot.attributes = (
        f"lhs_batch_dims={{{batch[0]}}}, lhs_contracting_dims={{{summed[0]}}}, "
        f"rhs_batch_dims={{{batch[1]}}}, rhs_contracting_dims={{{summed[1]}}}{metadata_of(line)}"
    )
    dot.origins = line.origins
    zero = new_line(program, "constant", "f32[]", [])
    zero.argument = "0"
    total = new_line(program, "reduce", line.shape, [dot.name, zero.name])
    adding = _adding(program)
    total.attributes = f"dimensions={{0}}, to_apply=%{adding}"
    total.callees = (adding,)
    return [*parts, dot, zero, total]


def _halved(program: Program, name: str, like: str, sizes: list[int], dim: int) -> Line:
    parts = [*sizes[:dim], 2, sizes[dim] // 2, *sizes[dim + 1 :]]
    return new_line(program, "bitcast", shape_like(like, parts), [name])


def _adding(program: Program) -> str:
    """Put a computation that adds two numbers into a program and return its name."""
    numbers = [new_parameter(program, number, "f32[]") for number in range(2)]
    names = [number.name for number in numbers]
    total = Line(program.name("add"), "add", "f32[]", names, "", "", (), is_root=True)
    program.bodies.insert(
        0, Body(program.name("add_computation"), [*numbers, total], is_entry=False)
    )
    return program.bodies[0].name


def canonicalize_convolutions(program: Program, chance: random.Random) -> set[int]:
    """Let convolutions give their dimensions in another order, and transpose them back."""
    return put_in_place(program, {"convolution"}, chance, _canonical)


def _canonical(program: Program, body: Body, line: Line) -> list[Line] | None:
    del body
    labels = re.search(r"dim_labels=\w+->(\w+)", line.attributes)
    sizes = sizes_of(line.shape)
    if labels is None or not sizes or len(sizes) != len(labels[1]):
        return None
    made = new_line(
        program, "convolution", shape_like(line.shape, sizes[::-1]), list(line.operands)
    )
    start, stop = labels.span(1)
    made.attributes = line.attributes[:start] + labels[1][::-1] + line.attributes[stop:]
    made.origins = line.origins
    back = new_line(program, "transpose", line.shape, [made.name])
    order = ",".join(str(dim) for dim in reversed(range(len(sizes))))
    back.attributes = f"dimensions={{{order}}}{metadata_of(line)}"
    return [made, back]


def update_slices(program: Program, chance: random.Random) -> set[int]:
    """Let dynamic-update-slices do the work of scatters that write one window."""
    return put_in_place(program, {"scatter"}, chance, _updated)


def _updated(program: Program, body: Body, line: Line) -> list[Line] | None:
    del body
    if len(line.operands) != 3:
        return None
    target, place, values = line.operands
    made = new_line(program, "dynamic-update-slice", line.shape, [target, values, place])
    made.attributes = metadata_of(line).removeprefix(", ")
    made.origins = line.origins
    return [made]


def rematerialize_dots(program: Program, chance: random.Random) -> set[int]:
    """Compute dots that several read once more for one of them, with what leads to them."""
    touched: set[int] = set()
    for body in program.bodies:
        users, by_name = body.users(), body.by_name()
        for line in [line for line in body.lines if line.opcode in {"dot", "convolution"}]:
            readers = users.get(line.name, [])
            if len(readers) > 1 and chance.random() < 2 * SHARE:
                sources = [by_name[name] for name in line.operands if name in by_name]
                copied = [source for source in sources if source.opcode in ELEMENTWISE]
                clones = _clones(program, [*dict.fromkeys(copied), line])
                place = body.lines.index(readers[-1])
                body.lines[place:place] = clones
                read_instead([readers[-1]], {line.name: clones[-1].name})
                touched |= set(line.origins)
    return touched


def _clones(program: Program, lines: Iterable[Line]) -> list[Line]:
    renamed: dict[str, str] = {}
    clones = []
    for line in lines:
        operands = [renamed_operand(name, renamed) for name in line.operands]
        renamed[line.name] = program.name(f"{line.name}.remat")
        clones.append(
            Line(
                renamed[line.name], line.opcode, line.shape, operands, line.argument,
                line.attributes, line.callees, is_root=False, origins=line.origins,
            )
        )  # fmt: skip
    return clones


def _contracted(body: Body, line: Line) -> tuple[list[int], list[int], tuple[int, int]] | None:
    """Return the sizes of both operands of a plain dot and the dimension of each it sums over."""
    by_name = body.by_name()
    dims = [
        re.search(rf"{side}_contracting_dims={{(\d+)}}", line.attributes) for side in ("lhs", "rhs")
    ]
    lines = [by_name.get(name) for name in line.operands]
    sizes = [None if operand is None else sizes_of(operand.shape) for operand in lines]
    if "batch_dims" in line.attributes or not (dims[0] and dims[1] and sizes[0] and sizes[1]):
        return None
    return sizes[0], sizes[1], (int(dims[0][1]), int(dims[1][1]))
