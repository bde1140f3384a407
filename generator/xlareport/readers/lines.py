"""Texts as lines, and the problems met in them."""

import re

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.runtime.errors import Problem

_NUMBER = re.compile(r"\d{1,18}")
MOST_PROBLEMS = 20
"""Limit on listed problems of one file; another problem has the number of the rest."""


class FileProblems(Struct):
    """The problems of one file; only the first ones are kept."""

    path: str
    count: int = 0
    listed: list[Problem] = field(default_factory=list)

    def add(self, line: int | None, message: str) -> None:
        """Note a problem at a line, counted from 1."""
        self.count += 1
        if self.count <= MOST_PROBLEMS:
            self.listed.append(Problem(self.path, line, message))

    def all(self) -> list[Problem]:
        """Return the problems, and the number of the rest."""
        more = self.count - len(self.listed)
        if not more:
            return list(self.listed)
        last = replace(self.listed[-1], line=None, message=f"{more} more problems in this file")
        return [*self.listed, last]


def numbers_in(text: str) -> tuple[int, ...]:
    """Return the whole numbers in a text, such as those of an index of a shape."""
    return tuple(int(item) for item in _NUMBER.findall(text))


def decoded_lines(data: bytes, problems: FileProblems) -> list[str]:
    """Return the lines of a UTF-8 text; what is not UTF-8 is replaced and noted."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.add(data.count(b"\n", 0, error.start) + 1, "not UTF-8 text")
        text = data.decode("utf-8", "replace")
    return text.split("\n")
