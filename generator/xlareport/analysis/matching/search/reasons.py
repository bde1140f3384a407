"""Reasons of pairings: words for the reader, or a value where more than its words is used."""

from typing import TypeAlias

from msgspec import Struct

from xlareport.runtime import english, units

REDUCED_NOTHING = "it only reduced dimensions of one element"
"""The reason of a removed reduction that gave the elements of its operand."""


class Past(Struct, frozen=True):
    """A move that is before an instruction now and was behind it, or the reverse."""

    instruction: str
    """The name of the instruction, without `%`."""
    of_copy: bool = False
    """The move is a further copy, and the original has a counterpart of its own."""

    def __str__(self) -> str:
        """Return `past %dot.2`."""
        return f"{'a further copy, ' if self.of_copy else ''}past %{self.instruction}"


class PastBroadcast(Struct, frozen=True):
    """Work on a value that was repeated (broadcast) before it, and is after it now."""

    of_copy: bool = False
    """The work is a further copy, and the original has a counterpart of its own."""

    def __str__(self) -> str:
        """Return `past a broadcast`."""
        return f"{'a further copy, ' if self.of_copy else ''}past a broadcast"


class OfCopy(Struct, frozen=True):
    """A bitcast of a new copy, or such a copy of a bitcast, in the place of a reshape."""

    copy: str
    """The name of the copy, without `%`."""

    def __str__(self) -> str:
        """Return `beside %copy.1, which changes the layout; nothing live reads the original`."""
        return f"beside %{self.copy}, which changes the layout; nothing live reads the original"


class Masked(Struct, frozen=True):
    """A select by a mask in the place of a pad that puts back the size of what was sliced."""

    cut: str
    """The name of the slice, without `%`."""

    def __str__(self) -> str:
        """Return `which masks what %slice.1 cut off`."""
        return f"which masks what %{self.cut} cut off"


class PaddedOnce(Struct, frozen=True):
    """A select by a mask in the place of a pad of a pad with another value."""

    pad: str
    """The name of the only pad now, without `%`."""

    def __str__(self) -> str:
        """Return `which masks %pad.3, a pad in the place of both`."""
        return f"which masks %{self.pad}, a pad in the place of both"


class FirstIteration(Struct, frozen=True):
    """A copy of a line of a loop's body that does its work in the first iteration."""

    loop: str
    """The name of the loop, without `%`."""
    is_rotated: bool = False
    """The loop was rotated: its body does the work for the next iteration."""

    def __str__(self) -> str:
        """Return `a further copy, of the first iteration of %while.1`."""
        copy = f"a further copy, of the first iteration of %{self.loop}"
        return f"{copy}, which does it for the next one" if self.is_rotated else copy


class AfterLoop(Struct, frozen=True):
    """A reduction over devices, in each iteration before, of what the loop adds up on a device."""

    def __str__(self) -> str:
        """Return `of what the loop adds up, after the loop`."""
        return "of what the loop adds up, after the loop"


class InBranch(Struct, frozen=True):
    """A copy in a further branch of a conditional, of work that was behind it."""

    def __str__(self) -> str:
        """Return `a further copy, in another branch`."""
        return "a further copy, in another branch"


class BothBranches(Struct, frozen=True):
    """Both branches of a conditional were inlined, and selects choose between their results."""

    selects: int

    def __str__(self) -> str:
        """Return `both branches, 2 selects by its predicate give its results`."""
        give = "gives" if self.selects == 1 else "give"
        selects = units.plural(self.selects, "select")
        return f"both branches, {selects} by its predicate {give} its results"


class Regrouped(Struct, frozen=True):
    """A sum of the same terms as before, in another order, or a product of the same factors."""

    of_factors: bool = False

    def __str__(self) -> str:
        """Return words for the whole sum or product."""
        if self.of_factors:
            return "the same factors, multiplied in another order"
        return "the same terms, added in another order"


class InHalves(Struct, frozen=True):
    """A 64-bit operation that became several on two 32-bit halves, or one on complex numbers."""

    count: int
    """How many instructions it became."""
    low: str
    high: str
    """The names of what gives the halves, or the real and the imaginary parts, without `%`."""
    are_complex: bool = False

    def __str__(self) -> str:
        """Return words that name both halves."""
        count = units.plural(self.count, "instruction")
        if self.are_complex:
            parts = f"%{self.low} gives the real parts, %{self.high} the imaginary ones"
            return f"into {count} on real and imaginary parts: {parts}" if self.count > 1 else parts
        halves = f"%{self.low} gives the low half, %{self.high} the high half"
        return f"into {count} on 32-bit halves: {halves}"


class WithUser(Struct, frozen=True):
    """A removal with the user of a value, which was removed too, or expanded."""

    user: str
    """The user's name, without `%`."""
    subject: str
    """`its user %add.1`, or `%add.1 used its value and`"""
    more: str = ""
    """What another user reads now."""
    is_expanded: bool = False

    def __str__(self) -> str:
        """Return `its user %add.1 was removed, and %sub.1 uses %x now`."""
        fate = f"{self.subject} was {'expanded' if self.is_expanded else 'removed'}"
        return f"{fate}, and {self.more}" if self.more else fate


class GivesOperand(Struct, frozen=True):
    """A removed operation that had no effect: `x + 0`."""

    operand: str
    """The name of the operand that it gave, without `%`."""
    others: tuple[str, ...]
    """The constants that are its other operands, as written."""

    def __str__(self) -> str:
        """Return `it gives its operand %x as it is: the other is 0`."""
        be = "the other is" if len(self.others) == 1 else "the others are"
        return f"it gives its operand %{self.operand} as it is: {be} {english.listing(self.others)}"


class TakenOut(Struct, frozen=True):
    """A new slice that takes the result of one of several joined operations out of their whole."""

    computation: str
    member: str
    """The computation and the name, without `%`, of the operation before whose result it is."""
    whole: str
    """The name of what the operations became, without `%`."""

    def __str__(self) -> str:
        """Return `takes the result of %dot.1 out of %dot.3`."""
        return f"takes the result of %{self.member} out of %{self.whole}"


class DoneBy(Struct, frozen=True):
    """The removal of what another instruction does too now: a scale, a factor, a term."""

    computation: str
    instruction: str
    """The computation and the name, without `%`, of the instruction that does its work."""
    words: str

    def __str__(self) -> str:
        """Return `%custom-call.15 does its work: alpha_real 0.1`."""
        return self.words


class RegroupedInto(DoneBy, frozen=True):
    """The removal of a sum or product within another one, whose terms are grouped otherwise now."""


class PartOfRegrouped(Struct, frozen=True):
    """The addition of a sum or product within one that has the terms of an old one."""

    words: str

    def __str__(self) -> str:
        """Return `part of %add.2, which adds the terms of %add.1 in another order`."""
        return f"part of {self.words}"


class ComputedElement(Struct, frozen=True):
    """A new sum that is an element of a loop, which the loop counted itself before."""

    loop: str
    """The name of the loop, without `%`."""
    element: int
    counter: int
    """The number of the element that it is computed from."""

    def __str__(self) -> str:
        """Return `computes element 2 of %while.1 from element 0`."""
        return f"computes element {self.element} of %{self.loop} from element {self.counter}"


class Resharded(Struct, frozen=True):
    """A new copy that is spread over devices in another way than what it copies."""

    source: str
    """The name of what it copies, without `%`."""
    former: str
    """The sharding of that, as the text has it."""
    now: str
    """The sharding of the copy."""

    def __str__(self) -> str:
        """Return `reshards %slice.1: {replicated} → {devices=[8]<=[8]}`."""
        return f"reshards %{self.source}: {self.former} → {self.now}"


class PartialResults(Struct, frozen=True):
    """A new sum over devices of the partial results of several instructions."""

    now: str
    """The name of one with the op_name of the sum, without `%`."""
    former: tuple[str, ...]
    """The names before of those with a counterpart, without `%`."""
    count: int
    """How many these are now."""
    others: int
    """Operands without one."""

    def __str__(self) -> str:
        """Return `it combines partial results of %reduce.1 and of 16 more`."""
        more = self.count - 1 + self.others
        return f"it combines partial results of %{self.now} and of {more:,} more"

    @property
    def in_full(self) -> str:
        """Words with the names before."""
        whole = str(self)
        if self.count > 1:
            more = f" and of {self.others:,} more" if self.others else ""
            whole = f"it combines partial results of {self.count:,} instructions{more}"
        return f"{whole}; before: {', '.join(f'%{name}' for name in self.former)}"


Reason: TypeAlias = (
    str
    | AfterLoop
    | Past
    | PastBroadcast
    | FirstIteration
    | Regrouped
    | InHalves
    | InBranch
    | BothBranches
    | TakenOut
    | DoneBy
    | ComputedElement
    | WithUser
    | GivesOperand
    | PartialResults
    | Resharded
    | Masked
    | PaddedOnce
    | PartOfRegrouped
    | OfCopy
)
