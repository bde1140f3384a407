"""Programs of the tests, read as a dump is."""

from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.replay.programs import RunnableProgram
from xlareport.replay.rewrite import runnable


def read(text: str) -> HloModule:
    module = TextReader().read(text.encode(), "a.txt")
    assert module is not None
    return module


def program(text: str) -> RunnableProgram:
    return runnable(read(text))


def entry(lines: str, before: str = "", header: str = "") -> str:
    body = "\n".join(f"  {line.strip()}" for line in lines.strip().splitlines())
    return f"HloModule m{header}\n\n{before}\n\nENTRY %main () -> f32[] {{\n{body}\n}}\n"
