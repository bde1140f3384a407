"""The sentences of causes. Names stand between backticks; each ends with a full stop."""

from collections.abc import Sequence

from xlareport.analysis.compare.comparison import DEVICE, DISABLED, Comparison, OptionChange
from xlareport.analysis.compare.compilers import OtherCompiler
from xlareport.analysis.compare.passes import PassDifference
from xlareport.analysis.compare.program_changes import ChangeKind, ProgramChange
from xlareport.runtime import units

_SHOWN = 4


def option(change: OptionChange) -> str:
    """Say which option differs."""
    base, head = (_value(value) for value in (change.base, change.head))
    if change.name == DEVICE:
        return f"The device it was compiled for is {base} in the base and {head} in the head."
    if change.name == DISABLED:
        base, head = (_passes(value) for value in (change.base, change.head))
        return f"`{DISABLED}` disables {base} in the base and {head} in the head."
    return f"The XLA option `{change.name}` is {base} in the base and {head} in the head."


def _value(value: str | None) -> str:
    return "at its default" if value is None else f"`{value}`"


def _passes(value: str | None) -> str:
    return listed(value.split(",")) if value else "no pass"


def compiler(other: OtherCompiler) -> str:
    """Say how it is known that another version of the compiler ran."""
    if other.pipeline:
        return (
            f"Another version of the compiler, by the passes it has: `{other.pipeline}` begins "
            f"with `{other.base[0]}` in the base and with `{other.head[0]}` in the head."
        )
    sides = {"base": other.base, "head": other.head}
    only = [f"only the {side} has {listed(names)}" for side, names in sides.items() if names]
    if only:
        return f"Another version of the compiler, by its pipelines: {', '.join(only)}."
    return "Another version of the compiler or the framework: only one side has stack frames."


def listed(names: Sequence[str]) -> str:
    """List the first names, and how many more there are."""
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def program(change: ProgramChange, comparison: Comparison) -> str:
    """Say what changed in the program that the compiler was given."""
    names = f": {listed(change.names)}" if change.names else ""
    more = ", ..." if change.count > len(change.names) and change.names else ""
    arguments = units.plural(change.count, "argument")
    match change.kind:
        case ChangeKind.TYPE:
            what = f"The program computes in {change.head} instead of {change.base}"
            of = f" ({arguments})" if change.names else ""
            return f"{what}{of}.{_upcast(change, comparison)}"
        case ChangeKind.SIZE:
            what = f"A dimension of {arguments} is {change.head} instead of {change.base}"
            return f"{what}{names}{more}."
        case ChangeKind.LAYERS:
            return f"The program has {change.head} layers instead of {change.base}{names}{more}."
        case ChangeKind.RECOMPUTATION:
            what = (
                f"jax.checkpoint recomputes {change.head} instructions of the program instead of "
                f"{change.base}"
            )
            at = f", at {listed(change.lines)}" if change.lines else ""
            return f"{what}{at}."
        case ChangeKind.DONATION:
            size = units.byte_size(change.bytes)
            what = f"{change.head} arguments are donated instead of {change.base}"
            return f"{what} ({size}){names}{more}."
        case ChangeKind.SHARDING:
            where = f" in {arguments}" if change.count else ""
            return f"The sharding is `{change.head}` instead of `{change.base}`{where}{names}{more}."
        case ChangeKind.OPERATIONS:
            return _operations(change)
        case ChangeKind.OTHER:
            return "The program differs in constants or attributes of instructions."


def _operations(change: ProgramChange) -> str:
    at = f", at {listed(change.lines)}" if change.lines else ""
    parts = [f"the base has more `{change.base}`"] if change.base else []
    parts += [f"the head has more `{change.head}`"] if change.head else []
    return f"The program has other operations: {', '.join(parts)}{at}."


def _upcast(change: ProgramChange, comparison: Comparison) -> str:
    """Say that products run in another type than the program asks for."""
    head = comparison.head
    if head is None:
        return ""
    asked = dict(head.facts.program.products).get(change.head, 0)
    other = sum(
        row.products for row in head.facts.precisions if not row.kind.startswith(change.head)
    )
    kinds = [row.kind for row in head.facts.precisions if not row.kind.startswith(change.head)]
    if not asked or not other:
        return ""
    how_many = units.plural(min(asked, other), "product")
    return f" {how_many} of {change.head} run in {kinds[0]}."


def modules(side: str, names: Sequence[str]) -> str:
    """Say which modules only one side has."""
    how_many = units.plural(len(names), "module")
    return f"Only the {side} has {how_many}: {listed(list(dict.fromkeys(names)))}."


def one_sided(difference: PassDifference, comparison: Comparison) -> str:
    """Say what a pass did on one side, with the products that are there."""
    side, other = ("head", "base") if difference.in_head else ("base", "head")
    verb = "added" if difference.count > 0 else "removed"
    count = units.count(abs(difference.count))
    steps = units.plural(difference.steps, "step")
    return (
        f"Only in the {side}, `{difference.name}` {verb} {count} `{difference.opcode}` "
        f"({steps}); in the {other} it changed nothing."
    )


def tuned(names: Sequence[str]) -> str:
    """Say that autotuning left other settings."""
    return (
        f"Autotuning chose differently: {listed(names)} ends in the same instructions, with other "
        "backend configurations."
    )


def timed(names: Sequence[str]) -> str:
    """Say that compilations part where alternatives are timed."""
    return (
        f"Autotuning chose differently: {listed(names)} is the same until the pass that times "
        "alternatives, and not after it."
    )


def parted(text: str, count: int) -> str:
    """Say where compilations part, and how many modules do."""
    return f"{text} ({units.plural(count, 'module')})."
