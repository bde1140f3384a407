"""What differs of an instruction, in detail: words, or values that others read."""

from collections.abc import Callable

from msgspec import Struct

from xlareport.runtime import units

SYNCHRONOUS = "is_sync true in the config: it runs synchronously"
"""Of a collective that has a start and a done now, which XLA runs without overlap."""
_NONE = "none"
_MOST_FIELDS = 4
"""Fields of a backend config that are named."""


class ShapeChange(Struct, frozen=True):
    """An old and a new value of an instruction, with words before and after them."""

    before: str
    after: str
    lead: str = ""
    """`1 of 2 elements, such as `."""
    tail: str = ""
    """`, and the others in another order`."""
    is_tiling: bool = False
    """Whether the dimensions of a layout keep their order, and only their tiles are others."""

    def __str__(self) -> str:
        """Return the change as plain text."""
        return self.written(str)

    def written(self, code: Callable[[str], str]) -> str:
        """Return the change with both values as `code` sets them."""
        return f"{self.lead}{code(self.before)} → {code(self.after)}{self.tail}"


class ElementsChange(Struct, frozen=True):
    """How many elements a loop carried and carries."""

    before: int
    after: int
    words: str = ""
    """Which are gone: `, without element 5 (same as 4)`."""
    dropped: int = 0
    """Elements that are gone of a loop that carries more now; 0 if that is not known."""

    def __str__(self) -> str:
        """Return the change as plain text."""
        counts = [units.plural(count, "element") for count in (self.before, self.after)]
        return f"{' → '.join(counts)}{self.words}"


class TakenIn(Struct, frozen=True):
    """The dot or convolution that does a move of its operand too now."""

    reader: str
    opcode: str

    def __str__(self) -> str:
        """Return it as plain text."""
        return f"%{self.reader}"


class CopyPlace(Struct, frozen=True):
    """Where a copy is, and that it has another shape, element type or layout."""

    where: str
    """`into the loop %while.1`, `past %dot.2`; '' beside the original."""
    shape: str
    """The shape; of one that differs in the layout or the element type, that."""
    form: str = "shape"
    """What it has of its own: `shape`, `element type` or `layout`."""
    more: str = ""
    """`; the original has no live users`."""

    def __str__(self) -> str:
        """Return it as plain text."""
        return self.written(str, str)

    def written(self, coded: Callable[[str], str], code: Callable[[str], str]) -> str:
        """Return it with the names in it as `coded` and the shape as `code` sets them."""
        words = f"in the {self.form} {code(self.shape)}"
        if self.shape == _NONE:
            words = f"without a {self.form}"
        return f"{coded(self.where)} {words}{self.more}".lstrip()


class FusionPlace(Struct, frozen=True):
    """The fusion, there before, in which an instruction is now that was in no fusion."""

    fusion: str

    def __str__(self) -> str:
        """Return it as plain text."""
        return f"was fused into %{self.fusion}"


class LeftFusion(Struct, frozen=True):
    """The fusion that an instruction was in and is not in now."""

    fusion: str
    stands: bool = False
    """Whether it continues as a fusion, without the instruction."""

    def __str__(self) -> str:
        """Return it as plain text."""
        return f"moved out of %{self.fusion}"


class ReadPastMove(Struct, frozen=True):
    """What a product or sum reads now, which a move that it read before moved."""

    text: str
    """`uses %a instead of its reshape %b`, and what else it reads instead."""

    def __str__(self) -> str:
        """Return it as plain text."""
        return self.text


class BranchPlace(Struct, frozen=True):
    """The conditional, beside which an instruction was before, and in whose branch it is now."""

    conditional: str

    def __str__(self) -> str:
        """Return it as plain text."""
        return f"moved into a branch of %{self.conditional}"


class Bypassed(Struct, frozen=True):
    """That all users of an instruction read now what it was made from."""

    user: str
    """The name of the first of them, without `%`."""
    source: str
    """The name of what they read now, without `%`."""
    is_operand: bool = True
    """Whether that is its operand, and not one further behind."""

    def __str__(self) -> str:
        """Return it as plain text."""
        its = "its operand " if self.is_operand else ""
        return f"%{self.user} uses {its}%{self.source} instead"


class AttributesChange(Struct, frozen=True):
    """The attributes that differ, with old and new values."""

    names: tuple[str, ...]
    text: str
    read: str = ""
    """What is read instead, where they refer to positions in it: `uses %a instead of %b`."""

    @property
    def is_mark(self) -> bool:
        """Whether only frontend attributes differ, which do not say what is computed."""
        return self.names == ("frontend_attributes",)

    def __str__(self) -> str:
        """Return the change as plain text."""
        return "; ".join(filter(None, (self.text, self.read)))


class FieldChange(Struct, frozen=True):
    """A field of a backend config that was set, changed or cleared."""

    action: str
    """`set`, `changed` or `cleared`; `wrote` if only the form differs."""
    name: str
    values: str = ""
    """Words for its values: ` to "0"`, ` with block_m 16 and block_n 8`; empty if too long."""
    is_default: bool = False
    """Whether it was set to what states no choice."""


class ConfigChange(Struct, frozen=True):
    """The fields of a backend config that differ, those set to defaults last."""

    fields: tuple[FieldChange, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What was done with the named fields: `set triton_gemm_config`."""
        return tuple(f"{field.action} {field.name}" for field in self.fields[:_MOST_FIELDS])

    @property
    def sets_defaults(self) -> bool:
        """Whether fields were set to defaults alone."""
        return all(field.is_default for field in self.fields)

    def __str__(self) -> str:
        """Return the change as plain text."""
        named = [f"{field.action} {field.name}{field.values}" for field in self.fields]
        more = len(named) - _MOST_FIELDS
        counted = [f"{more} more"] if more > 0 else []
        return f"backend_config: {', '.join([*named[:_MOST_FIELDS], *counted])}"


NewPlace = FusionPlace | LeftFusion | BranchPlace
"""Where an instruction is now, in view of fusions and conditionals that were there before."""
Difference = (
    str
    | ShapeChange
    | ElementsChange
    | TakenIn
    | CopyPlace
    | NewPlace
    | Bypassed
    | ReadPastMove
    | AttributesChange
    | ConfigChange
)
"""A difference in words, or as values."""


def values_of(difference: Difference | None) -> str:
    """Return a difference as plain text, without what is read beside the values."""
    return difference.text if isinstance(difference, AttributesChange) else str(difference)
