"""Reads Shardy's texts, `shardy/MODULE/NN.STAGE.mlir`: meshes, and values with shardings.

The attributes are kept as written: `#sdy.sharding<@mesh, [{"x"}, {}]>`, or the list of an op's
results. See `shardy/dialect/sdy/ir` of Shardy for their forms.
"""

import re
from bisect import bisect
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from xlareport.readers.lines import FileProblems, decoded_lines
from xlareport.runtime.errors import Problem

_MESH = re.compile(r"\s{0,99}sdy\.mesh @(\"[^\"]{1,200}\"|[\w.\-$]{1,200}) = (?=<)")
_OPERATION = re.compile(
    r"\s{0,999}(?:(%[\w.\-$#]{1,99})(?::\d{1,9})?(?:, %[^=]{0,9999})? = )?"
    r"\"?([a-z_]\w{0,99}\.\w{1,99})"
)
_ARGUMENT = re.compile(r"(%[\w.\-$]{1,99}): (?=tensor<)")
_SHARDED = re.compile(r"sdy\.sharding = (?=#sdy\.sharding)")
_MANUAL = re.compile(r"(in|out)_shardings=(?=\[)")
_AXES = re.compile(r"manual_axes=\{([^{}]{0,999})\}")
_TYPE = re.compile(r"tensor<[^<>]{0,200}>")
_MOST_VALUES = 20_000
_LONGEST_SHARDING = 400
"""Characters of a sharding that are kept."""
_CLOSING = {"<": ">", "[": "]", "{": "}", "(": ")"}


class ShardyValue(Struct, frozen=True):
    """A value, or a list of values, with its sharding in the text."""

    name: str
    """`%4`, `%arg0`; `result 1` of the function, counted from 0."""
    operation: str
    """`stablehlo.dot`, `sdy.sharding_constraint`; `argument` or `result` of a function."""
    type: str
    """`tensor<8x16xf32>`: the last type of the line; empty where it has none."""
    sharding: str
    """As written."""
    line: int
    """In the file, counted from 1."""


class ShardyText(Struct, frozen=True):
    """The content of one of Shardy's texts."""

    path: str
    meshes: tuple[tuple[str, str], ...]
    """(name, axes as written)."""
    values: tuple[ShardyValue, ...]
    manual_axes: tuple[str, ...]
    """The manual axes of each manual computation (`shard_map`), as written."""


def read_shardy(data: bytes, path: str) -> tuple[ShardyText, list[Problem]]:
    """Return the meshes and the sharded values of a text, and what could not be read."""
    problems = FileProblems(path)
    meshes: list[tuple[str, str]] = []
    values: list[ShardyValue] = []
    axes: list[str] = []
    opened: dict[int, tuple[str, str]] = {}
    for number, line in enumerate(decoded_lines(data, problems), 1):
        mesh = _MESH.match(line)
        if mesh is not None:
            text = _bracketed(line, mesh.end())
            if text:
                meshes.append((mesh[1].strip('"'), text))
            else:
                problems.add(number, "A mesh without an end.")
            continue
        axes += _AXES.findall(line)
        room = _MOST_VALUES - len(values)
        values += islice(_values(line, number, problems, opened), room)
    return ShardyText(path, tuple(meshes), tuple(values), tuple(axes)), problems.all()


def _values(
    line: str, number: int, problems: FileProblems, opened: dict[int, tuple[str, str]]
) -> Iterator[ShardyValue]:
    """Yield the values of a line; `opened` has the operations with regions, by indentation."""
    if line.lstrip().startswith("func.func"):
        yield from _of_function(line, number, problems)
        return
    operation = _OPERATION.match(line)
    indentation = len(line) - len(line.lstrip())
    if operation is not None:
        opened[indentation] = operation[1] or "", operation[2]
    if indentation not in opened or not (operation or line.lstrip().startswith("}")):
        return
    name, opcode = opened[indentation]
    types = _TYPE.findall(line)
    kind = types[-1] if types else ""
    if opcode in ("sdy.sharding_constraint", "sdy.reshard"):
        place = line.find(" <@")
        places = [place + 1] if place >= 0 else []
    elif opcode == "sdy.manual_computation":
        for match in _MANUAL.finditer(line):
            text = _bracketed(line, match.end())
            yield ShardyValue(name, f"{opcode} {match[1]}", "", text[:_LONGEST_SHARDING], number)
        return
    else:
        places = [match.end() for match in islice(_SHARDED.finditer(line), 1)]
    for place in places:
        text = _attribute(line, place)
        if text:
            yield ShardyValue(name, opcode, kind, text[:_LONGEST_SHARDING], number)
        else:
            problems.add(number, "A sharding without an end.")


def _of_function(line: str, number: int, problems: FileProblems) -> Iterator[ShardyValue]:
    """Yield the arguments and the results of a function that have shardings."""
    start = line.find("(")
    arguments = _bracketed(line, start) if start >= 0 else ""
    after = line[start + len(arguments) :]
    names = [match[1] for match in _ARGUMENT.finditer(arguments)]
    for text, operation in ((arguments, "argument"), (after, "result")):
        types = list(_TYPE.finditer(text))
        starts = [kind.start() for kind in types]
        for match in _SHARDED.finditer(text):
            place = bisect(starts, match.start()) - 1
            sharding = _attribute(text, match.end())
            if not sharding or place < 0:
                problems.add(number, "A sharding without an end, or of no type.")
                continue
            is_named = operation == "argument" and place < len(names)
            name = names[place] if is_named else f"{operation} {place}"
            yield ShardyValue(
                name, operation, types[place][0], sharding[:_LONGEST_SHARDING], number
            )


def _attribute(line: str, start: int) -> str:
    """Return `#sdy.sharding<...>` or `<...>` from a place on; empty where it does not end."""
    opening = line.find("<", start)
    inner = _bracketed(line, opening) if opening >= 0 else ""
    return line[start:opening] + inner if inner else ""


def _bracketed(line: str, start: int) -> str:
    """Return a text from its opening bracket to the one that closes it; empty without one."""
    waiting: list[str] = []
    quoted = False
    for place in range(start, len(line)):
        letter = line[place]
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in _CLOSING:
            waiting.append(_CLOSING[letter])
        elif waiting and letter == waiting[-1]:
            waiting.pop()
            if not waiting:
                return line[start : place + 1]
    return ""
