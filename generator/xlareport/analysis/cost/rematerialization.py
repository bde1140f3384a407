"""Recomputed instructions: rematerialized by XLA or requested by the framework."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from msgspec import Struct

from xlareport.analysis.cost.phases import is_forward, is_gradient
from xlareport.analysis.cost.work import InstructionCost, ModuleCost, count_cost
from xlareport.hlo.model import HloModule, Instruction
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS

FRAMEWORK = "jax.checkpoint"
"""Requested the ops that it recomputes."""
_BY_XLA = re.compile(r"\.remat(?:\d{0,9}|_(?:un)?compressed)(?=\.|\Z)")
_BY_FRAMEWORK = "rematted_computation"
"""Scope that jax.checkpoint gives to recomputed ops."""
_PRODUCTS = MATRIX_PRODUCTS | {"custom-call"}
"""Opcodes that fusions do not repeat."""
_IN_LOOP = "/while/body/"
_GRADIENT = "transpose("
_ASKING = "checkpoint"
"""The scope of ops inside jax.checkpoint."""


class Rematerialized(Struct, frozen=True):
    """An instruction that recomputes an earlier result to save memory."""

    computation: str
    instruction: str
    by: str
    """`XLA`, or `jax.checkpoint` if the program requested it."""
    original: str
    """Name of the original instruction if it is still in the module; else empty."""
    cost: InstructionCost

    @property
    def bytes_of_all_runs(self) -> int:
        """Bytes accessed by all executions; 0 if they are not known."""
        return self.cost.of_all_runs(self.cost.bytes_accessed) or 0


def find_rematerialized(module: HloModule, cost: ModuleCost) -> tuple[Rematerialized, ...]:
    """Return the recomputed instructions, those that access the most bytes first.

    Parts of fusions are listed separately; those of equal bytes are in module order.
    """
    found_rematerialized = []
    for computation, instruction, figures in cost.placed(module):
        by = _by(instruction)
        if by and instruction.opcode not in ("parameter", "get-tuple-element"):
            original = _BY_XLA.sub("", instruction.name)
            there = by == "XLA" and original in computation.by_name
            found_rematerialized.append(
                Rematerialized(
                    computation.name, instruction.name, by, original if there else "", figures
                )
            )
    return tuple(sorted(found_rematerialized, key=lambda row: -row.bytes_of_all_runs))


def is_in_loops_alone(module: HloModule) -> bool:
    """Return whether each jax.checkpoint of a module is in the body of a loop, by the op_names.

    Only a loop that is differentiated counts, not one over several gradients. Scalars do not count:
    what a reduction applies has the end of a name alone.
    """
    before = [
        line.metadata.op_name.partition(_BY_FRAMEWORK)[0].rpartition(_GRADIENT)[2]
        for line in module.instructions
        if line.shape.dimensions and _BY_FRAMEWORK in line.metadata.op_name
    ]
    return bool(before) and all(_IN_LOOP in scope for scope in before)


class RecomputedFlops(Struct, frozen=True):
    """The FLOPs of one run that are recomputed; 0 if none are."""

    total: int
    """All: about, since fusions repeat cheap operations without a checkpoint too."""
    products: int
    """FLOPs of dots, convolutions and library calls."""


def count_recomputed(
    module: HloModule, cost: ModuleCost, before: HloModule | None = None
) -> RecomputedFlops:
    """Return the recomputed FLOPs of one run, including those inside fusions.

    All work of a fusion that XLA rematerialized, by its name, counts. Work that the framework
    recomputes counts at most as often as there is work to repeat: XLA merges equal values, and the
    remaining one may have the name of either. Each level of nested checkpoints can repeat all of
    it. `before`, the module before optimizations, gives the original amount.

    A module that computes a gradient from values computed only once recomputes nothing. A module
    without forward and gradient ops belongs to a function that was differentiated outside of jit:
    the first computation is in another module.
    """
    done = _split_by_origin(module, cost)
    if not done.first:
        is_whole = any(is_gradient(instruction, module) for instruction in module.instructions)
        return _sum(done.by_xla + (Counter[_Work]() if is_whole else done.asked))
    repeated = Counter[_Work]()
    for asked in done.levels.values():
        repeated += asked & done.first
    if before is not None and repeated:
        repeated &= _beyond_first(done, _split_by_origin(before, count_cost(before)).first)
    return _sum(done.by_xla + repeated)


_Work = tuple[str, int | None, int | None]
"""Key by which recomputed work is compared: opcode, FLOPs of one run, elements."""


class _Origins(Struct, frozen=True):
    """The FLOPs of one run: recomputed by XLA, by the framework, and computed first."""

    by_xla: Counter[_Work]
    levels: Mapping[int, Counter[_Work]]
    """FLOPs that the framework recomputes, by the number of enclosing checkpoints."""
    first: Counter[_Work]

    @property
    def asked(self) -> Counter[_Work]:
        """Return the FLOPs that the framework recomputes on all levels."""
        return sum(self.levels.values(), Counter[_Work]())


def _split_by_origin(module: HloModule, cost: ModuleCost) -> _Origins:
    repeated = {
        name
        for instruction in module.instructions
        if instruction.opcode == "fusion" and _by(instruction) == "XLA"
        for _, name in instruction.called
    }
    by_xla, first = Counter[_Work](), Counter[_Work]()
    levels = defaultdict[int, Counter[_Work]](Counter)
    for computation, instruction, instruction_cost in cost.placed(module):
        if instruction.opcode == "fusion":
            continue
        work = instruction.opcode, instruction_cost.flops, instruction.shape.element_count
        done, by = instruction_cost.of_all_runs(instruction_cost.flops) or 0, _by(instruction)
        if computation.name in repeated or by == "XLA":
            by_xla[work] += done
        elif by:
            levels[_level(instruction)][work] += done
        elif is_forward(instruction, module):
            first[work] += done
    return _Origins(by_xla, levels, first)


def _sum(repeated: Counter[_Work]) -> RecomputedFlops:
    products = sum(flops for (opcode, *_), flops in repeated.items() if opcode in _PRODUCTS)
    return RecomputedFlops(repeated.total(), products)


def _level(instruction: Instruction) -> int:
    """Return the number of checkpoints around a recomputed instruction."""
    scope = instruction.metadata.op_name.partition(_BY_FRAMEWORK)[0]
    return scope.count(_ASKING)


def _beyond_first(done: _Origins, first_before: Counter[_Work]) -> Counter[_Work]:
    """Return work done more often than in the program; all of it if that is not known.

    A partitioned module has other shapes than before, and a fusion may recompute a cheap value.
    """
    both = done.asked + done.first
    return Counter(
        {
            work: both[work] - first_before[work] if first_before[work] else both[work]
            for work in both
        }
    )


def _by(instruction: Instruction) -> str:
    if _BY_XLA.search(instruction.name):
        return "XLA"
    return FRAMEWORK if _BY_FRAMEWORK in instruction.metadata.op_name else ""
