"""What must hold of a matching whatever the modules: random programs, rewritten at random."""

from hypothesis import given
from hypothesis import strategies as st
from tests.walks import examples

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import changes
from xlareport.analysis.steps.step import step
from xlareport.analysis.steps.text_difference import text_diff
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

_UNARY = ("negate", "tanh", "copy", "exponential")
_BINARY = ("add", "multiply", "subtract")
_NAMES = st.sampled_from(["a", "b", "x", "y", "add.1", "add.2", "mul", "copy", "t.clone"])


@st.composite
def computations(draw: st.DrawFn) -> str:
    """Lines over two parameters; names may repeat, operands may come later or not exist."""
    lines = ["  %p = f32[8]{0} parameter(0)", "  %q = f32[8]{0} parameter(1)"]
    names = ["p", "q", "nowhere"]
    for _ in range(draw(st.integers(1, 12))):
        name = draw(_NAMES)
        operands = [draw(st.sampled_from(names)) for _ in range(draw(st.integers(1, 2)))]
        opcode = draw(st.sampled_from(_UNARY if len(operands) == 1 else _BINARY))
        read = ", ".join(f"%{operand}" for operand in operands)
        lines.append(f"  %{name} = f32[8]{{0}} {opcode}({read})")
        names.append(name)
    lines[-1] = lines[-1].replace("  %", "  ROOT %", 1)
    return "\n".join(lines)


@st.composite
def modules(draw: st.DrawFn) -> str:
    body = draw(computations())
    inner = draw(computations())
    call = draw(st.sampled_from(["", "fusion", "call"]))
    if not call:
        return f"ENTRY %main {{\n{body}\n}}"
    attribute = "kind=kLoop, calls=%inner" if call == "fusion" else "to_apply=%inner"
    line = f"  %called = f32[8]{{0}} {call}(%p, %q), {attribute}"
    root = body.rindex("  ROOT")
    main = f"{body[:root]}{line}\n{body[root:]}"
    return f"%inner {{\n{inner}\n}}\n\nENTRY %main {{\n{main}\n}}"


def read(first: str, second: str) -> tuple[HloModule, HloModule]:
    reader = TextReader()
    found = [reader.read(f"HloModule m\n\n{one}\n".encode(), "m") for one in (first, second)]
    before, after = found
    assert before is not None
    assert after is not None
    return before, after


def places(module: HloModule) -> list[Place]:
    return [
        Place(computation.name, line.name)
        for computation in module.computations
        for line in computation.instructions
    ]


def partners(matching: Matching) -> list[tuple[Place, Place]]:
    pairs = [(place, matching.partner_after(place)) for place in set(places(matching.before))]
    return [(place, partner) for place, partner in pairs if partner is not None]


@given(modules(), modules())
@examples(150)
def test_every_partner_exists_and_nothing_is_left_without_a_word(first: str, second: str) -> None:
    before, after = read(first, second)
    matching = match(before, after)
    here, there = set(places(before)), set(places(after))
    for pairing in matching.pairings:
        assert set(pairing.before) <= here
        assert set(pairing.after) <= there
        assert pairing.reason
    for place in here:
        assert matching.partner_after(place) or matching.pairing_before(place)
    for place in there:
        assert matching.partner_before(place) or matching.pairing_after(place)


@given(modules(), modules())
@examples(100)
def test_matching_twice_gives_the_same(first: str, second: str) -> None:
    one, other = match(*read(first, second)), match(*read(first, second))
    assert one.pairings == other.pairings


@given(modules())
@examples(100)
def test_a_module_and_its_copy_under_other_names_pair_wholly(text: str) -> None:
    before, after = read(text, text.replace("%main", "%other").replace("%inner", "%outer"))
    matching = match(before, after)
    lost = [
        pairing
        for pairing in matching.pairings
        if pairing.relation is Relation.REMOVED and not pairing.after
    ]
    assert len(partners(matching)) + len(lost) >= len(set(places(before)))


@given(modules(), modules())
@examples(100)
def test_a_step_can_be_told_and_shown(first: str, second: str) -> None:
    before, after = read(first, second)
    change = step(before, after, "`some-pass`")
    assert change.headline.endswith(".")
    if change.matching is not None:
        assert list(changes(change.matching)) is not None
        for computation in text_diff(change.matching).computations:
            for hunk in computation.hunks:
                assert {line.sign for line in hunk.lines} <= set("+-~<> ")
