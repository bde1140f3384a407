"""All-gathers of what each device selects: `top_k` along a sharded dimension.

The partitioner lets each device select among its own part, gathers the candidates, and sorts these.
"""

from xlareport.analysis.cost.custom_calls import name_target
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
        return name_target(line) in ("TopK", "__gpu$TopK")
    return line.opcode == "topk"
