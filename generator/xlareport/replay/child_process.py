"""The child process that runs programs: bounded in time and memory, with one adapter for jaxlib."""

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from msgspec import Struct

from xlareport.replay.worker.main import FAMILIES
from xlareport.runtime.errors import XlareportError, error_reason
from xlareport.runtime.resources import PACKAGE

_START = (
    "import resource, sys, types; package = types.ModuleType('xlareport'); "
    "package.__path__ = [sys.argv[1]]; sys.modules['xlareport'] = package; "
    "resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[2]),) * 2); "
    "resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2); "
    "from xlareport.replay.worker.main import main; main()"
)
"""Start of the child: only this package is visible there, not other installed ones."""
_KEPT_VARIABLES = ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR", "LANG", "SYSTEMROOT")
_LONGEST_ANSWER = 8_000_000
_LONGEST_LOG = 4_000
_LARGEST_FILE = 1 << 33
_START_SECONDS = 120
_KNOWN = ", ".join(f"{first}.{second}" for first, second in FAMILIES)


class ReplayError(XlareportError):
    """A program cannot be run at all: jaxlib is absent, or its release is not known."""


class RunError(Exception):
    """A program did not run: refused by XLA, crashed, too slow or too large."""


class Bounds(Struct, frozen=True):
    """Resource limits of the child."""

    seconds: float = 120
    """For one program: its compilation and its run."""
    memory_bytes: int = 8_000_000_000
    """Of data; Linux counts private writable memory."""


class Child:
    """A child process with jaxlib; started on the first request, and again after it died."""

    def __init__(self, python: str, folder: Path, bounds: Bounds) -> None:
        """Take the interpreter, a temporary folder that is the child's, and what it may use."""
        self.folder = folder
        self.release = ""
        """Of jaxlib; known once it has started."""
        self._python, self._bounds, self._devices = python, bounds, 1
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "stderr"

    def __enter__(self) -> Self:
        """Start the child and check its jaxlib; raises ReplayError."""
        self._started()
        return self

    def __exit__(self, *_: object) -> None:
        """End the child."""
        self._kill()

    @property
    def pid(self) -> int:
        """The number of the process; 0 where none is running."""
        return 0 if self._process is None else self._process.pid

    def ask(self, operation: str, **request: Any) -> dict[str, Any]:
        """Return the answer to a request; raises RunError with the reason why there is none."""
        self._started()
        return self._ask({"operation": operation, **request}, self._bounds.seconds)

    def use_devices(self, count: int) -> None:
        """Have at least so many CPU devices from the next request on."""
        if count > self._devices:
            self._devices = count
            self.restart()

    def restart(self) -> None:
        """End the child; the next request starts another."""
        self._kill()

    def _started(self) -> None:
        if self._process is not None:
            return
        try:
            log = self._log.open("wb")
            command = [
                *(self._python, "-I", "-c", _START, str(PACKAGE)),
                *(str(self._bounds.memory_bytes), str(_LARGEST_FILE)),
            ]
            with log:
                self._process = subprocess.Popen(  # noqa: S603 - an interpreter that the user named
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=self.folder,
                    env=self._environment(),
                    start_new_session=True,
                )
        except OSError as error:
            message = f"{self._python} cannot be started: {error_reason(error)}."
            raise ReplayError(message) from error
        self._greet()

    def _environment(self) -> dict[str, str]:
        variables = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        devices = f"--xla_force_host_platform_device_count={self._devices}"
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONDONTWRITEBYTECODE": "1"}
        return {**variables, **quiet, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": devices}

    def _greet(self) -> None:
        try:
            answer = self._ask({"operation": "hello"}, _START_SECONDS)
        except RunError as error:
            self._kill()
            raise ReplayError(f"{self._python} cannot run programs: {error}.") from error
        try:
            self._check(answer)
        except ReplayError:
            self._kill()
            raise

    def _check(self, answer: Mapping[str, Any]) -> None:
        if "absent" in answer:
            raise ReplayError(
                f"{self._python} has no jax ({answer['absent']}). Install it with "
                "`pip install xlareport[replay]`, or name an interpreter that has it with --python."
            )
        if not answer["known"]:
            raise ReplayError(
                f"{self._python} has jaxlib {answer['release']}, which this version of xlareport "
                f"does not know: it knows {_KNOWN}. Name another interpreter with --python."
            )
        self.release = answer["release"]

    def _ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RunError("the child process is not there")
        try:
            process.stdin.write(f"{json.dumps(request)}\n".encode())
            process.stdin.flush()
            line = self._line(process, seconds)
        except BrokenPipeError:
            line = b""
        if not line.endswith(b"\n"):
            raise RunError(self._end())
        answer = json.loads(line)
        if "error" in answer:
            raise RunError(answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    def _line(self, process: "subprocess.Popen[bytes]", seconds: float) -> bytes:
        """Return the child's output up to the end of the line; raises RunError on timeout."""
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        deadline, held = time.monotonic() + seconds, bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not held.endswith(b"\n") and len(held) < _LONGEST_ANSWER:
                if not selector.select(max(0, deadline - time.monotonic())):
                    self._kill()
                    raise RunError(f"it took more than {seconds:g} s")
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part:
                    break
                held += part
        return bytes(held)

    def _end(self) -> str:
        """Return how the child died, and forget it."""
        process = self._process
        code = None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=10)
        self._kill()
        return f"the child process {_ended(code)}{self._last_words()}"

    def _last_words(self) -> str:
        try:
            with self._log.open("rb") as file:
                file.seek(max(0, self._log.stat().st_size - _LONGEST_LOG))
                lines = file.read().decode("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        fatal = [line for line in lines if line.startswith("F") or "rror" in line] or lines
        return f": {fatal[0][:300]}" if fatal else ""

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


@contextmanager
def child_process(python: str, bounds: Bounds) -> Iterator[Child]:
    """Start a child with jaxlib in a temporary folder of its own; raises ReplayError."""
    with (
        tempfile.TemporaryDirectory(prefix="xlareport-replay-") as folder,
        Child(python, Path(folder), bounds) as child,
    ):
        yield child


def _ended(code: int | None) -> str:
    if code is None:
        return "did not end"
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"
