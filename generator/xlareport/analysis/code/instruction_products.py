"""The products of an instruction: thunks, files of its kernels, fusion decisions."""

import json
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.code.code_files import CodeFile, CodeLink, group_by_place, link_files
from xlareport.analysis.code.decisions import LinkedDecisions, group_decisions
from xlareport.analysis.code.kernel_links import (
    CodeOrigin,
    KernelIndex,
    noted_kernels,
)
from xlareport.hlo.backend_config import read_backend_config
from xlareport.hlo.digests import HloDigests
from xlareport.hlo.graph import outside_fusions
from xlareport.hlo.model import HloModule, Instruction, InstructionKey
from xlareport.knowledge.grades import doubt
from xlareport.program import CodeNotes
from xlareport.readers.fusion_decisions import FusionDecision
from xlareport.readers.thunks import Thunk

_WITHOUT_EFFECT = frozenset({"sharding", "frontend_attributes"})
"""Attributes that do not affect kernels, in addition to those outside of digests."""
_CHOICES = (
    "triton_gemm_config",
    "block_level_fusion_config",
    "selected_algorithm",
    "algorithm",
    "cudnn_fusion_config",
    "custom_fusion_config",
    "outer_dimension_partitions",
)
"""Settings of `backend_config` on how, not what, is computed."""
_MOST_NESTED = 8
_YNNPACK = '"kind":"__ynn_fusion"'
"""Of fusions on CPU: EmitYnnFusionThunk in xla/service/cpu/thunk_emitter.cc."""
_LIBRARIES = ("__cublas$", "__cudnn$")
"""How targets of calls into NVIDIA's libraries begin."""
_LAUNCHING = ("fusion", "custom-call")


def read_tuning(instruction: Instruction) -> Mapping[str, str]:
    """Return the choices by name, values as JSON; empty where the instruction has none."""
    chosen = _chosen(read_backend_config(instruction), 0)
    try:
        return {name: json.dumps(value) for name, value in chosen}
    except RecursionError:
        return {}


def _chosen(config: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if not isinstance(config, dict) or depth > _MOST_NESTED:
        return
    for name, value in config.items():
        if name in _CHOICES and value not in ({}, [], ""):
            yield name, value
        elif name not in _CHOICES:
            yield from _chosen(value, depth + 1)


class RunThunk(Struct, frozen=True):
    """A thunk with the instruction that it was made from."""

    thunk: Thunk
    place: CodeOrigin | None
    """None if unknown."""


class CodeUnit(Struct, frozen=True):
    """An instruction, a computation or the whole module, with the code that it became."""

    place: InstructionKey
    """The instruction's name is empty for a computation, or for the module as a whole."""
    instruction: Instruction | None
    grade: str
    """Of the least certain link."""
    reason: str
    files: tuple[CodeLink, ...]
    thunks: tuple[int, ...]
    """Positions in the list of thunks."""
    decisions: LinkedDecisions | None
    tuning: Mapping[str, str]
    """The autotuner's choices, by name."""
    missing: str
    """Why it has no file of code; empty where it has."""


class ModuleCode(Struct, frozen=True):
    """All code of a module, linked."""

    units: tuple[CodeUnit, ...]
    """In execution order if it is known, else in module order."""
    thunks: tuple[RunThunk, ...]
    links: tuple[CodeLink, ...]
    """Every file of code."""
    decisions_gone: tuple[FusionDecision, ...] = ()
    """About instructions that are not in the final module under any name like theirs."""

    @property
    def unlinked(self) -> tuple[CodeLink, ...]:
        """Files whose instructions are not known."""
        return tuple(link for link in self.links if not link.has_place)


def join_code(
    module: HloModule,
    files: Iterable[CodeFile],
    notes: CodeNotes,
    kernels: Sequence[CodeLink] = (),
    later: Container[InstructionKey] = frozenset(),
) -> ModuleCode:
    """Return a module's code files, thunks and fusion decisions, linked to its instructions.

    `kernels` are links that exist already: those of Mosaic kernels, see `link_mosaic`. `later` are
    instructions that were made after the fusion pass.
    """
    index = KernelIndex(module, noted_kernels(notes.thunks, notes.notes))
    links = (*_link_equal_fusions(link_files(files, index), module), *kernels)
    thunks = tuple(_run_thunks(index, notes))
    decisions, gone = group_decisions(notes.decisions, module, later)
    units = _units(module, links, thunks, decisions)
    return ModuleCode(tuple(units), thunks, links, gone)


def _run_thunks(index: KernelIndex, notes: CodeNotes) -> Iterator[RunThunk]:
    """Yield the thunks with their instructions: by number first, else by name."""
    named = {note.id: note.instruction for note in notes.notes}
    named[None] = ""
    for thunk in notes.thunks:
        yield RunThunk(thunk, index.find(thunk.name, named.get(thunk.id, "")))


def _units(
    module: HloModule,
    links: Sequence[CodeLink],
    thunks: Sequence[RunThunk],
    decisions: Mapping[InstructionKey, LinkedDecisions],
) -> Iterator[CodeUnit]:
    files, runs = group_by_place(links), _by_place(thunks)
    launching = set(launching_places(module)) if links else set()
    for place in dict.fromkeys((*runs, *_module_order(module, files.keys() | launching))):
        computation = module.by_name.get(place[0])
        instruction = computation.by_name.get(place[1]) if computation else None
        own_thunks = [thunks[at] for at in runs.get(place, ())]
        missing = (
            "" if place in files else _why_no_code([run.thunk for run in own_thunks], instruction)
        )
        least = _least_certain(place, files.get(place, ()), own_thunks, missing)
        yield CodeUnit(
            place=place,
            instruction=instruction,
            grade=least.grade,
            reason=least.reason,
            files=files.get(place, ()),
            thunks=tuple(runs.get(place, ())),
            decisions=decisions.get(place),
            tuning=read_tuning(instruction) if instruction else {},
            missing=missing,
        )


def launching_places(module: HloModule) -> Iterator[InstructionKey]:
    """Yield the instructions that launch code of their own: fusions and custom calls that run."""
    for computation, instruction in outside_fusions(module):
        if instruction.opcode in _LAUNCHING:
            yield computation.name, instruction.name


def _why_no_code(thunks: Sequence[Thunk], instruction: Instruction | None) -> str:
    """Return why an instruction has no code file, by what it calls and the thunks that run it."""
    target = instruction.call_target if instruction and instruction.opcode == "custom-call" else ""
    if not thunks and target.startswith(_LIBRARIES):
        return f"It calls a library ({target[:60]}), whose code is in no dump."
    if not thunks and instruction and _YNNPACK in instruction.attributes_text:
        return "It calls a library (YNNPACK), whose code is in no dump."
    if not thunks:
        return "No file of code and no thunk has its name."
    kernels = [thunk.name for thunk in thunks if "Kernel" in thunk.kind and thunk.name]
    if kernels:
        return f"It launches the kernel {kernels[0]}, which no file of code defines."
    kinds = " and ".join(dict.fromkeys(thunk.kind for thunk in thunks))
    return f"It runs as {kinds}, for which no thunk names a kernel."


def _module_order(
    module: HloModule, places: Collection[InstructionKey]
) -> Iterator[InstructionKey]:
    """Yield places in module order; a fusion comes before its contents."""
    for computation in module.computations:
        names = ("", *(instruction.name for instruction in computation.instructions))
        yield from (place for name in names if (place := (computation.name, name)) in places)


def _by_place(thunks: Sequence[RunThunk]) -> Mapping[InstructionKey, list[int]]:
    numbers: dict[InstructionKey, list[int]] = defaultdict(list)
    for at, thunk in enumerate(thunks):
        if thunk.place:
            numbers[thunk.place.computation, thunk.place.instruction].append(at)
    return numbers


def _least_certain(
    place: InstructionKey, files: Sequence[CodeLink], thunks: Sequence[RunThunk], missing: str
) -> CodeOrigin:
    places = [place for link in files for place in link.places] + [
        thunk.place for thunk in thunks if thunk.place
    ]
    here = [
        code_origin
        for code_origin in places
        if (code_origin.computation, code_origin.instruction) == place
    ]
    unknown = CodeOrigin("", *place, "guessed", missing)
    return max(here, key=lambda origin: doubt(origin.grade), default=unknown)


def _link_equal_fusions(links: Sequence[CodeLink], module: HloModule) -> tuple[CodeLink, ...]:
    """Return the links, with the fusions that have no file and are equal to one that has.

    XLA keeps kernels by a fingerprint of the fused computation and names no file after the fusions
    that come later: EmitFusionKernelThunk in xla/service/cpu/thunk_emitter.cc, KernelReuseCache on
    GPUs.
    """
    linked = group_by_place(links)
    if not linked:
        return tuple(links)
    digests = HloDigests(without=_WITHOUT_EFFECT)
    computation_digests = digests.of_computations(module)
    equal: dict[bytes, list[InstructionKey]] = defaultdict(list)
    for place, fusion in _fusions(module):
        equal[digests.of_call(fusion, computation_digests)].append(place)
    more: dict[InstructionKey, list[CodeOrigin]] = defaultdict(list)
    for places in equal.values():
        owners = [place for place in places if place in linked]
        for place in places if owners else ():
            if place not in linked:
                more[owners[0]].append(_shared(place, owners))
    return tuple(_with_more(link, more) for link in links)


def _with_more(link: CodeLink, more: Mapping[InstructionKey, Iterable[CodeOrigin]]) -> CodeLink:
    added = [
        replace(other, kernel=place.kernel)
        for place in link.places
        for other in more.get((place.computation, place.instruction), ())
    ]
    return replace(link, places=(*link.places, *added)) if added else link


def _shared(place: InstructionKey, owners: Sequence[InstructionKey]) -> CodeOrigin:
    grade = "matched" if len(owners) == 1 else "guessed"
    others = "" if len(owners) == 1 else f" and {len(owners) - 1} more"
    reason = f"XLA compiles equal fusions once: it is equal to {owners[0][1]}{others}."
    return CodeOrigin("", *place, grade, reason)


def _fusions(module: HloModule) -> Iterator[tuple[InstructionKey, Instruction]]:
    for computation, instruction in outside_fusions(module):
        if instruction.opcode == "fusion":
            yield (computation.name, instruction.name), instruction
