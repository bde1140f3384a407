"""Reading a profile of many events: events a second, and the peak of memory, which must not grow.

A profile is made by repeating a small real one, in both forms, one after the other shifted in time
and with runs of its own. Each is read in a process of its own. The table is printed and written as
JSON; on a busy machine the CPU's time says more.
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from xlareport.dump.source import open_source
from xlareport.readers.op_events import OpEvent
from xlareport.readers.table_protos import message_class
from xlareport.readers.trace_events import trace_events
from xlareport.side_files import read_profiles

ROOT = Path(__file__).parents[1]
SMALL = ROOT / "tests" / "data" / "looped.tar.zst"
SIZES = (100_000, 1_000_000, 10_000_000)


def main() -> None:
    """Make profiles of growing length, read each, and say what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench_profiles.json")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        print(json.dumps(read(arguments.read)))
        return
    found = []
    for one in measure(arguments.events):
        print(json.dumps(one), flush=True)  # the largest take minutes
        found.append(one)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    show(found)


def measure(sizes: list[int]) -> Iterator[dict[str, object]]:
    """Yield what reading took, for each size and form."""
    events = small_profile()
    for size in sizes:
        for name, write in (("vm.trace.json.gz", write_trace), ("vm.xplane.pb", write_plane)):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / name
                write(path, repeated(events, size))
                command = [sys.executable, __file__, "--read", folder]
                said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                yield {"form": name, "megabytes": path.stat().st_size / 1e6, **json.loads(said)}


def read(folder: Path) -> dict[str, float]:
    """Read the profile in a folder as a build does."""
    begun = time.process_time()
    with open_source(folder) as source:
        profiles = read_profiles(source, ())
    seconds = time.process_time() - begun
    events = sum(module.events for module in profiles.modules.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"events": events, "cpu_seconds": seconds, "peak_megabytes": peak}


def small_profile() -> list[OpEvent]:
    """Return the events of the small profile."""
    with open_source(SMALL) as source:
        (trace,) = (entry for entry in source.entries if entry.path.endswith(".trace.json.gz"))
        with trace.location.open("rb") as file:
            return list(trace_events(file, trace.path, []))


def repeated(events: list[OpEvent], size: int) -> Iterator[OpEvent]:
    """Yield so many events, each repetition later than the one before, with runs of its own."""
    length = max(event.end for event in events) + 1
    for number in range(size):
        again, place = divmod(number, len(events))
        event = events[place]
        yield replace(event, start=event.start + again * length, run=f"{event.run}{again:06d}")


def write_trace(path: Path, events: Iterator[OpEvent]) -> None:
    """Write a Chrome trace."""
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[{}')
        for event in events:
            args = {"hlo_module": event.module, "hlo_op": event.instruction, "run_id": event.run}
            told = {"ph": "X", "pid": event.thread[0], "tid": event.thread[1], "args": args}
            told |= {
                "ts": event.start / 1e6,
                "dur": event.duration / 1e6,
                "name": event.instruction,
            }
            file.write("," + json.dumps(told, separators=(",", ":")))
        file.write("]}")


def write_plane(path: Path, events: Iterator[OpEvent]) -> None:
    """Write a space of one plane with one line."""
    numbers: dict[str, int] = {}
    for one in ("hlo_op", "hlo_module", "run_id"):
        numbers[one] = len(numbers) + 1
    with tempfile.TemporaryFile() as body:
        for event in events:
            line = message_class("xplane", "XLine")()
            made = line.events.add(offset_ps=event.start, duration_ps=event.duration)
            for name, text in (("hlo_op", event.instruction), ("hlo_module", event.module)):
                number = numbers.setdefault(text, len(numbers) + 1)
                made.stats.add(metadata_id=numbers[name], ref_value=number)
            made.stats.add(metadata_id=numbers["run_id"], int64_value=int(event.run))
            body.write(line.SerializeToString())
        rest = message_class("xplane", "XPlane")(name="/host:CPU")
        for text, number in numbers.items():
            rest.stat_metadata.add(key=number).value.name = text
        head = tagged(3, body.tell())
        tail = rest.SerializeToString()
        with path.open("wb") as file:
            file.write(tagged(1, len(head) + body.tell() + len(tail)) + head)
            body.seek(0)
            while piece := body.read(1 << 20):
                file.write(piece)
            file.write(tail)


def tagged(number: int, length: int) -> bytes:
    """Return the head of a field that has so many bytes."""
    head = [number << 3 | 2]
    while length > 0x7F:
        head.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes((*head, length))


def show(found: list[dict[str, object]]) -> None:
    """Print a table."""
    table = Table("form", "events", "MB", "CPU s", "events a second", "peak MB")
    for one in found:
        events, seconds = float(str(one["events"])), float(str(one["cpu_seconds"]))
        table.add_row(
            str(one["form"]),
            f"{events:,.0f}",
            f"{one['megabytes']:,.0f}",
            f"{seconds:,.1f}",
            f"{events / seconds:,.0f}",
            f"{one['peak_megabytes']:,.0f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
