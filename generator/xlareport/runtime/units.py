"""How numbers are written for people: thousands, bytes, rates, shares, signs. Pure functions."""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import TypeVar

from xlareport.runtime.english import pluralize

T = TypeVar("T", int, float)
_SIZE = re.compile(
    r"(?P<number>\d{1,15}(?:\.\d{1,9})?) ?(?P<prefix>[kMGT]?)(?P<binary>i?)B?",
    re.IGNORECASE | re.ASCII,
)
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
DECIMAL_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_WHOLE = 2.0**53
"""Floating-point numbers from here on are whole."""
MINUS = "\N{MINUS SIGN}"


def count(number: int) -> str:
    """Return a whole number with thousands separators: `1234567` gives `1,234,567`."""
    return f"{number:,}".replace("-", MINUS)


def byte_size(number: float) -> str:
    """Return a number of bytes in binary units: `1395864371` gives `1.3 GiB`."""
    value, unit = _scale(number, 1024, _BINARY)
    return f"{value} {unit}"


def byte_size_as(number: float, whole: float) -> str:
    """Return a number of bytes in the unit of another: `0.5 MiB` beside `1.1 MiB`."""
    _, unit = _scale(whole, 1024, _BINARY)
    value = number / 1024 ** _BINARY.index(unit)
    return f"{rounded(value, int(value < 99.95))} {unit}" if number else "0"


def sizes_apart(first: float, second: float) -> tuple[str, str]:
    """Return two numbers of bytes in binary units, with enough digits to distinguish them."""
    return _apart(first, second, byte_size, partial(_precisely, base=1024, units=_BINARY))


def times_apart(first: float, second: float) -> tuple[str, str]:
    """Return two times in suitable units, with enough digits to distinguish them."""
    return _apart(first, second, seconds, _time)


def quantities_apart(first: float, second: float, unit: str) -> tuple[str, str]:
    """Return two numbers in decimal units, with enough digits to distinguish them."""
    prefixed = tuple(f"{prefix}{unit}" for prefix in DECIMAL_PREFIXES)
    precisely = partial(_precisely, base=1000, units=prefixed, significant=3)
    return _apart(first, second, lambda number: quantity(number, unit), precisely)


def _apart(
    first: float,
    second: float,
    write: Callable[[float], str],
    write_precisely: Callable[[float, int], str],
) -> tuple[str, str]:
    texts = write(first), write(second)
    if first == second or texts[0] != texts[1]:
        return texts
    for digits in range(1, _MOST_DIGITS):
        precise = write_precisely(first, digits), write_precisely(second, digits)
        if precise[0] != precise[1]:
            return precise
    return texts


def _precisely(
    number: float, digits: int, base: int, units: tuple[str, ...], significant: int = 0
) -> str:
    value, unit = _scale(number, base, units, significant)
    decimals = digits + len(value.partition(".")[2])
    return f"{rounded(number / base ** units.index(unit), decimals)} {unit}"


def _time(time: float, digits: int) -> str:
    unit = seconds(time).partition(" ")[2]
    value = time * {"s": 1, "ms": 1e3, "µs": 1e6, "ns": 1e9}[unit]
    return f"{rounded(value, max(0, 3 + digits - len(f'{value:.0f}')))} {unit}"


_MOST_DIGITS = 7
"""Limit on digits that distinguish two figures; those that agree in so many are written short."""


def quantity(number: float, unit: str) -> str:
    """Return a number in decimal units: `quantity(2.1e9, "FLOP")` gives `2.10 GFLOP`."""
    value, prefix = _scale(number, 1000, DECIMAL_PREFIXES, significant=3)
    return f"{value} {prefix}{unit}" if number else "0"


def seconds(time: float) -> str:
    """Return a time in the unit that reads well: `0.0000021` gives `2.1 µs`; below 1 ns `<1 ns`."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if time * factor >= 1:
            return f"{time * factor:.3g} {unit}"
    return "<1 ns" if 0 < time < 1e-9 else f"{time * 1e9:.3g} ns"


def share(fraction: float) -> str:
    """Return a fraction as a percentage that never rounds something to nothing, nor to all."""
    percent = fraction * 100
    if 0 < percent < 0.1:
        return "<0.1%"
    if 99.9 < percent < 100:
        return ">99.9%"
    return f"{rounded(percent, 0 if percent >= 10 or percent == 0 else 1)}%"


def rounded(number: float, digits: int) -> str:
    """Return a number with `digits` decimals, halves rounded up as JavaScript's `toFixed` does.

    Python rounds halves to the even digit: a page and its script would show 31.2 and 31.3.
    """
    if not abs(number) < _WHOLE:  # too large for a half; infinite, or no number
        return f"{number:.{digits}f}"
    return str(Decimal(number).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def precise_share(fraction: float) -> str:
    """Return a fraction as a percentage of three digits: occupancies differ by half a percent."""
    return (
        f"{fraction * 100:.3g}%" if fraction in (0, 1) or _is_middle(fraction) else share(fraction)
    )


def _is_middle(fraction: float) -> bool:
    return 0.001 <= fraction <= 0.999


def signed(number: int) -> str:
    """Return a difference with its sign: `+5`, a true minus, or `±0`."""
    if number == 0:
        return "\N{PLUS-MINUS SIGN}0"
    return count(number) if number < 0 else f"+{count(number)}"


_TENFOLD = 9


def with_sign(number: T, write: Callable[[T], str]) -> str:
    """Return a difference that is not 0 with its sign, its size as `write` has it: `+1.0 MiB`."""
    return f"{MINUS if number < 0 else '+'}{write(abs(number))}"


def signed_share(fraction: float) -> str:
    """Return a relative change with its sign: `+1.5%`; one that is not 0 is never written as 0.

    What is ten times as much or more is a factor: `929x`.
    """
    if fraction >= _TENFOLD:
        return f"{fraction + 1:,.0f}x"
    text = f"{abs(fraction):.1%}"
    if fraction and text == "0.0%":
        return f"<0.1% {'more' if fraction > 0 else 'less'}"
    return f"{MINUS if fraction < 0 else '+'}{text}"


def plural(number: int, singular: str, many: str = "") -> str:
    """Return a number with its noun: `plural(2, "step")` gives `2 steps`."""
    return f"{count(number)} {singular if number == 1 else many or pluralize(singular)}"


def unit_scale(unit: str) -> int:
    """Return the factor of a unit: 1,000,000 for `MB`, 1,048,576 for `MiB`."""
    prefix = unit[:1].replace("K", "k")
    power = DECIMAL_PREFIXES.index(prefix) if prefix in DECIMAL_PREFIXES else 0
    return int((1024 if "i" in unit else 1000) ** power)


def parse_byte_size(text: str) -> int | None:
    """Return the bytes of `500MB`, `2 GiB` or `4096`, in any case; None where it is no size."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    scale = unit_scale(match["prefix"].upper() + match["binary"].lower())
    return int(float(match["number"]) * scale)


def _scale(
    number: float, base: int, units: tuple[str, ...], significant: int = 0
) -> tuple[str, str]:
    """Divide `number` until it reads well: whole below the first unit, else with decimals.

    There is one decimal below 100, or as many as `significant` digits need.
    """
    value = abs(number)
    sign = MINUS if number < 0 else ""
    index = 0
    while index < len(units) - 1 and round(value) >= base:
        value /= base
        index += 1
    decimals = max(0, significant - len(f"{value:.0f}")) if significant else int(value < 99.95)
    digits = 0 if index == 0 and value == round(value) else decimals
    return f"{sign}{rounded(value, digits)}", units[index]
