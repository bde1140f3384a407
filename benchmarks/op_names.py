"""op_names in full: newer JAX writes those inside a call relative to the op_name of the call."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

_MOST_PREFIXES = 64
"""Of one computation; what is called more often is known by so many of its callers."""


def resolved(module: HloModule) -> Iterator[tuple[Place, frozenset[str]]]:
    """Yield the place of each instruction that has an op_name, and all that it stands for.

    It is one for each chain of calls that leads there. Callers stand after what they call.
    """
    root = _root(module)
    prefixes: dict[str, set[str]] = defaultdict(set)
    for computation in reversed(module.computations):
        mine = sorted(prefixes[computation.name] or {""})[:_MOST_PREFIXES]
        for instruction in computation.instructions:
            name = instruction.metadata.op_name
            full = frozenset(_joined(prefix, name, root) for prefix in mine)
            for _, called in instruction.called:
                prefixes[called].update(full if instruction.opcode == "call" else mine)
            if name:
                yield Place(computation.name, instruction.name), full


def _joined(prefix: str, name: str, root: str) -> str:
    absolute = name.partition("/")[0] == root
    return name if absolute or not prefix else f"{prefix}/{name}" if name else prefix


def _root(module: HloModule) -> str:
    """Return how absolute op_names begin: `jit(train)`; arguments have other names."""
    lines = module.entry.instructions if module.entry else ()
    beginnings = (instruction.metadata.op_name.partition("/") for instruction in lines)
    counts = Counter(head for head, slash, _ in beginnings if slash)
    return max(counts, key=lambda head: counts[head], default="")
