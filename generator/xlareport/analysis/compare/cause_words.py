"""The sentences of causes. Names are in backticks; each sentence ends with a full stop."""

from collections.abc import Iterator, Sequence

from xlareport.analysis.compare.comparison import DEVICE, DISABLED, Comparison, OptionChange
from xlareport.analysis.compare.compilers import OtherCompiler, Sign
from xlareport.analysis.compare.converted_products import ConvertedProducts, find_converted
from xlareport.analysis.compare.moved_operations import Move
from xlareport.analysis.compare.one_sided_passes import PassDifference
from xlareport.analysis.compare.program_changes import ChangeKind, ProgramChange
from xlareport.knowledge.changed_defaults import ChangedDefault, changed_defaults, defaults_of
from xlareport.knowledge.flags import all_entries
from xlareport.knowledge.passes import find_either
from xlareport.knowledge.tpu_defaults import nearest_release
from xlareport.runtime import english, units
from xlareport.runtime.whole_numbers import parse_whole_number

_SHOWN = 4
NOT_BETWEEN = "The optimized HLO differs; the dumps do not have the same snapshots in between"


def option(change: OptionChange) -> str:
    """Return which option differs."""
    base, head = (_option_value(value) for value in (change.base, change.head))
    if change.name == DEVICE:
        return f"The device it was compiled for is {base} in the base and {head} in the head."
    if change.name == DISABLED:
        base, head = (_passes(value) for value in (change.base, change.head))
        return f"`{DISABLED}` disables {base} in the base and {head} in the head."
    what = f"The XLA option `{change.name}` is {base} in the base and {head} in the head."
    changed = changed_defaults().get(change.name, ())
    return " ".join((what, *(f"Its default is {_changed(flag)}." for flag in changed)))


def why_option(change: OptionChange) -> str:
    """Return the meaning of an option, or of the passes that it disables; empty if unknown."""
    if change.name == DISABLED:
        named = f"{change.base or ''},{change.head or ''}".split(",")
        meanings = ((name, why_pass(name)) for name in dict.fromkeys(named))
        return " ".join(f"`{name}`: {words}" for name, words in meanings if words)
    flag = all_entries().get(change.name)
    return flag.words if flag else ""


def why_pass(name: str) -> str:
    """Return the first sentence about a pass; empty if the tables do not have it."""
    pass_info = find_either(name) if name else None
    return pass_info.summary if pass_info else ""


def why_program(change: ProgramChange, comparison: Comparison) -> str:
    """Return why a new element type has no effect; empty if it has one."""
    if change.kind is not ChangeKind.TYPE or find_upcast(change, comparison) is None:
        return ""
    backend = (comparison.present.summary.origin.backend or "this backend").upper()
    return f"The {backend} compiler converts the operands of these matmuls."


def _changed(changed: ChangedDefault) -> str:
    older, newer = changed.older, changed.newer
    return f"`{older}` in jaxlib {changed.before} and `{newer}` in {changed.after}"


def defaults(backend: str) -> tuple[str, ...]:
    """Return which defaults are known to differ between releases, for another compiler."""
    flags = sorted(defaults_of(backend), key=_release, reverse=True)
    return tuple(f"Default of `{flag.name}`: {_changed(flag)}." for flag in flags)


def _release(changed: ChangedDefault) -> tuple[int, ...]:
    return tuple(int(part) for part in changed.after.split("."))


def _option_value(value: str | None) -> str:
    return "at its default" if value is None else f"`{value}`"


def _passes(value: str | None) -> str:
    return listed(value.split(",")) if value else "no pass"


def compiler(other: OtherCompiler) -> str:
    """Return how it is known that another version of the compiler ran."""
    another, base, head = "Another version of the compiler", other.base, other.head
    match other.sign:
        case Sign.BUILD:
            return f"{another}: {_build(base[0])} in the base and {_build(head[0])} in the head."
        case Sign.BEGINNING:
            return (
                f"{another}, by the passes it has: `{other.pipeline}` begins with `{base[0]}` "
                f"in the base and with `{head[0]}` in the head."
            )
        case Sign.PIPELINES:
            sides = {"base": base, "head": head}
            only = [
                f"only the {side} has {listed(names)}" for side, names in sides.items() if names
            ]
            return f"{another}, by its pipelines: {', '.join(only)}."
        case Sign.FORM:
            return f"{another} or the framework: only one side has stack frames."
    return (
        f"{another}, or another machine: the same program with the same options is compiled "
        "differently."
    )


def _build(build: str) -> str:
    """Name a build of libtpu, with its release where that is known."""
    number = parse_whole_number(build.removeprefix("cl_")) or 0
    release = nearest_release(number)
    release_note = f" (libtpu {release.release})" if release.build == number else ""
    return f"build `{build}`{release_note}"


def listed(names: Sequence[str], count: int = 0) -> str:
    """List the first names, and how many more there are: of `count`, or of the names."""
    return english.first_few([f"`{name}`" for name in names], _SHOWN, max(count, len(names)))


def program(change: ProgramChange, comparison: Comparison) -> str:
    """Return a sentence on a change in the program."""
    names = f": {listed(change.names, change.count)}" if change.names else ""
    at = _at(change.lines, change.line_count)
    what = _program_words(change)
    match change.kind:
        case ChangeKind.TYPE if change.is_whole:
            of = f" ({units.plural(change.count, 'argument')})" if change.names else ""
            return f"{what}{of}.{_upcast(change, comparison)}{_sent(change, comparison)}"
        case ChangeKind.TYPE:
            products = _products(change, comparison)
            return f"{_arguments(change)}{names}.{products}{_upcast(change, comparison)}"
        case ChangeKind.OTHER if change.moves:
            return f"The program has the same operations in other places: {_moves(change)}."
        case ChangeKind.OPERATIONS:
            return f"{what}: {'; '.join(_operations(change))}."
        case _:
            return f"{what}{names}{at}."


def program_clause(change: ProgramChange) -> str:
    """Return a change in the program as part of a sentence, without names and places."""
    words = _program_words(change)
    return words[:1].lower() + words[1:]


def _program_words(change: ProgramChange) -> str:
    return (_recomputed(change) or _WORDS[change.kind]).format(
        base=change.base,
        head=change.head,
        arguments=units.plural(change.count, "argument"),
        loops="A loop runs" if change.count == 1 else f"{change.count} loops run",
        size=units.byte_size(change.bytes),
        donated=_donated(change),
    )


def _recomputed(change: ProgramChange) -> str:
    """Return the words where only one side recomputes; empty for other changes."""
    if change.kind is not ChangeKind.RECOMPUTATION or "0" not in (change.base, change.head):
        return ""
    if change.head == "0":
        return "jax.checkpoint recomputed {base} instructions of the program in the base, now none"
    return "jax.checkpoint recomputes {head} instructions of the program, none in the base"


def _donated(change: ProgramChange) -> str:
    """Return which number of arguments is donated; empty for other changes."""
    if change.kind is not ChangeKind.DONATION:
        return ""
    verb = "is" if change.count == 1 else "are"
    arguments = units.plural(change.count, "argument")
    if change.head == "0":
        return f"{arguments} {verb} no longer donated"
    if change.base == "0":
        return f"{arguments} {verb} donated, and none in the base"
    return f"{change.head} arguments are donated instead of {change.base}"


_WORDS = {
    ChangeKind.TYPE: "The program computes in {head} instead of {base}",
    ChangeKind.SIZE: "A dimension of {arguments} is {head} instead of {base}",
    ChangeKind.LAYERS: "The program has {head} layers instead of {base}",
    ChangeKind.RECOMPUTATION: (
        "jax.checkpoint recomputes {head} instructions of the program instead of {base}"
    ),
    ChangeKind.LOOPS: "{loops} {head} instead of {base} times",
    ChangeKind.DONATION: "{donated} ({size} per device)",
    ChangeKind.SHARDING: "The sharding is `{head}` instead of `{base}`",
    ChangeKind.OPERATIONS: "The program has other operations",
    ChangeKind.HEADER: "The program has the same instructions and another header",
    ChangeKind.OTHER: (
        "The program has the same operations, with other shapes, constants or attributes, or in "
        "other places, such as a loop or a call"
    ),
}


def _moves(change: ProgramChange) -> str:
    """Return which ops are in other loops or calls, and how many instructions more."""
    listed_moves = "; ".join(map(_move, change.moves))
    more = change.count - sum(move.count for move in change.moves)
    return f"{listed_moves}; and {units.plural(more, 'instruction')} more" if more else listed_moves


def _move(move: Move) -> str:
    by_loops = move.base.loops != move.head.loops
    noun = "loop" if by_loops else "call"
    base, head = (
        _around(depth.loops if by_loops else depth.calls, noun) for depth in (move.base, move.head)
    )
    verb = "is" if move.count == 1 else "are"
    return f"{units.count(move.count)} `{move.op}` {verb} {head} instead of {base}"


def _around(count: int, noun: str) -> str:
    if count == 0:
        return f"outside of {noun}s"
    return f"in a {noun}" if count == 1 else f"in {count} nested {noun}s"


def _operations(change: ProgramChange) -> Iterator[str]:
    if change.base:
        yield f"the base has more `{change.base}`{_at(change.base_lines)}"
    if change.head:
        yield f"the head has more `{change.head}`{_at(change.lines)}"


def _at(lines: Sequence[str], count: int = 0) -> str:
    return f", at {listed(lines, count)}" if lines else ""


def _arguments(change: ProgramChange) -> str:
    """Return the new type of arguments, where most matmuls keep theirs."""
    verb = "is" if change.count == 1 else "are"
    return f"{units.plural(change.count, 'argument')} {verb} {change.head} instead of {change.base}"


def _products(change: ProgramChange, comparison: Comparison) -> str:
    """Return how many matmuls of the program read the new type."""
    base, head = (dict(side.facts.program.products) for side in comparison.sides)
    reading, before = head.get(change.head, 0), base.get(change.head, 0)
    if reading == before:
        return ""
    every = units.plural(sum(head.values()), "matmul")
    verb = "reads" if reading == 1 else "read"
    return f" {reading:,} of {every} {verb} {change.head}, {before:,} in the base."


def _upcast(change: ProgramChange, comparison: Comparison) -> str:
    """Return the sentence on matmuls that run in another type than the program requests."""
    upcast = find_upcast(change, comparison)
    if upcast is None:
        return ""
    verb = "runs" if upcast.count == 1 else "run"
    return f" {units.plural(upcast.count, f'{change.head} matmul')} {verb} in {upcast.kind}."


def find_upcast(change: ProgramChange, comparison: Comparison) -> ConvertedProducts | None:
    """Return the matmuls of the new type that the head runs in another; None without any."""
    if change.kind is not ChangeKind.TYPE or comparison.head is None:
        return None
    facts = comparison.head.facts
    return find_converted(facts.program.typed_products, facts.typed_products, change.head)


def _sent(change: ProgramChange, comparison: Comparison) -> str:
    """Return the sentence that collectives send another type than the program computes in."""
    head = comparison.head
    counts = head.facts.collective_types if head else ()
    other = sum(
        count for types, count in counts if change.base in types and change.head not in types
    )
    if not other:
        return ""
    every = units.plural(sum(count for _, count in counts), "floating-point collective")
    sent = next((figure for figure in comparison.quantities if figure.name == "wire_bytes"), None)
    same = sent is not None and sent.base is not None and sent.base == sent.head
    return (
        f" {other:,} of {every} {'sends' if other == 1 else 'send'} {change.base}"
        f"{'; the bytes sent are the same' if same else ''}."
    )


def modules(side: str, names: Sequence[str]) -> str:
    """Return a sentence on modules that only one side has."""
    how_many = units.plural(len(names), "module")
    return f"Only the {side} has {how_many}: {listed(list(dict.fromkeys(names)))}."


def one_sided(difference: PassDifference) -> str:
    """Return a sentence on a pass that changed something on one side only."""
    side, other = ("head", "base") if difference.in_head else ("base", "head")
    verb = "added" if difference.count > 0 else "removed"
    count = units.count(abs(difference.count))
    steps = units.plural(difference.steps, "step")
    return (
        f"Only in the {side}, `{difference.name}` {verb} {count} `{difference.opcode}` "
        f"({steps}); in the {other} it changed nothing."
    )


def tuned(names: Sequence[str]) -> str:
    """Return a sentence on modules that differ only in autotuned backend configs."""
    return (
        f"Autotuning chose differently: {listed(names)} ends in the same instructions, with other "
        "backend configurations."
    )


def timed(names: Sequence[str]) -> str:
    """Return the sentence that compilations part where alternatives are timed."""
    return (
        f"Autotuning chose differently: {listed(names)} is the same until the pass that times "
        "alternatives, and not after it."
    )


def parted(text: str, count: int) -> str:
    """Return where compilations part, and how many modules do."""
    return f"{text} ({units.plural(count, 'module')})."
