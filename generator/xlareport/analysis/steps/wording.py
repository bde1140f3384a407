"""English for steps: plurals, lists, phrases."""

import re
from collections.abc import Sequence

from xlareport.analysis.source.scopes import without_control_flow
from xlareport.analysis.steps.heaviness import heaviness
from xlareport.runtime import english, units

_NAMED_AT_MOST = 3
_LONGEST = 44
_HEAD = 28
_TENSORFLOW = "__XlaMustCompile"
_NAME = re.compile(r"%([\w.\-]*\w)(?:#\d+)?")


def noun(opcode: str) -> str:
    """Return the word for an opcode in a sentence: "logical and" for `and`."""
    return f"logical {opcode}" if opcode in ("and", "or", "not") else opcode


def called(opcode: str, target: str) -> str:
    """Return the words for an opcode, with the target of a custom call if given."""
    return f"{code(short(target))} {opcode}" if target else noun(opcode)


def is_joined(opcodes: tuple[str, str]) -> bool:
    """Return whether a start was replaced by the form without one: `copy-start` by `copy`."""
    return opcodes[0] == f"{opcodes[1]}-start"


def counted(counts: Sequence[tuple[str, int]], adjective: str = "") -> str:
    """Name what weighs most and count the rest: `2 dots, 14 broadcasts and 7 others`."""
    ranked = sorted(counts, key=lambda pair: (-pair[1] * heaviness(pair[0]), pair[0]))
    kind = f"{adjective} " if adjective else ""
    result = [units.plural(count, f"{kind}{noun}") for noun, count in ranked[:_NAMED_AT_MOST]]
    rest = ranked[_NAMED_AT_MOST:]
    if rest:
        noun = f"{kind}{rest[0][0]}" if len(rest) == 1 else "other"
        result.append(units.plural(sum(count for _, count in rest), noun))
    return english.listing(result)


def name(instruction: str) -> str:
    """Return an instruction's name as the pages set it."""
    return code(f"%{instruction}")


def code(text: str) -> str:
    """Return text in backticks, which the pages set as code; its own would end it."""
    return f"`{text.replace('`', chr(39))}`"


def coded(sentence: str) -> str:
    """Put backticks around the names of instructions and computations in a sentence."""
    return _NAME.sub(lambda match: f"`{match[0]}`", sentence.replace("`", "'"))


def list_names(*sentences: str) -> list[str]:
    """Return the names of instructions and computations in sentences, without `%`."""
    return [match[1] for sentence in sentences for match in _NAME.finditer(sentence)]


def short_scope(scope: str) -> str:
    """Return a scope without levels of control flow, where others are left; long ones by their end.

    Where nothing else is left, and of the name of a computation, as `short` does.
    """
    levels = without_control_flow(scope.split("/"))
    shown = "/".join(levels) or scope
    while len(shown) > _LONGEST and len(levels) > 1:
        levels = levels[1:]
        shown = "/".join(("…", *levels))
    return shown if len(shown) <= _LONGEST else short(shown)


def short(name: str) -> str:
    """Return a name with its middle left out if it is long.

    TensorFlow's computations have names of 110 characters and more, most of them hashes.
    """
    head, hashed, _ = name.partition(_TENSORFLOW)
    if hashed and len(head) < _LONGEST:
        return f"{head}…"
    if len(name) <= _LONGEST:
        return name
    return f"{name[:_HEAD]}…{name[_HEAD + 1 - _LONGEST :]}"
