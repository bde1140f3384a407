"""Fusions that share a kernel because they are equal.

XLA keeps kernels by a fingerprint of the fused computation and names no file after the fusions that
come later: EmitFusionKernelThunk in xla/service/cpu/thunk_emitter.cc, KernelReuseCache on GPUs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from xlareport.analysis.code.files import CodeLink, group_by_place
from xlareport.analysis.code.links import CodeOrigin
from xlareport.hlo.digests import HloDigests
from xlareport.hlo.graph import find_fused_computations
from xlareport.hlo.model import HloModule, Instruction, InstructionKey

_WITHOUT_EFFECT = frozenset({"sharding", "frontend_attributes"})
"""Attributes that do not affect kernels, in addition to those outside of digests."""


def link_equal_fusions(links: Sequence[CodeLink], module: HloModule) -> tuple[CodeLink, ...]:
    """Return the links, with the fusions that have no file and are equal to one that has."""
    linked = group_by_place(links)
    if not linked:
        return tuple(links)
    digests = HloDigests(without=_WITHOUT_EFFECT)
    known = digests.of_computations(module)
    equal: dict[bytes, list[InstructionKey]] = defaultdict(list)
    for place, fusion in _fusions(module):
        equal[digests.of_call(fusion, known)].append(place)
    more: dict[InstructionKey, list[CodeOrigin]] = defaultdict(list)
    for places in equal.values():
        owners = [place for place in places if place in linked]
        for place in places if owners else ():
            if place not in linked:
                more[owners[0]].append(_shared(place, owners))
    return tuple(_with_more(link, more) for link in links)


def _with_more(link: CodeLink, more: Mapping[InstructionKey, Iterable[CodeOrigin]]) -> CodeLink:
    added = [
        replace(other, kernel=own.kernel)
        for own in link.places
        for other in more.get((own.computation, own.instruction), ())
    ]
    return replace(link, places=(*link.places, *added)) if added else link


def _shared(place: InstructionKey, owners: Sequence[InstructionKey]) -> CodeOrigin:
    grade = "matched" if len(owners) == 1 else "guessed"
    others = "" if len(owners) == 1 else f" and {len(owners) - 1} more"
    reason = f"XLA compiles equal fusions once: it is equal to {owners[0][1]}{others}."
    return CodeOrigin("", *place, grade, reason)


def _fusions(module: HloModule) -> Iterator[tuple[InstructionKey, Instruction]]:
    fused = find_fused_computations(module)
    callers = (computation for computation in module.computations if computation.name not in fused)
    for computation in callers:
        for instruction in computation.instructions:
            if instruction.opcode == "fusion":
                yield (computation.name, instruction.name), instruction
