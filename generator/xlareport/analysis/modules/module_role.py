"""Roles of modules in a dump: main program, helpers, pieces of other modules."""

from enum import StrEnum

from msgspec import Struct


class ModuleRole(StrEnum):
    """A role, as pages and `report.json` name it."""

    MAIN = "main"
    EVALUATION = "evaluation"
    INITIALIZATION = "initialization"
    SUMMARY = "report or summary"
    RANDOM_NUMBERS = "random numbers"
    TRANSFER = "cast or transfer"
    EAGER_OP = "eager op"
    AUTOTUNING = "module extracted for autotuning"
    PART = "part of another compilation"
    UNKNOWN = "unknown"


PIECES = frozenset({ModuleRole.AUTOTUNING, ModuleRole.PART})
"""Roles of modules that repeat a part of another module."""
OUTSIDE_JIT = frozenset({ModuleRole.EAGER_OP, ModuleRole.TRANSFER, ModuleRole.RANDOM_NUMBERS})
"""Roles of modules that JAX compiles for single operations outside of `jax.jit`."""
HELPERS = OUTSIDE_JIT | {ModuleRole.AUTOTUNING}
"""Roles of modules that no user wrote as a program."""


class Role(Struct, frozen=True):
    """A role and its reason; a guess, unless a marker decided."""

    name: ModuleRole
    reason: str
