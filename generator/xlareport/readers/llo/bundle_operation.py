"""Reads one operation of a bundle: `%s30_s25 = sadd.s32 (%p5), 1, %s29_s24 /* comment */`.

After register allocation a name ends in its register: `%s30_s25` is the value `s30` in `s25`.
"""

import re

from msgspec import Struct

_OPERATION = re.compile(
    r"\s*+(?:%([\w.]+) = )?(\d*+[a-zA-Z_][\w.-]*+)(?:\s++\((!?)%([\w.]+)\),?)?\s*+(.*)", re.DOTALL
)
_REGISTER = re.compile(r"%([\w.]+)")
SPILL = "_spill"
"""Suffix of names of slots for spilled registers."""


class LloOperation(Struct):
    """An operation; registers are physical ones, as in `s25` and `p0`."""

    result: str
    """The register that it writes; empty where it writes none."""
    opcode: str
    predicate: str
    """The register that decides whether it runs; empty where it always runs."""
    negated: bool
    """Whether it runs where the predicate is false."""
    operands: str
    """As written, without comments."""

    @property
    def is_spill_slot(self) -> bool:
        """Return whether an operation reads or writes a slot for spilled registers."""
        return SPILL in self.operands and "#allocation" in self.operands


def without_comments(text: str) -> str:
    """Return a text without `/* */`; what is not closed stays."""
    pieces: list[str] = []
    place = 0
    while (begin := text.find("/*", place)) >= 0:
        end = text.find("*/", begin + 2)
        if end < 0:
            break
        pieces.append(text[place:begin])
        place = end + 2
    return "".join((*pieces, text[place:]))


def parse_operations(text: str) -> list[LloOperation]:
    """Parse what a bundle holds between its braces; what has no opcode is left out."""
    body = without_comments(text)
    inner = body[body.find("{") + 1 : body.rfind("}")]
    matches = (_OPERATION.match(part) for part in inner.split(" ;; "))
    return [
        LloOperation(register(match[1] or ""), match[2], register(match[4] or ""), *_rest(match))
        for match in matches
        if match
    ]


def _rest(match: re.Match[str]) -> tuple[bool, str]:
    return match[3] == "!", match[5].strip()


def register(name: str) -> str:
    """Return the register of a name: `s30_s25` is in `s25`; empty for a name without one."""
    return name.rpartition("_")[2] if "_" in name else ""


def registers(operands: str) -> tuple[str, ...]:
    """Return the registers that operands name, in order."""
    names = (register(name) for name in _REGISTER.findall(operands))
    return tuple(name for name in names if name)
