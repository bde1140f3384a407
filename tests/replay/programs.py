"""Programs of the tests, read as a dump is."""

from tests.modules import parse_module

from xlareport.replay.rewrite import runnable
from xlareport.replay.runnable_program import RunnableProgram


def program(text: str) -> RunnableProgram:
    return runnable(parse_module(text))


def entry(lines: str, before: str = "", header: str = "") -> str:
    body = "\n".join(f"  {line.strip()}" for line in lines.strip().splitlines())
    return f"HloModule m{header}\n\n{before}\n\nENTRY %main () -> f32[] {{\n{body}\n}}\n"
