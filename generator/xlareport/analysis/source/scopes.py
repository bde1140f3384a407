"""Where in the model an instruction belongs: the scopes of its framework op."""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

from xlareport.hlo.model import Instruction
from xlareport.hlo.opcode_groups import OPCODES
from xlareport.runtime.graphs import descend

_WRAPPER = re.compile(r"[A-Za-z_]\w*\((.*)\)\Z", re.DOTALL)
_NUMBER = re.compile(r"\d+")
_BRANCH = re.compile(r"(?<![^/(])branch_\d+_fun(?![^/)])")
"""JAX's names for the scope levels of the branches of a conditional."""
_LONGEST_OP_NAME = 2000
"""Characters of an op_name that are looked at."""
CONTROL_FLOW = frozenset(
    {"while", "body", "cond", "closed_call", "core_call", "eval_jaxpr", "checkpoint", "shard_map"}
)
"""JAX's names for the scope levels of loops, branches, calls and maps over devices."""
RECOMPUTED = "rematted_computation"
"""JAX's name for the scope of ops that jax.checkpoint recomputes."""
_LEFT_OUT = CONTROL_FLOW | {RECOMPUTED}
"""Levels that pages do not write."""


def scope(instruction: Instruction) -> str:
    """Return the named scopes of an instruction: `layer_3/mlp`; empty where there are none."""
    return scope_of(instruction.metadata.op_name)


@lru_cache(maxsize=65536)
def scope_of(op_name: str) -> str:
    """Return the scopes in an op_name: of `jit(step)/jvp(layer_3)/mlp/dot_general`, `layer_3/mlp`.

    Transformations (`jit(f)`, `jvp(...)`, `transpose(...)`) and the operation itself are left out.
    """
    first = op_name[:_LONGEST_OP_NAME].partition(";")[0]
    return "/".join(_plain_levels(split_path(first)[:-1]))


@lru_cache(maxsize=65536)
def plain_path(op_name: str) -> str:
    """Return an op_name as pages write it, without transformations: `layer_3/mlp/dot_general`.

    Of several that XLA merged with `;`, each. Traced functions, `jit(f)`, and levels of control
    flow are left out.
    """
    names = op_name[:_LONGEST_OP_NAME].split(";")
    paths = (_plain_levels(split_path(name)) for name in names)
    return ";".join("/".join(without_control_flow(path)) for path in paths)


def ends_plain(op_name: str, asked: str) -> bool:
    """Return whether an op_name ends so without transformations, `jvp(...)` and the like.

    Pages write op_names so: `encoder/mlp/mul` for `jit(f)/jvp(encoder)/mlp/mul`.
    """
    wanted = plain_path(asked)
    return bool(wanted) and any(
        f"/{text}".endswith(f"/{wanted}") for text in plain_path(op_name).split(";")
    )


def without_control_flow(levels: Iterable[str]) -> list[str]:
    """Return the levels of a scope that pages write: none of loops, calls or recomputation."""
    return [level for level in levels if level not in _LEFT_OUT]


@lru_cache(maxsize=65536)
def split_merged(op_name: str) -> tuple[str, ...]:
    """Return the op_names that XLA merged into one, as in combined collectives; else it alone.

    It writes them as `a;b`, or with what they have in common before: `jit(f)/(mul:tanh)`.
    """
    several = op_name[:_LONGEST_OP_NAME].split(";")
    if len(several) > 1:
        return _without_relative(several)
    *common, last = split_path(several[0])
    if not last.startswith("(") or not last.endswith(")"):
        return (op_name,)
    names = split_path(last[1:-1], ":")
    return tuple("/".join((*common, name)) for name in names) if len(names) > 1 else (op_name,)


def _without_relative(names: list[str]) -> tuple[str, ...]:
    """Return op_names without those that are the end of another: the same op, inside a call."""
    return tuple(
        name for name in names if not any(other.endswith(f"/{name}") for other in names)
    ) or tuple(names)


@lru_cache(maxsize=65536)
def mask_numbers(text: str) -> str:
    """Return a scope with `*` for numbers, so that `layer_3/mlp` and `layer_4/mlp` are equal."""
    return _NUMBER.sub("*", text)


@lru_cache(maxsize=65536)
def find_numbers(text: str) -> tuple[str, ...]:
    """Return the numbers in a scope: of `layer_3/mlp`, `('3',)`."""
    return tuple(_NUMBER.findall(text))


@lru_cache(maxsize=65536)
def find_layer(text: str) -> str:
    """Return the first number in a scope, which is that of its layer; none of a branch: ''."""
    return next(iter(find_numbers(_BRANCH.sub("", text))), "")


def split_path(op_name: str, separator: str = "/") -> list[str]:
    """Return the parts between separators outside of parentheses: two for `jvp(a/b)/mul`."""
    parts, depth, start, end = [], 0, 0, -1
    for part in op_name.split(separator):
        end += 1 + len(part)
        depth += part.count("(") - part.count(")")
        if depth <= 0:
            parts.append(op_name[start:end])
            start = end + 1
    return [*parts, op_name[start:]] if depth > 0 else parts


def _plain_levels(parts: list[str]) -> list[str]:
    """Return the levels that transformations are applied to, without traced functions."""
    return _bare_levels(_without_repeat(parts))


def _without_repeat(parts: list[str]) -> list[str]:
    """Return the parts of a path without a scope that is written twice.

    JAX writes the gradient of what jax.checkpoint recomputes as
    `transpose(jvp(tower))/block_0/jvp(tower)/block_0/checkpoint`: one scope.
    """
    first = next((at for at, part in enumerate(parts) if part.startswith("transpose(")), None)
    if first is None:
        return parts
    for again in range(first + 1, len(parts)):
        if parts[again].startswith("jvp("):
            outer, inner = _bare_levels(parts[first:again]), _bare_levels(parts[again:])
            if outer and inner[: len(outer)] == outer:
                return [*parts[:first], *parts[again:]]
    return parts


def _bare_levels(parts: list[str]) -> list[str]:
    def inside(part: str) -> list[str]:
        match = _WRAPPER.match(part)
        is_program = part.startswith(("jit(", "pjit(", "xla_call("))
        return split_path(match[1]) if match and not is_program else []

    return [part for part in descend(parts, inside) if part and not _WRAPPER.match(part)]


def untransformed(level: str) -> str:
    """Return what a level applies transformations to: of `transpose(jvp(layer_3))`, `layer_3`.

    Of a traced function, `jit(log_softmax)`, its name; of `jvp()`, nothing.
    """
    while match := _WRAPPER.match(level):
        level = match[1]
    return level


@lru_cache(maxsize=65536)
def numbered_opcode(op_name: str) -> str:
    """Return the opcode of `broadcast.53`, an op_name that XLA gave; empty for other op_names."""
    opcode, _, number = op_name.rpartition(".")
    return opcode if number.isdecimal() and opcode in OPCODES else ""


class Phase(StrEnum):
    """The part of a training step that an op belongs to, as JAX writes it into the op_name."""

    FORWARD = "forward"
    BACKWARD = "backward"
    RECOMPUTED = "recomputed"
    OTHER = ""
    """Not differentiated, or unknown."""


def phase_of(op_name: str) -> Phase:
    """Return the phase of an op_name; `rematted_computation` marks recomputed ops."""
    if "rematted_computation" in op_name:
        return Phase.RECOMPUTED
    if "transpose(" in op_name:
        return Phase.BACKWARD
    return Phase.FORWARD if "jvp(" in op_name else Phase.OTHER
