"""The process that runs Graphviz: a script of its own that may be killed at any moment.

It reads a line `LENGTH` and that many bytes of DOT, and writes a line `ok LENGTH` and Graphviz's
JSON, or `failed LENGTH` and a reason; then the next. Arguments: seconds of computing that one
picture may take, bytes of memory for the process. It imports nothing of xlareport, so that it
starts fast anywhere.
"""

import importlib.util
import math
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from functools import cache


def main(seconds: float, memory: int) -> None:
    """Answer requests until the other side hangs up."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the answers
    _limit_memory(memory)
    while request := sys.stdin.buffer.readline():
        _arm(seconds)
        verdict, answer = _answer(sys.stdin.buffer.read(int(request)), seconds)
        _arm(0)
        answers.write(b"%s %d\n%s" % (verdict, len(answer), answer))
        answers.flush()


def _answer(dot: bytes, seconds: float) -> tuple[bytes, bytes]:
    """Return the layout of one picture; an error becomes the answer."""
    try:
        return b"ok", _graphviz(dot, seconds)
    except Exception as error:  # noqa: BLE001 - the caller draws something smaller instead
        return b"failed", f"{type(error).__name__}: {error}".encode()


def _graphviz(dot: bytes, seconds: float) -> bytes:
    """Run the Graphviz that came with the package, or the program `dot` where there is none."""
    program = _find_graphviz()
    if program is None:
        import graphviz  # noqa: PLC0415 - only where needed

        return bytes(graphviz.Source(dot.decode()).pipe(format="json0", quiet=True))
    with subprocess.Popen(  # noqa: S603 - the program of a package, and DOT that we wrote
        [program, "-Kdot", "-Tjson0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_bound_itself(seconds),
    ) as process:
        _bound_from_outside(process.pid, seconds)
        answer, errors = process.communicate(dot)
    if hasattr(signal, "SIGXCPU") and process.returncode == -signal.SIGXCPU:
        os.kill(os.getpid(), signal.SIGPROF)  # as if this process had computed too long
    if process.returncode:
        raise OSError(errors.decode(errors="replace").strip() or f"exit {process.returncode}")
    return answer


@cache
def _find_graphviz() -> str | None:
    """Return the program of the package graphviz-pure, next to this Python or in the home."""
    user = sysconfig.get_preferred_scheme("user")
    folders = (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user))
    return next(
        filter(None, (shutil.which("graphviz-pure", path=at) for at in (*folders, None))), None
    )


def _bound_from_outside(program: int, seconds: float) -> None:
    """Limit the CPU time of a program that has just started; Linux alone can."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - not on Windows

        whole = math.ceil(seconds)
        resource.prlimit(program, resource.RLIMIT_CPU, (whole, whole + 1))


def _bound_itself(seconds: float) -> Callable[[], None] | None:
    """Return a function by which a program limits its CPU time before it starts, on a Mac.

    Starting it takes twice the time then, because our memory is copied.
    """
    if sys.platform == "linux" or importlib.util.find_spec("resource") is None:
        return None
    import resource  # noqa: PLC0415 - not on Windows

    whole = math.ceil(seconds)
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))


def _limit_memory(size: int) -> None:
    """Let allocations fail beyond `size` bytes, where the system can do that."""
    if importlib.util.find_spec("resource") is None:
        return
    import resource  # noqa: PLC0415 - not on Windows

    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _arm(seconds: float) -> None:
    """Set a CPU time limit that ends this process even if its parent is gone; 0 removes it."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
