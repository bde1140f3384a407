"""The files of code of a dump as the analysis takes them: with the kernels that they define."""

from collections.abc import Callable, Mapping

from xlareport.analysis.code.files import CodeFile
from xlareport.dump.filename import DumpName
from xlareport.program import CodeText
from xlareport.readers.kernels import llvm_kernels, ptx_kernels
from xlareport.readers.objects import object_kernels

_READERS: Mapping[str, Callable[[bytes], tuple[str, ...]]] = {
    "llvm-ir": llvm_kernels,
    "ptx": ptx_kernels,
    "object": object_kernels,
}
_TEXTS = ("llvm-ir", "ptx")
_PARTS = ("kernel", "shard", "part", "module_part")
"""Fields of a name that tell one part of a module from another."""


def code_file(text: CodeText) -> CodeFile:
    """Return a file with the kernels that its name has, else those that it defines."""
    name = text.artifact.name
    read = _READERS.get(name.kind)
    kernels: tuple[str, ...] = (name.kernel,) if name.kernel else ()
    if not kernels and read is not None and text.content:
        kernels = read(text.content)
    return CodeFile(
        path=text.artifact.path,
        kind=name.kind,
        stage=name.stage or "",
        part=_part(name),
        kernels=kernels,
        size=text.artifact.entry.size,
        defines_none=name.kind in _TEXTS and text.content is not None and not kernels,
    )


def _part(name: DumpName) -> str:
    return next((token.text for token in name.tokens if token.field in _PARTS), "")
