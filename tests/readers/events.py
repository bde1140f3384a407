"""Events as traces write them, profiles of one line."""

from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from xlareport.readers.op_events import OpEvent
from xlareport.readers.table_protos import message_class
from xlareport.readers.trace_events import trace_events
from xlareport.readers.xplane import xplane_events
from xlareport.runtime.errors import Problem


def sums(events: Iterable[OpEvent]) -> Counter[str]:
    counter: Counter[str] = Counter()
    for one in events:
        counter[one.instruction] += one.duration
    return counter


def event(op: str, start: object, length: object, **told: str) -> dict[str, object]:
    args = {"hlo_module": "jit_f(77)", "hlo_op": op, **told}
    return {"ph": "X", "ts": start, "dur": length, "pid": 1, "tid": 2, "args": args}


def read(path: Path, data: bytes) -> tuple[list[OpEvent], list[Problem]]:
    path.write_bytes(data)
    problems: list[Problem] = []
    with path.open("rb") as file:
        return list(trace_events(file, path.name, problems)), problems


def space(*events: tuple[str, int, int]) -> bytes:
    """Return an XSpace of one line, each kind of event with its module told once."""
    plane, line = message_class("xplane", "XPlane")(), message_class("xplane", "XLine")()
    plane.name = "/device:GPU:0"
    for number, name in enumerate(("hlo_op", "hlo_module", "run_id", "jit_g"), 1):
        entry = plane.stat_metadata.add(key=number)
        entry.value.name = name
    line.timestamp_ns = 2
    for number, (name, start, length) in enumerate(events, 1):
        kind = plane.event_metadata.add(key=number)
        kind.value.stats.add(metadata_id=1, str_value=name)
        kind.value.stats.add(metadata_id=2, ref_value=4)
        one = line.events.add(metadata_id=number, offset_ps=start, duration_ps=length)
        one.stats.add(metadata_id=3, int64_value=9)
    plane.lines.append(line.SerializeToString())
    made = message_class("xplane", "XSpace")(planes=[plane.SerializeToString()])
    return bytes(made.SerializeToString())


def read_space(data: bytes) -> tuple[list[OpEvent], list[Problem]]:
    problems: list[Problem] = []
    return list(xplane_events(BytesIO(data), "x.xplane.pb", problems)), problems


def device(name: str, kinds: dict[str, dict[str, str]], lines: dict[str, list[str]]) -> bytes:
    """Return a plane as tests write it: kinds of events with what is told of them; lines of events.

    An event is `kind start length`, and perhaps `stat=value`.
    """
    plane = message_class("xplane", "XPlane")(name=name)
    stats = ["", "hlo_op", "hlo_module", "run_id", "program_id"]
    numbers = {kind: number for number, kind in enumerate(kinds, 1)}
    for number, stat in enumerate(stats):
        plane.stat_metadata.add(key=number).value.name = stat
    for kind, number in numbers.items():
        entry = plane.event_metadata.add(key=number)
        entry.value.name = kind
        for stat, value in kinds[kind].items():
            entry.value.stats.add(metadata_id=stats.index(stat), str_value=value)
    for number, (title, events) in enumerate(lines.items()):
        line = message_class("xplane", "XLine")(id=number, name=title, timestamp_ns=1)
        for written in events:
            kind, start, length, *rest = written.rsplit("|")
            one = line.events.add(
                metadata_id=numbers[kind], offset_ps=int(start), duration_ps=int(length)
            )
            for stat, _, value in (pair.partition("=") for pair in rest):
                one.stats.add(metadata_id=stats.index(stat), int64_value=int(value))
        plane.lines.append(line.SerializeToString())
    made = message_class("xplane", "XSpace")(planes=[plane.SerializeToString()])
    return bytes(made.SerializeToString())
