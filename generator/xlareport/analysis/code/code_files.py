"""The files of code of a module, each with the instructions that it was made from."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.code.kernel_links import CodeOrigin, KernelIndex
from xlareport.hlo.model import HloModule


class CodeFile(Struct, frozen=True):
    """A file of code, with the names by which it may be known."""

    path: str
    kind: str
    """`llvm-ir`, `ptx`, `mlir`, `assembly`, `object`, as the dump's names are classified."""
    stage: str
    """`ir-no-opt`, `ir-with-opt`, `post-lowering`, ..., from the file's name."""
    part: str
    """The common part of sibling files: a kernel, a number, `part_00`; empty for all code."""
    kernels: tuple[str, ...]
    """Names of kernels: from the file's name, else from its text."""
    size: int
    """Bytes."""
    defines_none: bool = False
    """Whether its text was read and defines no kernel, as that of shared constants."""


class CodeLink(Struct, frozen=True):
    """A file with the instructions that it was made from."""

    file: CodeFile
    places: tuple[CodeOrigin, ...]
    """Every instruction of each kernel in it; empty if none is known."""
    reason: str = ""
    """Why no place was found."""

    @property
    def has_place(self) -> bool:
        """Whether the instructions that the file was made from are known."""
        return bool(self.places)


def link_files(files: Iterable[CodeFile], index: KernelIndex) -> tuple[CodeLink, ...]:
    """Link every file; one that names no kernel is known by its siblings, else it is the module."""
    return tuple(_link(with_sibling, index) for with_sibling in add_sibling_kernels(tuple(files)))


def add_sibling_kernels(files: Sequence[CodeFile]) -> tuple[CodeFile, ...]:
    """Return the files; those that name no kernel have the names of the files of the same part."""
    named: dict[str, dict[str, None]] = defaultdict(dict)
    for file in files:
        named[file.part].update(dict.fromkeys(file.kernels))
    return tuple(
        file if file.kernels or not file.part else replace(file, kernels=tuple(named[file.part]))
        for file in files
    )


def _link(file: CodeFile, index: KernelIndex) -> CodeLink:
    linked = {place: None for kernel in file.kernels for place in index.find_all(kernel)}
    if linked:
        return CodeLink(file, tuple(linked))
    if file.kernels:
        return CodeLink(file, (), "No instruction has a name like its kernel's.")
    if file.defines_none:
        return CodeLink(
            file, _origin_of_module(index.module, "It defines no kernel; all kernels share it.")
        )
    if file.part:
        return CodeLink(file, (), "Neither its name nor a related file names a kernel.")
    return CodeLink(file, _origin_of_module(index.module, "It contains the whole module."))


def _origin_of_module(module: HloModule, reason: str) -> tuple[CodeOrigin, ...]:
    if module.entry is None:
        return ()
    return (CodeOrigin("", module.entry.name, "", "matched", reason),)


def group_by_place(links: Iterable[CodeLink]) -> Mapping[tuple[str, str], tuple[CodeLink, ...]]:
    """Return the files of each (computation, instruction), in order."""
    code_links: dict[tuple[str, str], dict[str, CodeLink]] = defaultdict(dict)
    for link in links:
        for place in link.places:
            code_links[place.computation, place.instruction][link.file.path] = link
    return {place: tuple(files.values()) for place, files in code_links.items()}
