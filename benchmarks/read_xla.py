"""Reads the texts named on standard input with XLA's parser; prints what it took as JSON.

A module is let go before the next is read: XLA shares nothing between them. Compact tuple elements
are expanded outside the measured time, because parsers before jaxlib 0.12 refuse them.
"""

import json
import sys
import time
from pathlib import Path

from jaxlib.xla_client import hlo
from peak import peak_bytes
from tuple_elements import expand_tuple_elements


def main() -> None:
    """Read and report; a text that XLA refuses counts as a problem."""
    paths = [Path(line.rstrip("\n")) for line in sys.stdin]
    seconds = cpu_seconds = 0.0
    problems = 0
    for path in paths:
        text = expand_tuple_elements(path.read_text("utf-8", "replace"))
        start, start_of_cpu = time.perf_counter(), time.process_time()
        try:
            hlo.hlo_module_from_text(text)
        except Exception:  # noqa: BLE001  jaxlib raises types of its own
            problems += 1
        seconds += time.perf_counter() - start
        cpu_seconds += time.process_time() - start_of_cpu
    report = {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_bytes": peak_bytes(),
        "modules": len(paths) - problems,
        "instructions": None,
        "problems": problems,
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
