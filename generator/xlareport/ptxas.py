"""Compiles the PTX of a dump with NVIDIA's assembler, only on request, in a limited process.

It is the only program besides Python and Graphviz that reads a dump; its output is discarded.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from xlareport.readers.ptx import read_ptx
from xlareport.readers.ptxas_output import CompiledKernel, read_ptxas_fault, read_ptxas_output
from xlareport.runtime.errors import XlareportError, error_reason
from xlareport.runtime.kept_file import keep_file

TIME_LIMIT = 10
"""Seconds of computing for one file."""
_PATIENCE = 6
"""Factor of the wall-clock limit: the machine may be busy, or the compiler may hang."""
MEMORY_LIMIT = 1 << 30
"""Bytes for the process."""
_OUTPUT_LIMIT = 16 << 20
"""Limit on bytes of one file that the process may write."""
_MOST_READ = 4 << 20
"""Characters of its messages that are read."""
_VERSION = re.compile(r"\bV(\d{1,3}\.\d{1,3}\.\d{1,4})")
_TARGET = re.compile(r"sm_\d{2,3}[af]?", re.ASCII)


class PtxasError(XlareportError):
    """There is no assembler, or it does not start."""


class Ptxas(Struct, frozen=True):
    """An installed assembler with its version."""

    path: str
    version: str
    """`12.9.86`"""
    cache: Path | None = None
    """The folder in which its messages are kept by the hash of what was compiled."""

    @property
    def label(self) -> str:
        """Return how figures name it as their source."""
        return f"ptxas {self.version}"


class CompiledPtx(Struct, frozen=True):
    """The assembler's output on one file."""

    kernels: tuple[CompiledKernel, ...]
    fault: str = ""
    """Why it did not compile the file; some kernels may be known all the same."""


def find_ptxas(wanted: str = "") -> Ptxas:
    """Return the assembler at a path; else that of the pip package, else that of PATH.

    Raises PtxasError where there is none, or where it does not say its version.
    """
    path = wanted or _packaged() or shutil.which("ptxas")
    if not path:
        raise PtxasError("no ptxas: pip install 'xlareport[ptxas]', or name one with --ptxas=PATH")
    try:
        done = subprocess.run(  # noqa: S603 - the user's own choice, without a shell
            [path, "--version"], capture_output=True, timeout=TIME_LIMIT, check=False, text=True
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise PtxasError(f"{path} does not run: {error}") from error
    version = _VERSION.search(done.stdout)
    if version is None:
        raise PtxasError(f"{path} does not say its version: it is no ptxas")
    return Ptxas(path, version[1])


def compile_ptx(data: bytes, ptxas: Ptxas, options: tuple[str, ...] = ()) -> CompiledPtx:
    """Return the resources of a PTX text's kernels, compiled for its own target.

    `options` are further options of the assembler, such as `-O0`. A text that it rejects is no
    exception: `fault` has the reason.
    """
    kernels = read_ptx(data)
    target = kernels[0].target if kernels else ""
    if not _TARGET.fullmatch(target):
        return CompiledPtx((), "The text names no target." if data else "The file is empty.")
    key = blake2b(
        b"\0".join((ptxas.version.encode(), target.encode(), *map(str.encode, options), data)),
        digest_size=16,
    ).hexdigest()
    message = _kept(ptxas, key)
    if message is None:
        message, lasting = _run_ptxas(data, ptxas, (f"-arch={target}", *options))
        if lasting:
            _keep(ptxas, key, message)
    return CompiledPtx(read_ptxas_output(message), read_ptxas_fault(message))


def _run_ptxas(data: bytes, ptxas: Ptxas, options: tuple[str, ...]) -> tuple[str, bool]:
    """Return the messages, and whether another run would give the same."""
    with tempfile.TemporaryDirectory(prefix="xlareport-ptxas-") as name:
        folder = Path(name)
        (folder / "kernel.ptx").write_bytes(data)
        command = [ptxas.path, "-v", *options, "-o", os.devnull, "kernel.ptx"]
        with (folder / "messages").open("wb") as messages:
            try:
                done = subprocess.run(  # noqa: S603 - no shell, and a name of our own
                    command,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=messages,
                    stderr=messages,
                    timeout=TIME_LIMIT * _PATIENCE,
                    check=False,
                    env={"TMPDIR": name, "PATH": os.environ.get("PATH", "")},
                    preexec_fn=_bound if sys.platform != "win32" else None,
                )
            except subprocess.TimeoutExpired:
                return f"ptxas fatal : it took more than {TIME_LIMIT * _PATIENCE} seconds.", False
            except OSError as error:
                return f"ptxas fatal : it does not run: {error_reason(error)}.", False
        with (folder / "messages").open("rb") as messages:
            text = messages.read(_MOST_READ).decode("utf-8", "replace")
    if done.returncode < 0:
        limits = f"{TIME_LIMIT} seconds and {MEMORY_LIMIT >> 30} GiB"
        return f"ptxas fatal : it was ended; its limits are {limits}.", False
    if done.returncode and not read_ptxas_fault(text):
        return f"{text}\nptxas fatal : it ended with code {done.returncode}.", True
    return text, True


def _bound() -> None:
    """Bound this process, which is about to become the assembler."""
    import resource  # noqa: PLC0415 - not on Windows

    resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_OUTPUT_LIMIT, _OUTPUT_LIMIT))


def _packaged() -> str | None:
    """Return the assembler that the pip package nvidia-cuda-nvcc-cu12 brings."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return None
    name = "ptxas.exe" if sys.platform == "win32" else "ptxas"
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder).glob(f"*/bin/{name}")):
            if path.is_file():
                return str(path)
    return None


def _kept(ptxas: Ptxas, key: str) -> str | None:
    try:
        return (ptxas.cache / f"{key}.txt").read_text("utf-8") if ptxas.cache else None
    except (OSError, UnicodeDecodeError):
        return None


def _keep(ptxas: Ptxas, key: str, message: str) -> None:
    """Keep messages for the next build; a full disk costs that build time and nothing else."""
    if ptxas.cache is not None:
        keep_file(ptxas.cache / f"{key}.txt", message.encode("utf-8"))
