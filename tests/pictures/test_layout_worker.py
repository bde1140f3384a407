"""The worker is a script of its own: it answers whatever it is asked and says nothing else."""

import signal
import subprocess
import sys
from pathlib import Path

from xlareport.pictures import layout_worker

SCRIPT = Path(layout_worker.__file__)


def answers(
    *requests: bytes, memory: int = 1 << 30, seconds: str = "20"
) -> subprocess.CompletedProcess[bytes]:
    text = b"".join(b"%d\n%s" % (len(request), request) for request in requests)
    command = [sys.executable, "-P", str(SCRIPT), seconds, str(memory)]
    return subprocess.run(command, input=text, capture_output=True, check=False)


def test_it_answers_in_graphviz_json() -> None:
    found = answers(b"digraph { n0; }", b"digraph { n0 -> n1; }")
    verdict, _, rest = found.stdout.partition(b"\n")
    length = int(verdict.split()[1])
    assert verdict.startswith(b"ok ")
    assert b'"name": "n0"' in rest[:length]
    assert rest[length:].startswith(b"ok ")
    assert found.returncode == 0


def test_what_is_no_graph_is_answered_too() -> None:
    found = answers(b"\xff\xfe", b"no graph", b"digraph { n0; }").stdout
    assert found.count(b"failed ") == 2
    assert found.count(b"ok ") == 1


def test_it_ends_when_nobody_asks() -> None:
    found = answers()
    assert (found.returncode, found.stdout) == (0, b"")


def test_too_little_memory_ends_the_worker_and_not_us() -> None:
    graph = b"digraph {" + b"".join(b"n%d -> n%d;" % (n % 97, n % 89) for n in range(3000)) + b"}"
    assert not answers(graph, memory=1 << 26).stdout.startswith(b"ok ")


def test_what_computes_too_long_ends_the_worker() -> None:
    graph = b"digraph {" + b"".join(b"n%d -> n%d;" % (n % 97, n % 89) for n in range(3000)) + b"}"
    assert answers(graph, seconds="0.01").returncode == -signal.SIGPROF
