"""Remedies for an all-gather, by the readers of its result and by its origin."""

import re
from collections.abc import Iterator, Mapping, Sequence

from xlareport.analysis.collectives.find import Collective
from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.wrapped import hands_on
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.opcode_groups import ALIASES, MATRIX_PRODUCTS, REARRANGEMENTS
from xlareport.hlo.shape import Shape
from xlareport.runtime.graphs import reachable

_PRIMITIVE = "all_gather"
"""How the op_name of a collective ends that the program writes itself, in a shard_map."""
_KINDS = (
    ("convolution", ("convolution",)),
    ("dot", MATRIX_PRODUCTS),
    ("gather", ("gather",)),
    ("sort", ("sort", "topk")),
)
_CALLS = (("convolution", ("conv",)), ("dot", ("blas", "gemm", "matmul")))
"""Parts of the targets of library calls."""
_BY_SHARDING: Mapping[str, str] = {
    "dot": (
        "Check whether the dot can work on the shards: another sharding of this operand, or of "
        "the other operand of the dot, may send fewer bytes."
    ),
    "convolution": (
        "Check whether the convolution can work on the shards: sharded along the batch it needs "
        "the whole kernel, but no channels of other devices."
    ),
    "gather": (
        "Check whether the gather can work on the shards: an operand that is sharded along a "
        "dimension that is not indexed need not be gathered."
    ),
    "": (
        "Check whether the consumer can work on the shards: another sharding of this operand or "
        "of the consumer's result may send fewer bytes."
    ),
}
_INDEXED = (
    "The gather indexes the dimension along which its operand is sharded, so each device may need "
    "any row. Send only the rows that are read, with jax.lax.all_to_all in a shard_map, or shard "
    "the operand along a dimension that is not indexed."
)
_SORTED_ALONG = (
    "If only the first k are used, take the top k of each shard in a shard_map, gather these alone "
    "and take the top k of them: jax.lax.top_k twice."
)
_SORTED_ACROSS = (
    "The sort orders each row by itself, and no row needs those of other devices: jax.lax.top_k or "
    "jnp.sort in a shard_map along this dimension gathers nothing."
)
_BY_PROGRAM: Mapping[str, str] = {
    "dot": (
        "The program writes this all-gather itself, so no sharding changes it. Multiply one shard "
        "at a time while jax.lax.ppermute sends the next."
    ),
    "gather": (
        "The program writes this all-gather itself, so no sharding changes it. Send only the rows "
        "that are read, for example with jax.lax.all_to_all from the devices that own them."
    ),
    "": (
        "The program writes this all-gather itself, so no sharding changes it. Send only what the "
        "consumer reads, or let the consumer work on one shard at a time."
    ),
}
_FLATTENED = (
    "`{reshape}` of the program merges a sharded dimension of the operand, and its result cannot "
    "keep the shards. Compute on the operand without the reshape: a sum or dot over all dimensions "
    "in place of one over a flattened array, such as jnp.vdot or jnp.ravel makes."
)
_SPATIAL = re.compile("[0-9]")
_LONGEST_WAY = 20
_REARRANGED = REARRANGEMENTS | {"copy-done", "copy-start"}


def advise_gather(case: Case, gather: Collective, kind: str, way: tuple[str, ...]) -> str:
    """Return what to try; `kind` is the result of `consumer_kind` for the same way."""
    origin = case.origins.get(gather.key)
    if origin is not None and origin.merging_reshape:
        return _FLATTENED.format(reshape=origin.merging_reshape)
    is_written = _is_written(_body(case.module, gather))
    remedies = _BY_PROGRAM if is_written else _BY_SHARDING
    advice = remedies.get(kind, remedies[""])
    if kind == "gather" and not is_written and _is_indexed(case.module, gather, way):
        advice = _INDEXED
    if kind == "sort" and not is_written:
        advice = _advise_sort(case.module, gather, way) or advice
    upcast = find_upcast(case, gather)
    if upcast is None:
        return advice
    narrow, wide = upcast
    less = "half the bytes" if 2 * (narrow.byte_size or 0) == wide.byte_size else "fewer bytes"
    return (
        f"{advice} Its operand is upcast from {narrow.element_type}: gathered before the convert, "
        f"it sends {less}."
    )


def find_upcast(case: Case, gather: Collective) -> tuple[Shape, Shape] | None:
    """Return the narrow and the wide shape where an operand is converted just before; else None.

    If the compiler fused the convert, the all-gather of the program with the same op_name is used.
    """
    module, body = case.module, _body(case.module, gather)
    home = module.by_name[gather.body[0]]
    upcast = _upcast_in(module, home, body)
    if upcast is not None or case.before is None or not _is_written(body):
        return upcast
    every = [
        _upcast_in(case.before, computation, instruction)
        for computation, instruction in case.before.placed
        if instruction.opcode == body.opcode and _is_same_op(instruction, body)
    ]
    return every[0] if every and all(upcast is not None for upcast in every) else None


def _upcast_in(
    module: HloModule, home: Computation, gather: Instruction
) -> tuple[Shape, Shape] | None:
    if len(gather.operand_names) != 1:
        return None
    source = home.operand(gather)
    for _ in range(_LONGEST_WAY):
        if source is not None and source.opcode == "fusion":
            inside = module.callee(source)
            if inside is None or inside.root is None:
                return None
            home, source = inside, inside.root
        if source is None or not source.operand_names:
            return None
        operand = home.operand(source)
        if source.opcode == "convert":
            return _narrower(operand, source)
        if source.opcode not in _REARRANGED:
            return None
        source = operand
    return None


def _narrower(operand: Instruction | None, upcast: Instruction) -> tuple[Shape, Shape] | None:
    narrow, wide = operand.shape if operand else None, upcast.shape
    is_narrow = narrow is not None and 0 < (narrow.byte_size or 0) < (wide.byte_size or 0)
    return (narrow, wide) if narrow is not None and is_narrow else None


def _is_same_op(before: Instruction, gather: Instruction) -> bool:
    """Return whether op_names agree; the op_name of a called computation follows its caller's."""
    op_name, inlined = before.metadata.op_name, gather.metadata.op_name
    return bool(op_name) and (inlined == op_name or inlined.endswith(f"/{op_name}"))


def _is_written(gather: Instruction) -> bool:
    """Return whether the program has the all-gather, and not the SPMD partitioner."""
    is_primitive = gather.metadata.op_name.rpartition("/")[2].startswith(_PRIMITIVE)
    return is_primitive and "is_spmd_generated" not in gather.attributes_text


def _body(module: HloModule, gather: Collective) -> Instruction:
    return module.by_name[gather.body[0]].by_name[gather.body[1]]


def consumer_kind(module: HloModule, gather: Collective, way: tuple[str, ...]) -> str:
    """Return what reads the result of an all-gather: `dot`, `convolution`, `gather`, else empty.

    `way` are the instructions that pass the result on; the last is its only consumer.
    """
    home = module.by_name[gather.computation]
    used = set(_uses(module, home, home.by_name[way[-1]], (gather.done, gather.instruction, *way)))
    return next((kind for kind, opcodes in _KINDS if used.intersection(opcodes)), "")


def _is_indexed(module: HloModule, gather: Collective, way: tuple[str, ...]) -> bool:
    """Return whether the consumer indexes the dimension along which the operand is gathered."""
    body, home = _body(module, gather), module.by_name[gather.computation]
    consumer = home.by_name[way[-1]]
    fused = module.callee(consumer)
    place = home if fused is None else fused
    lines = (consumer,) if fused is None else fused.instructions
    reads = [line for line in lines if line.opcode == "gather"]
    tables = [place.operand(line) for line in reads]
    sizes = home.by_name[gather.done or gather.instruction].shape.dimensions
    dimension = body.attributes.get("dimensions", "").strip("{}")
    return bool(reads) and all(
        table is not None
        and table.shape.dimensions == sizes
        and dimension in line.attributes.get("start_index_map", "").strip("{}").split(",")
        for line, table in zip(reads, tables, strict=True)
    )


def _advise_sort(module: HloModule, gather: Collective, way: tuple[str, ...]) -> str:
    """Return the remedy by whether the gathered dimension is the one that is sorted.

    Empty if the value has other dimensions where it is sorted.
    """
    body, home = _body(module, gather), module.by_name[gather.computation]
    consumer = home.by_name[way[-1]]
    fused = module.callee(consumer) if consumer.opcode == "fusion" else None
    lines = (consumer,) if fused is None else fused.instructions
    sizes = home.by_name[gather.done or gather.instruction].shape.dimensions
    sorts = [line for line in lines if line.opcode == "sort"]
    if not sorts or any(line.shape.first.dimensions != sizes for line in sorts):
        return ""
    gathered = body.attributes.get("dimensions", "")
    is_along = any(line.attributes.get("dimensions", "") == gathered for line in sorts)
    return _SORTED_ALONG if is_along else _SORTED_ACROSS


def _uses(
    module: HloModule, home: Computation, consumer: Instruction, given: Sequence[str | None]
) -> Iterator[str]:
    """Yield the opcodes that read a value in its consumer; of a library call what it computes."""
    target = consumer.call_target.lower()
    yield from (kind for kind, words in _CALLS if any(word in target for word in words))
    inside = module.callee(consumer)
    if consumer.opcode != "fusion" or inside is None:
        yield _opcode(consumer)
        return
    names = [_unaliased(home, name) for name in consumer.operand_names]
    parameters = [
        parameter
        for name, parameter in zip(names, inside.parameters, strict=False)
        if name in given
    ]
    reached = reachable(
        parameters,
        lambda read: (
            inside.users.get(read.name, ())
            if read.opcode == "parameter" or hands_on(module, read)
            else ()
        ),
    )
    yield from (_opcode(read) for read in reached if read.opcode != "parameter")


def _opcode(read: Instruction) -> str:
    """Return the opcode of an instruction, `dot` of a convolution that is a dot of the program.

    The TPU compiler writes dots as convolutions, those with batch dimensions with a window.
    """
    if read.opcode != "convolution":
        return read.opcode
    op = read.metadata.op_name.rpartition("/")[2]
    labels = read.attributes.get("dim_labels", "")
    is_dot = "conv" not in op.lower() if op else not _SPATIAL.search(labels)
    return "dot" if is_dot else "convolution"


def _unaliased(home: Computation, name: str) -> str:
    """Return an operand without the aliases in between."""
    for _ in range(_LONGEST_WAY):
        instruction = home.by_name.get(name)
        if instruction is None or instruction.opcode not in ALIASES:
            break
        name = next(iter(instruction.operand_names), "")
    return name
