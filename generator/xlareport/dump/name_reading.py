"""A name while it is being read: the tokens and the fields that are known so far."""

import re
from collections.abc import Sequence

from msgspec import Struct

from xlareport.dump.grammar import GrammarForm, between, one_token, pieces, sign
from xlareport.dump.module_names import explain_module
from xlareport.dump.tokens import Token

_NAMED_KERNEL = re.compile(r"_kernel(?:_module)?$")
_COMPUTE_MODULE = "__compute_module"
_WHOLE_PARTS = frozenset({"constants", "inlined", "cloned_to_local_context"})
_PART = re.compile(r"part_\d+$")
_CONTINUATION = re.compile(r"\d|(?:clone|remat\d*|sunk|cloned|uncombined|unpipelined)(?:_|$)")
_LIKE_A_KERNEL = re.compile(
    r"(?:^|_)fusion(?:_|$)|^(?:wrapped|fused|loop|input|triton|gemm|cudnn|cublas|copy|transpose|"
    r"reduce|scatter|gather|sort|dot|convolution|broadcast|concatenate|dynamic|slice|iota|call)(?:[_-]|$)"
)
_FROM_JAX = re.compile(r"(?:jit|pmap|pjit|xmap)_")


class Owner(Struct, frozen=True):
    """The owner of a machine code file: a module, and possibly a part of it."""

    module_name: str
    """Empty if the file name has none."""
    kernel: str
    """The part of the module: a kernel, `part_00`, a number, or nothing."""
    doubt: str | None
    """Why the division is a guess."""


def divide(owner: str) -> Owner:
    """Divide NAME or NAME.KERNEL, given without a leading dot.

    Both may hold dots, and nothing marks the place. Three rules settle nearly all: a kernel that
    XLA:CPU names ends in `_kernel_module` or begins with `__compute_module_`; a module from a graph
    builder (TensorFlow, PyTorch/XLA) ends in a dot and a number; one from JAX holds no dot.
    """
    pieces = owner.split(".")
    start = _marked_kernel(pieces)
    if start is not None:
        return _owner(pieces, start, None)
    if _PART.match(pieces[-1]) or pieces[-1] in _WHOLE_PARTS:
        return _owner(pieces, len(pieces) - 1, None)
    return _unmarked(pieces)


def part_field(text: str) -> str:
    """Return the kind of a module's part: a `kernel`, a numbered `shard`, or a `module_part`."""
    if text in _WHOLE_PARTS:
        return "module_part"
    return "shard" if text.isdecimal() else "kernel"


def _owner(pieces: list[str], start: int, doubt: str | None) -> Owner:
    return Owner(".".join(pieces[:start]), ".".join(pieces[start:]), doubt)


def _marked_kernel(pieces: list[str]) -> int | None:
    """Return the index of the first piece of a recognizable kernel name; None without one."""
    for place, piece in enumerate(pieces):
        if piece.startswith(_COMPUTE_MODULE):
            return place
    if not _NAMED_KERNEL.search(pieces[-1]):
        return None
    return _first_piece(pieces, len(pieces) - 1)


def _first_piece(pieces: list[str], place: int) -> int:
    """Go left from a piece that only continues an instruction's name, such as `2` or `clone`."""
    while place > 0 and _CONTINUATION.match(pieces[place]):
        place -= 1
    return place


def _unmarked(pieces: list[str]) -> Owner:
    """Divide where no kernel names itself: after the number of a graph builder, or by the looks."""
    numbered = len(pieces) > 1 and pieces[1].isdecimal()
    if numbered and _FROM_JAX.match(pieces[0]):
        return _numbered_jax(pieces)
    head = min(2 if numbered else 1, len(pieces))
    if head == len(pieces):
        return _owner(pieces, head, None)
    if _is_kernel(pieces, head):
        return _owner(pieces, head, None)
    start = _first_piece(pieces, len(pieces) - 1)
    if start > head and _is_kernel(pieces, start):
        return _owner(pieces, start, "The module's name may end earlier, since it holds a dot.")
    doubt = "The last part may be the name of a kernel instead of the module's."
    return _owner(pieces, len(pieces), doubt)


def _is_kernel(pieces: list[str], place: int) -> bool:
    """Return whether the pieces from a place on look like a kernel's name, or are its number."""
    last = place + 1 == len(pieces)
    return bool(_LIKE_A_KERNEL.search(pieces[place])) or (last and pieces[place].isdecimal())


def _numbered_jax(pieces: list[str]) -> Owner:
    """Take the number for a kernel's: JAX has put none into module names since the end of 2021."""
    if len(pieces) > 2:
        return _owner(pieces, 2, None)
    doubt = (
        f"{pieces[1]} is read as the number of a kernel; before 2022 JAX ended its module names in "
        "such a number."
    )
    return _owner(pieces, 1, doubt)


_BUILD = re.compile(r"(?:(?P<name>.*)\.)?(?P<build>cl_\d+)", re.DOTALL | re.ASCII)


class NameReading:
    """Collects tokens from left to right, and the fields that they give."""

    def __init__(self) -> None:
        self.kind = "unknown"
        self.tokens: list[Token] = []
        self.fields: dict[str, str] = {}
        self.notes: list[str] = []

    def take(self, form: GrammarForm) -> None:
        """Add the properties that the form implies: kind, fixed fields, a note."""
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
    """Return the tokens of one part; a module's name has several."""
    return explain_module(text).tokens if field == "module_name" else one_token(field, text)
