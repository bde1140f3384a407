"""A name while it is being read: the tokens and the fields that are known so far."""

import re
from collections.abc import Sequence

from xlareport.dump.grammar import GrammarForm
from xlareport.dump.module_names import explain_module
from xlareport.dump.owner import Owner, divide, part_field
from xlareport.dump.pieces import between, one_token, pieces, sign
from xlareport.dump.tokens import Token

_BUILD = re.compile(r"(?:(?P<name>.*)\.)?(?P<build>cl_\d+)", re.DOTALL | re.ASCII)


class NameReading:
    """Collects tokens from left to right, and the fields that they give."""

    def __init__(self) -> None:
        self.kind = "unknown"
        self.tokens: list[Token] = []
        self.fields: dict[str, str] = {}
        self.notes: list[str] = []

    def take(self, form: GrammarForm) -> None:
        """Take over what the form alone says: the kind, fixed fields, a note."""
        self.kind = form.kind
        self.fields.update(form.constants)
        if form.note:
            self.notes.append(form.note)

    def part(self, field: str, text: str) -> None:
        """Add a part that is a field or an explained word; an empty one is none."""
        if text:
            self.fields.setdefault(field, text)
            self.tokens += explained(field, text)

    def plain(self, text: str) -> None:
        """Add the text between two parts: signs and fixed words."""
        self.tokens += between(text)

    def holder(self, text: str) -> None:
        """Add `.NAME.cl_123`, of which any part may be missing; the first dot belongs to it."""
        name = text.removeprefix(".")
        self.tokens += sign(text[: len(text) - len(name)])
        built = _BUILD.fullmatch(name)
        if built is None:
            self.part("module_name", name)
            return
        self.part("module_name", built["name"] or "")
        self.tokens += sign("." if built["name"] is not None else "")
        self.part("build", built["build"])

    def match(
        self, match: re.Match[str], start: int | None = None, *, name_is_known: bool = False
    ) -> None:
        """Add everything that a pattern matched from `start` on, its groups as parts."""
        for field, text in match.groupdict().items():
            if text:
                self.fields.setdefault(field, text)
        if "owner" in match.re.groupindex:
            self._owner(match["owner"], name_is_known=name_is_known)
            start = match.end("owner")
        self.tokens += pieces(match, explained, start)

    def _owner(self, text: str, *, name_is_known: bool) -> None:
        """Add NAME.KERNEL, or KERNEL alone where NAME came before; it may begin with a dot."""
        inside = text.removeprefix(".")
        self.tokens += sign(text[: len(text) - len(inside)])
        divided = Owner("", inside, None) if name_is_known else divide(inside)
        if divided.doubt:
            self.notes.append(divided.doubt)
        self.holder(divided.module_name)
        between_both = inside[len(divided.module_name) : len(inside) - len(divided.kernel)]
        self.tokens += sign(between_both)
        word, joint, number = divided.kernel.partition("_")
        if word == "part" and number.isdecimal():
            self.plain(word + joint)
            self.part("part", number)
        else:
            self.part(part_field(divided.kernel), divided.kernel)


def explained(field: str, text: str) -> Sequence[Token]:
    """Return the tokens of one part; a module's name has parts of its own."""
    return explain_module(text).tokens if field == "module_name" else one_token(field, text)
