"""All-gathers of what each device selects or reduces along a sharded dimension.

The partitioner lets each device select among its own part, gathers the candidates, and sorts these:
`top_k`. A reduce of several operands, such as `argmax`, has no all-reduce: it reduces each part,
gathers the results, and reduces these (SpmdPartitioningVisitor::HandleReduce).
"""

from xlareport.analysis.collectives.partitioning import chain_back, consumer_of
from xlareport.analysis.cost.site import parse_integers
from xlareport.hlo.model import Computation, Instruction


def find_selection(home: Computation, gather: Instruction) -> Instruction | None:
    """Return the selection of each device whose candidates are gathered; None for other gathers.

    The selection, the gather and the sort of the candidates have the op_name of the program's op.
    """
    name = gather.metadata.op_name
    users = home.users.get(gather.name, ())
    if not name or not users or any(user.opcode != "sort" for user in users):
        return None
    return next(
        (
            line
            for line in home.instructions
            if line.metadata.op_name == name and _is_selection(line) and line not in users
        ),
        None,
    )


def _is_selection(line: Instruction) -> bool:
    if line.opcode == "custom-call":
        return line.call_target in ("TopK", "__gpu$TopK")
    return line.opcode == "topk"


def find_repeated_reduce(home: Computation, gather: Instruction) -> Instruction | None:
    """Return the reduce of each device whose results are gathered and reduced again; else None.

    Each device has one partial result along the gathered dimension.
    """
    chain, again = chain_back(home, gather), consumer_of(home, gather)
    first = chain[-1] if chain else None
    if first is None or again is None or (first.opcode, again.opcode) != ("reduce", "reduce"):
        return None
    names = {line.metadata.op_name for line in (first, gather, again)}
    applied = {line.attributes.get("to_apply") for line in (first, again)}
    is_repeated = len(names) == len(applied) == 1 and _has_one_each(home, gather)
    return first if is_repeated else None


def _has_one_each(home: Computation, gather: Instruction) -> bool:
    operand = home.operand(gather)
    along = parse_integers(gather.attributes.get("dimensions", ""))
    sizes = operand.shape.dimensions if operand is not None else ()
    return bool(along) and all(number < len(sizes) and sizes[number] == 1 for number in along)
