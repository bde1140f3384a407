"""Random numbers in the hot path.

Random number generation takes between 10% and 90% of the roofline time of a module with matmuls.
Dropout is the usual reason; `rbg` is a cheaper generator than `threefry`.
"""

from collections.abc import Iterator

from xlareport.analysis.findings.finding import Case, Finding
from xlareport.hlo.model import Instruction
from xlareport.runtime import units

LEAST_SHARE = 0.1
"""Of the module's roofline time, all of them together."""
MOST_SHARE = 0.9
"""A module with a larger share has the purpose of making random numbers."""
_OPCODES = frozenset({"rng", "rng-bit-generator"})
_WORDS = (
    "threefry2x32",
    "random_bits",
    "rng_bit_generator",
    "rng_uniform",
    "jit(_uniform)",
    "jit(_normal)",
    "jit(_bernoulli)",
)
"""Parts of a scope that JAX's random functions leave behind."""


def random_numbers(case: Case) -> Iterator[Finding]:
    """Report the instructions that make random numbers, all together.

    A module without a product is not what a person trains or serves with: it is left alone.
    """
    if not any(cost.matrix_flops for _, _, cost in case.scheduled):
        return
    result = [
        (time, (computation.name, instruction.name))
        for computation, instruction, cost in case.scheduled
        if _is_random(instruction) and (time := case.least(cost))
    ]
    seconds = sum(time for time, _ in result)
    if not case.is_noticeable(seconds, LEAST_SHARE) or case.share(seconds) > MOST_SHARE:
        return
    result.sort(key=lambda pair: (-pair[0], pair[1]))
    yield Finding(
        title="Random numbers in the hot path",
        places=tuple(place for _, place in result),
        evidence=(
            f"{units.plural(len(result), 'instruction')} for random number generation: "
            f"{case.share_words(seconds)}."
        ),
        suggestion=(
            "Use a cheaper generator (jax_default_prng_impl=rbg or unsafe_rbg), fewer dropout "
            "masks, or reuse masks."
        ),
        grade="guessed",
        weight=seconds,
        seconds=seconds,
    )


def _is_random(instruction: Instruction) -> bool:
    scope = instruction.metadata.op_name
    return instruction.opcode in _OPCODES or any(word in scope for word in _WORDS)
