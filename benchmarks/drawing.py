"""What drawing claims for a person to judge has in common: which modules a person can read."""

from xlareport.hlo.model import HloModule

_MOST_INSTRUCTIONS = 6_000


def is_readable(module: HloModule) -> bool:
    """Whether a person can read a module beside a claim: larger ones nobody reads."""
    return module.instruction_count <= _MOST_INSTRUCTIONS
