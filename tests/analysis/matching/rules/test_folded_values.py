"""Chains of arithmetic behind a seed that was put into an array, and between converts of floats."""

from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]
_ROUNDS = 8


def _rounds(name: str, start: str, keys: list[str]) -> str:
    """Return rounds of a random number generator, each with a key."""
    lines, last = [], start
    for number, key in enumerate(keys):
        lines.append(f"  %{name}m{number} = u32[] multiply(%{last}, %factor)")
        lines.append(f"  %{name}s{number} = u32[] shift-right-logical(%{name}m{number}, %bits)")
        lines.append(f"  %{name}x{number} = u32[] xor(%{name}s{number}, %{key})")
        last = f"{name}x{number}"
    return "\n".join(lines)


_HEAD = """HloModule m

ENTRY %main (seed: u32[]) -> u32[] {
  %seed = u32[] parameter(0)
  %factor = u32[] constant(3528531795)
  %bits = u32[] constant(16)
"""


def _before() -> str:
    keys = ["  %key0 = u32[] constant(4294967295)", "  %step = u32[] constant(2654435769)"]
    keys += [f"  %key{n} = u32[] add(%key{n - 1}, %step)" for n in range(1, _ROUNDS)]
    names = [f"key{number}" for number in range(_ROUNDS)]
    return (
        _HEAD
        + "\n".join(keys)
        + f"""
  %one = u32[] constant(1)
  %row = u32[1]{{0}} reshape(%seed)
  %ones = u32[1]{{0}} reshape(%one)
  %both = u32[2]{{0}} concatenate(%row, %ones), dimensions={{0}}
  %first = u32[1]{{0}} slice(%both), slice={{[0:1]}}
  %start = u32[] reshape(%first)
  %wide = u64[] convert(%start)
  %narrow = u32[] convert(%wide)
{_rounds("a", "narrow", names)}
  ROOT %out = u32[] negate(%ax{_ROUNDS - 1})
}}
"""
    )


def _after(first_key: int) -> str:
    keys = [
        f"  %k{number} = u32[] constant({(first_key + number * 2654435769) % 2**32})"
        for number in range(_ROUNDS)
    ]
    names = [f"k{number}" for number in range(_ROUNDS)]
    return (
        _HEAD
        + "\n".join(keys)
        + f"""
{_rounds("b", "seed", names)}
  ROOT %result = u32[] not(%bx{_ROUNDS - 1})
}}
"""
    )


def _partners(matching: Matching) -> list[Place | None]:
    return [matching.partner_after(Place("main", f"ax{number}")) for number in range(_ROUNDS)]


def test_a_chain_goes_on_behind_a_seed_and_keys_that_were_folded(read: Read) -> None:
    matching = match(read(_before()), read(_after(4294967295)))
    assert _partners(matching) == [Place("main", f"bx{number}") for number in range(_ROUNDS)]
    pairing = matching.pairing_before(Place("main", "ax3"))
    assert pairing is not None
    assert pairing.grade is Grade.MATCHED


def _floats(element_type: str, layers: int, *, converted: bool) -> str:
    """Return layers of arithmetic, in one type or between converts to f32 and back."""
    small, work = f"{element_type}[4,8]", "f32[4,8]" if converted else f"{element_type}[4,8]"
    lines, last = [], "a"
    for number in range(layers):
        for opcode in ("tanh", "exponential", "cosine"):
            name = f"{opcode}{'.n' if converted else ''}.{number}"
            if converted:
                lines.append(f"  %in.{name} = {work}{{1,0}} convert(%{last})")
                last = f"in.{name}"
            lines.append(f"  %{name} = {work}{{1,0}} {opcode}(%{last})")
            last = name
            if converted:
                lines.append(f"  %out.{name} = {small}{{1,0}} convert(%{last})")
                last = f"out.{name}"
    body = "\n".join(lines)
    end = "negate" if converted else "sine"
    return f"""HloModule m

ENTRY %main (a: {small}) -> {small} {{
  %a = {small}{{1,0}} parameter(0)
{body}
  ROOT %end.{end} = {small}{{1,0}} {end}(%{last})
}}
"""


def test_arithmetic_of_floats_goes_on_between_converts(read: Read) -> None:
    before, after = (_floats("bf16", 8, converted=converted) for converted in (False, True))
    matching = match(read(before), read(after))
    partner = matching.partner_after(Place("main", "tanh.5"))
    assert partner == Place("main", "tanh.n.5")
