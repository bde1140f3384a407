"""Files beside the modules that tell of all of them: graphs and logs of the framework, traces."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlareport.dump.limits import LIMITS, Limits, too_large
from xlareport.dump.modules import Artifact
from xlareport.errors import Problem
from xlareport.readers.run_profile import Runs, read_run_profile
from xlareport.readers.tf_graph import FrameworkGraph, read_tf_graph
from xlareport.readers.tf_log import read_tf_log

TRACES = (".trace.json.gz", ".trace.json")
"""How the names of traces end."""


def read_graphs(
    artifacts: Sequence[Artifact], limits: Limits = LIMITS
) -> tuple[tuple[FrameworkGraph, ...], tuple[Problem, ...]]:
    """Read the graphs of the framework that lie beside the modules."""
    graphs: list[FrameworkGraph] = []
    problems: list[Problem] = []
    listed = (one for one in artifacts if one.name.kind == "tf-graph")
    for one, content in _beside(listed, limits, problems):
        found, wrong = read_tf_graph(content, one.path)
        graphs += found
        problems += wrong
    return tuple(graphs), tuple(problems)


def read_reasons(
    artifacts: Sequence[Artifact], limits: Limits = LIMITS
) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
    """Read off logs beside the modules why the framework left operations out of its clusters."""
    reasons: dict[str, str] = {}
    problems: list[Problem] = []
    listed = (one for one in artifacts if one.name.kind == "log")
    for _, content in _beside(listed, limits, problems):
        reasons |= read_tf_log(content)
    return reasons, tuple(problems)


def read_runs(
    artifacts: Sequence[Artifact], limits: Limits = LIMITS
) -> tuple[Mapping[str, Runs], tuple[Problem, ...]]:
    """Read how often modules ran, by their names, off the traces that lie beside them."""
    runs: dict[str, Runs] = {}
    problems: list[Problem] = []
    listed = (one for one in artifacts if one.path.endswith(TRACES))
    for one, content in _beside(listed, limits, problems):
        found, wrong = read_run_profile(content, one.path, limits.beside_bytes)
        for name, some in found.items():
            runs[name] = some + runs[name] if name in runs else some
        problems += wrong
    return runs, tuple(problems)


def _beside(
    artifacts: Iterable[Artifact], limits: Limits, problems: list[Problem]
) -> Iterator[tuple[Artifact, bytes]]:
    """Yield files that lie beside the modules with their contents; what is not read is told."""
    for one in artifacts:
        try:
            wrong = _too_large(one, limits)
            if not wrong:
                yield one, one.entry.read()
        except OSError as error:
            wrong = str(error.strerror)
        if wrong:
            problems.append(Problem(one.path, None, f"Not read: {wrong}."))


def _too_large(one: Artifact, limits: Limits) -> str:
    fits = one.entry.size <= limits.beside_bytes
    return "" if fits else too_large(limits.beside_bytes, "--max-beside-size")
