"""Reads kernels of a PTX text: required block sizes, shared memory, matrix units.

Source: NVIDIA, PTX ISA 8.8: performance-tuning directives, state space `.shared`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial

from msgspec import Struct

from xlareport.runtime.whole_numbers import parse_whole_number, round_up

_TARGET = re.compile(rb"^[ \t]*+\.target[ \t]++(\w{1,40})", re.MULTILINE)
_ENTRY = re.compile(rb"\.entry[ \t\n]++([A-Za-z_$%][\w$]*+)")
_BODY = re.compile(rb"^\{", re.MULTILINE)
_DIRECTIVE = re.compile(rb"\.(maxntid|reqntid|maxnreg)[ \t]++(\d[\d, \t]{0,60})")
_VARIABLE = re.compile(
    rb"^[ \t]*+(?P<extern>\.extern[ \t]++)?+(?:\.visible[ \t]++|\.weak[ \t]++)?+"
    rb"\.shared[ \t]++(?:\.align[ \t]++(?P<align>\d{1,4})[ \t]++)?+"
    rb"\.(?P<type>[a-z]\d{1,3})[ \t]++(?P<name>[\w$%]{1,500})(?:\[(?P<count>\d{0,12})\])?+",
    re.MULTILINE,
)
_MATRIX = re.compile(rb"\b(mma\.sync|wgmma\.mma_async|wmma\.mma|tcgen05\.mma)\b")
_BITS = 8


class PtxKernel(Struct, frozen=True):
    """An entry point of a PTX text, as it is written: before registers are allocated."""

    name: str
    target: str
    """`sm_90a`; empty where the text has none."""
    threads_required: int | None
    """`.reqntid`: every launch has just so many threads in a block."""
    threads_at_most: int | None
    """`.maxntid`, else `.reqntid`."""
    registers_at_most: int | None
    """`.maxnreg`, per thread."""
    shared_bytes: int
    """Declared in the kernel, or outside and used in it; the assembler may remove some."""
    shared_is_dynamic: bool
    """Whether it uses memory whose size the launch sets."""
    matrix: str
    """The first matrix instruction, as `wgmma.mma_async`; empty where there is none."""


def read_ptx(data: bytes) -> tuple[PtxKernel, ...]:
    """Return the entry points of a PTX text, each name once; empty for an empty file."""
    match = _TARGET.search(data)
    target = match[1].decode() if match else ""
    entries = list(_ENTRY.finditer(data))
    if not entries:
        return ()
    ends = [*(match.start() for match in entries[1:]), len(data)]
    outside = tuple(_variables(data[: entries[0].start()]))
    kernels: dict[str, PtxKernel] = {}
    for match, end in zip(entries, ends, strict=True):
        name = match[1].decode()
        kernels.setdefault(name, _kernel(name, target, data[match.end() : end], outside))
    return tuple(kernels.values())


class _Variable(Struct, frozen=True):
    name: bytes
    align: int
    size: int | None
    """None where the launch sets it."""


def _kernel(name: str, target: str, text: bytes, outside: tuple[_Variable, ...]) -> PtxKernel:
    body = _BODY.search(text)
    start = body.start() if body else len(text)
    wanted = {match[1].decode(): match[2] for match in _DIRECTIVE.finditer(text[:start])}
    used = [variable for variable in outside if variable.name in text]
    variables = [*used, *_variables(text[start:])]
    required = _product(wanted, "reqntid")
    matrix = _MATRIX.search(text)
    return PtxKernel(
        name=name,
        target=target,
        threads_required=required,
        threads_at_most=_product(wanted, "maxntid") or required,
        registers_at_most=_product(wanted, "maxnreg"),
        shared_bytes=_total(variables),
        shared_is_dynamic=any(variable.size is None for variable in variables),
        matrix=matrix[1].decode() if matrix else "",
    )


def _variables(text: bytes) -> Iterator[_Variable]:
    for match in _VARIABLE.finditer(text):
        width = parse_whole_number(match["type"][1:].decode()) or _BITS
        count = parse_whole_number((match["count"] or b"1").decode())
        sized = not match["extern"] and match["count"] != b""
        yield _Variable(
            match["name"],
            parse_whole_number((match["align"] or b"1").decode()) or 1,
            (count or 0) * max(1, width // _BITS) if sized else None,
        )


def _total(variables: list[_Variable]) -> int:
    """Return the bytes of variables, one behind the other, each aligned."""
    total = 0
    for variable in variables:
        if variable.size is not None:
            total = round_up(total, variable.align) + variable.size
    return total


def _product(wanted: Mapping[str, bytes], name: str) -> int | None:
    numbers = map(partial(str.strip), wanted.get(name, b"").decode().split(","))
    sizes = [parse_whole_number(number) for number in numbers if number]
    product = 1
    for size in sizes:
        if size is None:
            return None
        product *= size
    return product if sizes else None
