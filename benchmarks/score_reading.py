"""Scores the reading of HLO that people wrote: the modules in the tests of a checkout of XLA.

usage: python benchmarks/score_reading.py CHECKOUT [--show N]

Needs a Python with jaxlib (extra `oracle`).

Each text that XLA's own parser takes is read as it stands; instructions, opcodes and operand counts
are compared with what that parser made of it, and so is the text that XLA prints of it.
"""

import argparse
import base64
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from xlareport.hlo.model import HloModule
from xlareport.hlo.proto import ProtoReader
from xlareport.hlo.text import TextReader

_RAW_STRING = re.compile(r'R"([^()\s\\]{0,16})\((.*?)\)\1"', re.DOTALL)
_SUFFIXES = frozenset({".cc", ".h", ".hlo"})
_LARGEST = 2_000_000
"""Bytes of a printed text; larger ones are constants written out."""
_TIMEOUT = 30
_PARSER = """
import base64, json, sys
from jaxlib.xla_client import hlo
for line in sys.stdin:
    try:
        module = hlo.hlo_module_from_text(json.loads(line))
        proto = base64.b64encode(module.as_serialized_hlo_module_proto()).decode()
        answer = [module.to_string(), proto]
    except Exception:
        answer = None
    print(json.dumps(answer), flush=True)
"""


def texts(checkout: Path) -> Iterator[tuple[str, str]]:
    """Yield path and text of every module in the sources of a checkout, each text once."""
    seen = set()
    for path in sorted(checkout.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            content = path.read_text("utf-8", "replace")
            strings = (match[2] for match in _RAW_STRING.finditer(content))
            for text in [content] if path.suffix == ".hlo" else strings:
                if "HloModule" in text and text not in seen:
                    seen.add(text)
                    yield str(path.relative_to(checkout)), text


class XlaParser:
    """XLA's own parser in a child process, which is begun anew where it died."""

    def __init__(self) -> None:
        self._child = self._start()

    def parse(self, text: str) -> tuple[str, bytes] | None:
        """Return a module as XLA prints it and as its proto; None where XLA does not take it."""
        if self._child.stdin is None or self._child.stdout is None:
            return None
        try:
            self._child.stdin.write(json.dumps(text) + "\n")
            self._child.stdin.flush()
            answer = self._child.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._child.wait(_TIMEOUT)
            self._child = self._start()
            return None
        parsed = json.loads(answer)
        return (parsed[0], base64.b64decode(parsed[1])) if parsed else None

    def _start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", _PARSER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


def read(text: str) -> tuple[HloModule | None, list[str]]:
    """Read a text; return the module and what could not be read."""
    reader = TextReader()
    module = reader.read(text.encode(), "text")
    messages = [problem.message.split("\n")[0] for problem in reader.problems]
    return module, [message for message in messages if "ENTRY" not in message]


def contents(module: HloModule | None) -> Counter[tuple[str, int]]:
    """Count the instructions of a module by opcode and number of operands."""
    lines = module.instructions if module is not None else ()
    return Counter((line.opcode, len(line.operands)) for line in lines)


def lost_attributes(text: str, written: HloModule | None, printed: HloModule | None) -> list[str]:
    """Return what XLA prints of the attributes of an instruction and the reading as written lacks.

    Instructions of one name and opcode are compared; those that XLA renamed are left out, and
    attributes of which the text says nothing or which are empty: XLA prints defaults.
    """
    if written is None or printed is None:
        return []
    known: dict[tuple[str, str], set[str]] = {}
    for line in written.instructions:
        known.setdefault((line.name, line.opcode), set()).update(line.attributes)
    return [
        key
        for line in printed.instructions
        for key, value in line.attributes.items()
        if value != "{}" and key not in _ADDED and f"{key}=" in text
        if key not in known.get((line.name, line.opcode), {key})
    ]


_ADDED = frozenset({"metadata", "frontend_attributes", "origin", "control-predecessors"})
"""What XLA prints of its own accord, or says in other words."""


def verdict(text: str, printed: str, proto: bytes) -> str:
    """Return what is wrong with the reading of a text; empty where nothing is.

    Its text says `copy-start` where its proto says `async-start`: people write both.
    """
    module, messages = read(text)
    parsed = read(printed)[0], ProtoReader().read(proto, "proto")
    if contents(module) not in map(contents, parsed):
        return f"other instructions: {messages[0] if messages else 'nothing said'}"
    lost = lost_attributes(text, module, parsed[0])
    if lost:
        return f"attribute {lost[0]} is missing"
    return messages[0] if messages else ""


def main() -> None:
    """Print how many of the texts are read whole, as written and as printed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("checkout", type=Path)
    arguments.add_argument("--show", type=int, default=0)
    options = arguments.parse_args()
    parser, wrong, total, printed_whole = XlaParser(), Counter[str](), 0, 0
    for path, text in texts(options.checkout):
        parsed = parser.parse(text)
        if parsed is None or len(parsed[0]) > _LARGEST:
            continue
        total += 1
        printed_whole += not read(parsed[0])[1]
        problem = verdict(text, *parsed)
        if problem:
            wrong[problem] += 1
            if wrong.total() <= options.show:
                print(f"{path}: {problem}\n{text[:1000]}\n")
    whole = total - wrong.total()
    print(f"{total:,} modules that XLA's parser takes")
    print(f"  read whole as written   {whole:>7,}  {whole / max(total, 1):.2%}")
    print(f"  read whole as printed   {printed_whole:>7,}  {printed_whole / max(total, 1):.2%}")
    for problem, count in wrong.most_common():
        print(f"  {count:>5,}  {problem}")


if __name__ == "__main__":
    main()
