"""Which instruction a kernel belongs to, and how that is known.

Kernels carry the name of their instruction with every sign but letters and digits turned into `_`;
CPU files carry it in the file's name, GPU files in their text.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from xlareport.hlo.graph import outside_fusions
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.readers.thunks import Thunk, ThunkNote

_SIGN = re.compile(r"[^A-Za-z0-9_]")
_SHARED_NAME = re.compile(r'deduplicated_name="([^"\n]{1,500})"')
_BEFORE = ("__compute_module_",)
_AFTER = ("_module", "_kernel", "_elemental", "_computation", "_fusion")
_LIKELY = frozenset({"fusion", "custom-call", "call", "reduce", "sort", "scatter", "copy"})


class CodeOrigin(Struct, frozen=True):
    """The instruction that a kernel was made from."""

    kernel: str
    """Empty where a file holds the module as a whole."""
    computation: str
    instruction: str
    """Empty where the kernel is a whole computation, or the module."""
    grade: str
    """`exact`: the compiler names it; `matched`: only one fits; `guessed`: several fit."""
    reason: str


class KernelIndex(Struct, frozen=True, dict=True):
    """The instructions of a module by the names that kernels may have."""

    module: HloModule
    notes: Mapping[str, Sequence[str]]
    """Kernel -> instructions that launch it, as `thunk_metadata` has them."""

    def find(self, kernel: str, instruction: str = "") -> CodeOrigin | None:
        """Return the instruction that a kernel was made from; None if no name resembles it.

        `instruction` is the compiler's note on this kernel.
        """
        noted = self._noted(kernel, (instruction,) if instruction else self.notes.get(kernel, ()))
        return next(noted, None) or self._by_own_name(kernel)

    def find_all(self, kernel: str) -> tuple[CodeOrigin, ...]:
        """Find every instruction that launches a kernel: XLA compiles equal ones once."""
        noted = tuple(self._noted(kernel, self.notes.get(kernel, ())))
        named = None if noted else self._by_own_name(kernel)
        if named is None:
            return noted
        return tuple(self._shared(kernel, named.instruction)) or (named,)

    def _shared(self, kernel: str, instruction: str) -> Iterator[CodeOrigin]:
        """Yield the instructions whose metadata names the kernel of `instruction`."""
        for place in self._by_shared_name.get(instruction, ()):
            reason = "The instruction's metadata names the kernel (deduplicated_name)."
            yield _placed(kernel, place, "exact", reason)

    def named(self, program: str, *, alone: bool) -> CodeOrigin | None:
        """Return the instruction of just this name; `alone` where only this module may have it."""
        place = self._by_name.get(program)
        if place is None:
            return None
        sure = "The compiler names the program after the instruction"
        if alone:
            return _placed(program, place, "exact", f"{sure}.")
        return _placed(program, place, "matched", f"{sure}; the module follows from the time.")

    def _noted(self, kernel: str, instructions: Sequence[str]) -> Iterator[CodeOrigin]:
        reason = "The compiler's thunk metadata names the instruction."
        for name in instructions:
            if name in self._by_name:
                yield _placed(kernel, self._by_name[name], "exact", reason)

    def _by_own_name(self, kernel: str) -> CodeOrigin | None:
        named = (self._origin_by_name(kernel, name) for name in list_possible_names(kernel))
        return next(filter(None, named), None) or self._whole_computation(kernel)

    def _origin_by_name(self, kernel: str, name: str) -> CodeOrigin | None:
        if name in self._by_name:
            reason = "The kernel has the instruction's name."
            return _placed(kernel, self._by_name[name], "matched", reason)
        fitting = self._by_kernel_name.get(name, [])
        if len(fitting) == 1:
            reason = "Only this instruction's name fits the kernel's."
            return _placed(kernel, fitting[0], "matched", reason)
        if fitting:
            reason = f"{len(fitting)} instructions have names that fit the kernel's."
            return _placed(kernel, min(fitting, key=_unlikeliness), "guessed", reason)
        return None

    def _whole_computation(self, kernel: str) -> CodeOrigin | None:
        for name in list_possible_names(kernel):
            text = self._computations.get(name_kernel(name))
            if text is not None:
                return CodeOrigin(kernel, text, "", "matched", "It has the computation's name.")
        return None

    @cached_property
    def _computations(self) -> Mapping[str, str]:
        return {
            name_kernel(computation.name): computation.name
            for computation in self.module.computations
        }

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[Computation, Instruction]]:
        return {placed[1].name: placed for placed in outside_fusions(self.module)}

    @cached_property
    def _by_shared_name(self) -> Mapping[str, list[tuple[Computation, Instruction]]]:
        by_name: dict[str, list[tuple[Computation, Instruction]]] = defaultdict(list)
        for place, instruction in self._by_name.values():
            if match := _SHARED_NAME.search(instruction.attributes_text):
                by_name[match[1]].append((place, instruction))
        return by_name

    @cached_property
    def _by_kernel_name(self) -> Mapping[str, list[tuple[Computation, Instruction]]]:
        by_kernel: dict[str, list[tuple[Computation, Instruction]]] = {}
        for place, instruction in self._by_name.values():
            by_kernel.setdefault(name_kernel(instruction.name), []).append((place, instruction))
        return by_kernel


def name_kernel(instruction: str) -> str:
    """Return the kernel name of an instruction: `fusion_dot.3` -> `fusion_dot_3`."""
    return _SIGN.sub("_", instruction)


def list_possible_names(kernel: str) -> tuple[str, ...]:
    """Return possible names of the instruction, the most likely first."""
    names = [kernel]
    for start in _BEFORE:
        names += [name.removeprefix(start) for name in names]
    for end in _AFTER:
        names += [name.removesuffix(end) for name in names]
    return tuple(dict.fromkeys(reversed(list(dict.fromkeys(names)))))


def noted_kernels(
    thunks: Iterable[Thunk], notes: Iterable[ThunkNote]
) -> Mapping[str, Sequence[str]]:
    """Return kernel -> instructions, joining a sequence with its metadata by thunk id."""
    instructions = {note.id: note.instruction for note in notes if note.id is not None}
    names_of: dict[str, dict[str, None]] = defaultdict(dict)
    for thunk in thunks:
        if thunk.id in instructions and thunk.name not in ("", thunk.kind):
            names_of[thunk.name][instructions[thunk.id]] = None
    return {kernel: tuple(names) for kernel, names in names_of.items()}


def _placed(
    kernel: str, value: tuple[Computation, Instruction], grade: str, reason: str
) -> CodeOrigin:
    return CodeOrigin(kernel, value[0].name, value[1].name, grade, reason)


def _unlikeliness(value: tuple[Computation, Instruction]) -> tuple[bool, str]:
    return value[1].opcode not in _LIKELY, value[1].name
