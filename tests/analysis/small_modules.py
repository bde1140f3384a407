"""Modules of one computation each, by the lines of their bodies."""

from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader


def modules(*bodies: str) -> list[HloModule]:
    reader = TextReader()
    found = []
    for body in bodies:
        text = (
            "HloModule m\n\nENTRY %main (x: f32[8,4]) -> f32[8] {\n"
            f"  %x = f32[8,4]{{1,0}} parameter(0)\n{body}\n}}\n"
        )
        read = reader.read(text.encode(), "m.txt")
        assert read is not None
        found.append(read)
    return found


def dot(attributes: str = "", kind: str = "f32") -> str:
    dims = "lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}"
    return f"  ROOT %d = {kind}[] dot(%x, %x), {dims}{attributes}"
