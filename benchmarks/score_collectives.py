"""Counts collectives in the texts of dumps with regexes and compares: score_collectives.py DUMP...

The count shares no code with the analysis: it reads lines, shapes and groups by itself. For each
final module it compares kind, bytes, bytes sent and group size of every collective, whether what is
said to be the user's stands in `before_optimizations`, whether the pass that is said to have made
one names a snapshot before which there is none, and whether what is null has a reason. Permutes of
windowed einsums, by the op_names of the loops that the partitioner names so, must be reported as
hops of a collective matmul that gathers an operand (`_ag`) or scatters the result (`_rs`).
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from xlareport.analysis.module import AnalysisOptions, analyze_module
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.records.collectives import collective_records
from xlareport.runtime.faults import Faults

KINDS = (
    "all-gather|all-reduce|reduce-scatter|all-to-all|ragged-all-to-all|collective-permute"
    "|collective-broadcast"
)
COLLECTIVE = re.compile(rf"^\s+(?:ROOT )?%?(\S+) = (.+?) ({KINDS})(?:-start)?\((.*?)\), (.*)$")
HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{\s*$|^(ENTRY )?%?([\w.\-]+) \{\s*$")
DEFINED = re.compile(r"^\s+(?:ROOT )?%?(\S+) = (.+?) [\w\-]+\(")
CALLED = re.compile(r"(?:calls|body|condition|to_apply|called_computations)=\{?%?([\w.\-]+)")
BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
ARRAY = re.compile(r"([a-z]+)(\d*)\w*\[([\d,]*)\]")
ONE_SHOT = '"kernel_strategy":"KERNEL_STRATEGY_TRITON_ONE_SHOT"'
WINDOWED = re.compile(r" while\(.*body=%?windowed_dot_general_body_(ag|rs)\b.*op_name=\"([^\"]*)\"")
RING = "collective matmul"
HOPS = {"ag": "all-gather of", "rs": "reduce-scatter of"}
BITS = {"pred": 8, "token": 0}


def bytes_of(shape: str) -> int:
    """Add up the arrays of a shape as it is written, layouts left out."""
    text = re.sub(r"\{[^}]*\}", "", shape)
    total = 0
    for letters, digits, sizes in ARRAY.findall(text):
        bits = BITS.get(letters + digits, BITS.get(letters, int(digits or 0)))
        count = prod(int(size) for size in sizes.split(",") if size)
        total += -(-bits * count // 8)
    return total


def group_size(kind: str, attributes: str, partitions: int) -> int:
    """Read who takes part from the attribute's text."""
    if kind == "collective-permute":
        return 2
    iota = re.search(r"replica_groups=\[(\d+),(\d+)\]<=", attributes)
    if iota:
        return int(iota[2])
    mesh = re.search(
        r"replica_groups=mesh\[([^\]]*)\](?:, ?device_ids=\(.*?\))? \{([^}]*)\}", attributes
    )
    if mesh:
        sizes = {name: int(size) for name, size in re.findall(r"'(\w+)'=(\d+)", mesh[1])}
        axes = re.findall(r"'(\w+)'(?::\((\d+)\)(\d+))?", mesh[2])
        return prod(int(part) if part else sizes[name] for name, _, part in axes)
    listed = re.search(r"replica_groups=\{\{([\d,]*)\}", attributes)
    return len(listed[1].split(",")) if listed else partitions


def sent(kind: str, size: int, data: int, attributes: str) -> int:
    """Return what one device of n sends by a ring algorithm, or to each other one in one shot."""
    if kind == "all-reduce" and ONE_SHOT in attributes:
        return (size - 1) * data
    if size < 2:
        return 0
    if kind in ("collective-permute", "collective-broadcast"):
        return data
    return int(data * (2 if kind == "all-reduce" else 1) * (size - 1) / size)


def read_blocks(text: str) -> tuple[str, dict[str, list[str]]]:
    """Return the name of the entry, and the lines of each computation."""
    blocks: dict[str, list[str]] = {}
    entry, current = "", ""
    for line in text.splitlines():
        head = HEAD.match(line)
        if head and "=" not in line.split("(")[0]:
            current = head[2] or head[4]
            blocks[current] = []
            entry = current if head[1] or head[3] else entry
        elif current and line.startswith((" ", "\t")):
            blocks[current].append(line)
    return entry, blocks


def reached(entry: str, blocks: dict[str, list[str]]) -> set[str]:
    """Return the computations that the entry runs."""
    waiting, known = [entry], set()
    while waiting:
        name = waiting.pop()
        if name in known or name not in blocks:
            continue
        known.add(name)
        for line in blocks[name]:
            waiting += CALLED.findall(line)
            for names in BRANCHES.findall(line):
                waiting += re.findall(r"[\w.\-]+", names)
            waiting += re.findall(r"(?:true|false)_computation=%?([\w.\-]+)", line)
    return known


def count_text(text: str) -> Counter[tuple[str, int, int, int]]:
    """Count the collectives of a module's text by kind, bytes, bytes sent and group size."""
    partitions = int((re.search(r"num_partitions=(\d+)", text) or [0, 1])[1])
    replicas = int((re.search(r"replica_count=(\d+)", text) or [0, 1])[1])
    entry, blocks = read_blocks(text)
    counter: Counter[tuple[str, int, int, int]] = Counter()
    pieces: set[tuple[str, str]] = set()
    fused_in = {
        name: place
        for place, lines in blocks.items()
        for line in lines
        if " fusion(" in line
        for name in re.findall(r"calls=%?([\w.\-]+)", line)
    }
    for name in sorted(reached(entry, blocks)):
        shapes = {m[1]: m[2] for m in map(DEFINED.match, blocks[name]) if m}
        for line in blocks[name]:
            match = COLLECTIVE.match(line)
            if not match:
                continue
            shape, kind, operands, attributes = match[2], match[3], match[4], match[5]
            if "chain_id=" in attributes:
                channel = re.search(r"channel_id=(\d+)", attributes)
                piece = (fused_in.get(name, name), channel[1] if channel else line)
                if piece in pieces:
                    continue
                pieces.add(piece)
            names = re.findall(r"%?([\w.\-]+)(?=,|$)", re.sub(r"/\*.*?\*/", "", operands))
            taken = sum(bytes_of(shapes.get(each, "")) for each in names)
            is_start = f" {kind}-start(" in line
            given = started(shape) if is_start and kind != "all-reduce" else shape
            data = max(taken, bytes_of(given))
            scatters = name.startswith("all-reduce-scatter")
            kind = "reduce-scatter" if scatters else kind
            size = group_size(kind, attributes, partitions * replicas)
            counter[kind, data, sent(kind, size, data, attributes), size] += 1
    return counter


def started(shape: str) -> str:
    """Return the second member of the tuple that a start has: what its done will be."""
    inner, depth, parts, begin = shape[1:-1], 0, [], 0
    for at, letter in enumerate(inner):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(inner[begin:at])
            begin = at + 1
    parts.append(inner[begin:])
    return parts[1] if len(parts) > 1 else shape


def nulls(record: dict[str, Any]) -> Iterator[str]:
    """Yield the keys that are null without a reason."""
    for key, value in record.items():
        plain = value is None and not key.endswith("_reason") and key not in ("done", "is_sync")
        if plain and not record.get(f"{key}_reason"):
            yield key


def check(dump: Path) -> Counter[str]:
    """Compare the modules of one dump; prints what differs."""
    counts: Counter[str] = Counter()
    with open_source(dump) as source:
        for files in group(name_files(source)).modules:
            made = analyze_module(files, AnalysisOptions(), Faults("dump"), lambda *_: None)
            final = made.module.final
            if final is None or final.read_from.name.kind != "hlo-text":
                continue
            text = final.read_from.entry.read().decode("utf-8", "replace")
            counted = count_text(text)
            records = [
                to_builtins(collective_record)
                for collective_record in collective_records(made.analysis.collectives)
            ]
            if counted or records:
                counts["modules"] += 1
                counts += compare(files.key, counted, records, made.module.snapshots)
    return counts


def compare(key: str, counted: Any, records: list[Any], snapshots: Any) -> Counter[str]:
    """Compare one module; return what was counted."""
    counts: Counter[str] = Counter(collectives=len(records), counted=counted.total())
    told = Counter(
        (record["kind"], record["bytes"], record["wire_bytes"], record["group_size"])
        for record in records
    )
    counts["equal"] = (told & counted).total()
    if told != counted:
        print(
            key,
            "only in the report:",
            dict(told - counted),
            "only in the text:",
            dict(counted - told),
        )
    texts = [snapshot.read_from.entry.read().decode("utf-8", "replace") for snapshot in snapshots]
    first = next((at for at, text in enumerate(texts) if count_text(text)), len(texts))
    in_program = bool(texts) and bool(count_text(texts[0]))
    counts += compare_rings(records, texts)
    for record in records:
        origin = record["origin"]
        counts[f"cause {origin['cause']}"] += 1
        counts[f"grade {origin['grade']}"] += 1
        missing = [*nulls(record), *nulls(origin)]
        counts["null without reason"] += len(missing)
        by_user = origin["cause"] == "written by the user"
        counts["user without program"] += by_user and not in_program
        is_first = origin["stage"] == snapshots[first].stage.label if first < len(texts) else False
        counts["first where the text has it"] += is_first
        unknown = [name for name in ("sharding", "time_us", "exposed_us") if record[name] is None]
        for name in unknown if not by_user else [name for name in unknown if name != "sharding"]:
            counts[f"{name} null: {record[f'{name}_reason'][:60]}"] += 1
        if record["sharding"] and not record["sharding"]["to"]:
            counts["sharding without to"] += 1
        if missing:
            print(key, record["instruction"], "null without reason:", missing)
    return counts


def windowed_loops(texts: list[str]) -> dict[str, set[str]]:
    """Return the op_names of windowed einsums, each with the kinds of its loops: `ag`, `rs`."""
    loops: dict[str, set[str]] = {}
    for text in texts:
        for kind, name in WINDOWED.findall(text):
            loops.setdefault(name, set()).add(kind)
    return loops


def compare_rings(records: list[Any], texts: list[str]) -> Counter[str]:
    """Count the hops of windowed einsums that are reported as such, as others, and too many."""
    loops, counts = windowed_loops(texts), Counter[str]()
    for record in records:
        origin = record["origin"]
        kinds = loops.get(record["op_name"], set())
        is_hop = record["kind"] == "collective-permute" and bool(kinds)
        said = any(HOPS[kind] in origin["detail"] for kind in kinds)
        is_right = origin["cause"] == RING and said
        counts["hops"] += is_hop and is_right
        counts["hops as others"] += is_hop and not is_right
        counts["others as hops"] += origin["cause"] == RING and not is_hop
        if is_hop and not is_right:
            print(record["instruction"], "is a hop of a windowed einsum:", origin["detail"])
    return counts


def main() -> int:
    """Score the dumps; the exit code is 1 where a count differs or a null has no reason."""
    whole: Counter[str] = Counter()
    for path in sys.argv[1:]:
        counts = check(Path(path))
        print(Path(path).name, dict(counts))
        whole += counts
    print("all", dict(whole))
    wrong = whole["collectives"] != whole["equal"] or whole["counted"] != whole["equal"]
    wrong = wrong or whole["hops as others"] + whole["others as hops"] > 0
    return int(wrong or whole["null without reason"] > 0 or whole["user without program"] > 0)


if __name__ == "__main__":
    sys.exit(main())
