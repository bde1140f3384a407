"""Writes compact tuple elements out, so that parsers before jaxlib 0.12 accept the text.

Newer versions of XLA print `%while#1` as an operand in place of the name of a get-tuple-element.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

_ELEMENT = re.compile(r"(%[\w.\-]+)#(\d+)")
_DEFINITION = re.compile(r"\s*(?:ROOT )?(%[\w.\-]+) = (\(.*)")
_COMMENT = re.compile(r"/\*.*?\*/")


def expand_tuple_elements(text: str) -> str:
    """Return the text of a module with a get-tuple-element for each compact tuple element."""
    if "#" not in text:
        return text
    lines: list[str] = []
    computation: list[str] = []
    for line in text.split("\n"):
        computation.append(line)
        if line == "}":
            lines.extend(_expand(computation))
            computation = []
    return "\n".join([*lines, *computation])


def _expand(computation: Sequence[str]) -> Iterator[str]:
    elements: defaultdict[str, set[int]] = defaultdict(set)
    for line in computation:
        for name, index in _ELEMENT.findall(line):
            elements[name].add(int(index))
    for line in computation:
        yield _ELEMENT.sub(r"\1.element\2", line)
        defined = _DEFINITION.match(line)
        if defined is None or defined[1] not in elements:
            continue
        shapes = list(_element_shapes(_COMMENT.sub("", defined[2])))
        for index in sorted(elements[defined[1]]):
            yield (
                f"  {defined[1]}.element{index} = {shapes[index]} "
                f"get-tuple-element({defined[1]}), index={index}"
            )


def _element_shapes(shape: str) -> Iterator[str]:
    """Yield the shapes of the elements of the tuple shape that the text begins with."""
    depth, start = 0, 1
    for place, character in enumerate(shape):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if (character == "," and depth == 1) or depth == 0:
            yield shape[start:place].strip()
            start = place + 1
        if depth == 0:
            return
