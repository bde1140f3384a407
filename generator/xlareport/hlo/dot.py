"""Reads XLA's `.dot` drawings: less than a text, but sometimes all there is.

What a drawing does not show, and what stands in its place:

- constants and broadcasts of them inside fusions: no instruction, no operand of their users
- the root of a computation that is one of these: what it is made from is marked instead, or none
- metadata of fusions whose body is drawn
- get-tuple-element: no instruction; its users name `while.6#1`, as compact texts do
- computations of one simple instruction (`add` of a reduction): not there, not called
- names of fused computations: `unnamed-of-` and the name of the fusion
- names of parameters that nothing uses: `unnamed-parameter.` and the number
- shapes of fusions with several results; members of shapes beyond 64 characters: `unknown[]`
- layouts of one dimension, attributes that were cut, backend configurations, module attributes
- opcodes with which a name begins are not written: the longest that fits is taken
- the order of instructions: operands come before users
- the name of the module: the title of the drawing, which is the name of the file
"""

from xlareport.hlo.dots.graph import DotCluster, DotGraph
from xlareport.hlo.dots.lines import header, lines
from xlareport.hlo.dots.statements import statements
from xlareport.hlo.header import ComputationPool
from xlareport.hlo.line import InstructionPool, LineError
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.hlo.reading import SnapshotReader, SnapshotReading, limited
from xlareport.hlo.trouble import trouble
from xlareport.runtime.errors import Problem


class DotReader(SnapshotReader):
    """Reads drawings that belong together: what is equal in them is one object."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = InstructionPool()
        self._computations = ComputationPool()

    def _read(self, data: bytes) -> SnapshotReading:
        if not data.lstrip().startswith(b"digraph "):
            return SnapshotReading(None, (Problem("", 1, "not a drawing: no digraph"),))
        graph = DotGraph(statements(data.decode("utf-8", "replace")))
        if not graph.top.nodes:
            return SnapshotReading(None, (Problem("", 1, "a drawing without instructions"),))
        problems = list(graph.problems)
        computations = tuple(
            self._computation(cluster, problems, is_entry=cluster is graph.top)
            for cluster in graph.clusters
        )
        return SnapshotReading(HloModule(graph.top.title, "", computations), limited(problems))

    def _computation(
        self, cluster: DotCluster, problems: list[Problem], *, is_entry: bool
    ) -> Computation:
        instructions: list[Instruction] = []
        for line in lines(cluster):
            try:
                instructions.append(self._lines[line])
            except LineError as error:
                drawn = trouble(1, line, error.place, error.message).message
                problems.append(Problem("", None, drawn))
        return self._computations.get(header(cluster, is_entry=is_entry), tuple(instructions))
