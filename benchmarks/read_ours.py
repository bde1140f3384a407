"""Reads the texts named on standard input with TextReader; prints what it took as JSON.

Everything lazy is asked for: operands, shapes, attributes, called computations of every instruction
that any snapshot holds. What snapshots share is one object, asked once.
"""

import json
import sys
import time
from pathlib import Path

from peak import peak_bytes

from xlareport.hlo.model import Computation, HloModule
from xlareport.hlo.text import TextReader


def force(module: HloModule, seen: set[Computation]) -> int:
    """Ask for all that a module holds; return how many instructions it has."""
    count = 0
    for computation in module.computations:
        count += len(computation.instructions)
        if computation in seen:
            continue
        seen.add(computation)
        for instruction in computation.instructions:
            _ = (
                instruction.operands,
                instruction.shape,
                instruction.attributes,
                instruction.called,
            )
    return count


def main() -> None:
    """Read and report."""
    paths = [Path(line.rstrip("\n")) for line in sys.stdin]
    start, start_of_cpu = time.perf_counter(), time.process_time()
    reader, seen = TextReader(), set[Computation]()
    modules = [reader.read(path.read_bytes(), path.name) for path in paths]
    instructions = sum(force(module, seen) for module in modules if module is not None)
    report = {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - start_of_cpu,
        "peak_bytes": peak_bytes(),
        "modules": len(modules),
        "instructions": instructions,
        "problems": len(reader.problems),
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
