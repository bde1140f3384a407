"""Why two dumps differ, in order of effect.

Options, device, compiler and program are external causes. Of equal effects they precede changes of
passes, which show how the external causes took effect.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from xlareport.analysis.compare import cause_words
from xlareport.analysis.compare.comparability import find_obstacle, find_time_obstacle
from xlareport.analysis.compare.comparison import DEVICE, DISABLED, Comparison, donates_otherwise
from xlareport.analysis.compare.compilers import diverges_at_autotuning, find_other_compiler
from xlareport.analysis.compare.divergence import Where
from xlareport.analysis.compare.effects import (
    UNKNOWN,
    Effect,
    copied_seconds,
    one_sided_effect,
    opcode_effect,
    rank_effect,
    recomputed_effect,
    rest_effect,
    trips_effect,
    whole_effect,
)
from xlareport.analysis.compare.moved_operations import find_moves
from xlareport.analysis.compare.one_sided_passes import (
    PassDifference,
    one_sided_passes,
    same_dumped,
)
from xlareport.analysis.compare.parting import parting
from xlareport.analysis.compare.program_changes import (
    ChangeKind,
    ProgramChange,
    find_program_changes,
)
from xlareport.knowledge.grades import Grade
from xlareport.runtime.grouping import group_by_key

_SCALE = frozenset(
    {
        ChangeKind.LAYERS,
        ChangeKind.SIZE,
        ChangeKind.RECOMPUTATION,
        ChangeKind.SHARDING,
        ChangeKind.OPERATIONS,
        ChangeKind.LOOPS,
    }
)
"""Changes of a program that change the work of every pass."""
_TOLD_APART = frozenset({ChangeKind.OPERATIONS, ChangeKind.LOOPS, ChangeKind.DONATION})
"""With these changes only, ops of one side are an effect of changed operations."""
_MOVES = 3
_OF_PROGRAM = (Where.INPUT, Where.HEADER)
_WHERE_PARTED = ("parted", "head", "base", "end")
_ORDER = ("device", "compiler", "disabled pass", "option")


class Cause(Struct, frozen=True):
    """One reason why the dumps differ."""

    kind: str
    """`device`, `option`, `disabled pass`, `compiler`, `modules`, `autotuning`, `pass`, or the kind
    of a change of the program: `dtype`, `size`, `layers`, `rematerialization`, `donation`,
    `trip count`, `sharding`, `operations`, `header`, `program`."""
    sentence: str
    """Names are in backticks."""
    grade: Grade
    modules: tuple[str, ...]
    """Keys of the modules that show it, as the head has them, else as the base had them."""
    subject: str = ""
    """The option, the pass, the first argument, op or line."""
    base: str = ""
    """The value in the base, such as an option's value."""
    head: str = ""
    effect: Effect = UNKNOWN
    """Its own share of the changes, as far as it is known."""
    why: str = ""
    """The effect of the option or pass, if the knowledge tables have it."""
    shown_at: tuple[str, ...] = ()
    """Ids of the places side by side that show it, the best first."""
    notes: tuple[str, ...] = ()
    """Further sentences, shown on demand."""
    clause: str = ""
    """A change of the program as part of a sentence, without names and places; else empty."""


def find_causes(
    comparisons: Sequence[Comparison], main: Comparison | None = None
) -> tuple[Cause, ...]:
    """Return the causes, the largest effect first, those without figures last."""
    roots = [
        *_options(comparisons),
        *_compiler(comparisons),
        *_program_causes(comparisons, main),
    ]
    if main is not None and _is_comparable(main):
        roots = _with_rest(roots, whole_effect(main))
    causes = (*roots, *_ways(comparisons, main, roots), *_modules(comparisons))
    return tuple(sorted(causes, key=lambda cause: rank_effect(cause.effect, main)))


def _with_rest(roots: Sequence[Cause], whole: Effect) -> list[Cause]:
    """Return the causes, the only one without figures with what the others leave of the change.

    An only cause has the whole change.
    """
    if len(roots) == 1:
        return [replace(roots[0], effect=whole)]
    effects = [root.effect for root in roots if root.effect != UNKNOWN]
    if len(effects) != len(roots) - 1:
        return list(roots)
    rest = rest_effect(whole, effects)
    return [replace(root, effect=rest) if root.effect == UNKNOWN else root for root in roots]


def _is_comparable(main: Comparison) -> bool:
    both = main.base is not None and main.head is not None
    return both and not find_obstacle(main) and not find_time_obstacle(main)


def shown_passes(causes: Iterable[Cause]) -> tuple[tuple[str, int], ...]:
    """Return (side, snapshot index after the step) of the pass steps that causes show."""
    places = [cause.shown_at[0].split("-") for cause in causes if cause.kind == "pass"]
    return tuple((place[1], int(place[2])) for place in places if place[0] == "pass")


def _module_keys(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    return tuple(comparison.present.sketch.key for comparison in comparisons)


def _options(comparisons: Sequence[Comparison]) -> Iterator[Cause]:
    changed = group_by_key(
        (option, comparison) for comparison in comparisons for option in comparison.options
    )
    kinds = {DEVICE: "device", DISABLED: "disabled pass"}
    causes = [
        Cause(
            kinds.get(option.name, "option"),
            cause_words.option(option),
            Grade.EXACT,
            _module_keys(members),
            option.name,
            option.base or "",
            option.head or "",
            why=cause_words.why_option(option),
            shown_at=_WHERE_PARTED,
        )
        for option, members in changed.items()
    ]
    yield from sorted(causes, key=lambda cause: _ORDER.index(cause.kind))


def _compiler(comparisons: Sequence[Comparison]) -> Iterator[Cause]:
    other = find_other_compiler(comparisons)
    if other is not None:
        yield Cause(
            "compiler",
            cause_words.compiler(other),
            other.grade,
            other.modules,
            other.pipeline,
            ", ".join(other.base),
            ", ".join(other.head),
            shown_at=_WHERE_PARTED,
            notes=cause_words.defaults(_backend(comparisons)),
        )


def _backend(comparisons: Sequence[Comparison]) -> str:
    backends = (comparison.present.summary.origin.backend for comparison in comparisons)
    return next(filter(None, backends), "")


def _program_causes(comparisons: Sequence[Comparison], main: Comparison | None) -> Iterator[Cause]:
    """Yield changes of the main program; without a main program, of every changed one."""
    changed = [
        comparison
        for comparison in comparisons
        if comparison.base
        and comparison.head
        and _has_other_program(comparison, is_only=main in (None, comparison))
    ]
    members = [main] if main is not None and main in changed else changed
    causes = group_by_key((change, member) for member in members for change in find_changes(member))
    kinds = {change.kind for change in causes}
    for change, showing in causes.items():
        yield _program_cause(change, showing, kinds)


def _has_other_program(comparison: Comparison, *, is_only: bool) -> bool:
    """Return whether the program differs, or may differ: with one snapshot, only the main one.

    Other modules are the compiler's own, such as fusions that it compiles for autotuning.
    """
    where = comparison.divergence.where
    if where in _OF_PROGRAM or (is_only and where is Where.UNKNOWN):
        return True
    return is_only and donates_otherwise(comparison)


def find_changes(comparison: Comparison) -> tuple[ProgramChange, ...]:
    """Return the changes in the program of a module; empty if the programs are the same."""
    base, head = comparison.base, comparison.head
    if base is None or head is None or comparison.same:
        return ()
    changes = find_program_changes(base.facts.program, head.facts.program)
    where = comparison.divergence.where
    if changes or where not in _OF_PROGRAM or is_reordered(comparison):
        return changes
    if where is Where.HEADER:
        return (ProgramChange(ChangeKind.HEADER, "", "", names=comparison.divergence.header),)
    moves = find_moves(base.facts.program.operations, head.facts.program.operations)
    count = sum(move.count for move in moves)
    return (ProgramChange(ChangeKind.OTHER, "", "", count, moves=moves[:_MOVES]),)


def is_reordered(comparison: Comparison) -> bool:
    """Return whether the same instructions end in the same figures: at most their order differs."""
    base, head = comparison.base, comparison.head
    if base is None or head is None or base.sketch.contents != head.sketch.contents:
        return False
    return _same_figures(comparison)


def _same_figures(comparison: Comparison) -> bool:
    """Return whether both final modules have equal opcode counts and figures."""
    ours, theirs = (side.summary for side in comparison.sides)
    # What lives at the same time follows from the order alone, without any other allocation.
    final = replace(theirs.final, live_peak_bytes=ours.final.live_peak_bytes)
    return ours.final == final and dict(ours.opcodes) == dict(theirs.opcodes)


def _program_cause(
    change: ProgramChange, showing: Sequence[Comparison], kinds: set[ChangeKind]
) -> Cause:
    first = showing[0]
    subject = next(iter((*change.names, *change.lines, *change.base_lines)), "")
    return Cause(
        str(change.kind),
        cause_words.program(change, first),
        _grade_of(change, first),
        _module_keys(showing),
        subject,
        change.base,
        change.head,
        _effect_of(change, first, kinds),
        cause_words.why_program(change, first),
        ("given", "end"),
        clause=cause_words.program_clause(change),
    )


def _grade_of(change: ProgramChange, comparison: Comparison) -> Grade:
    """Return the grade of a cause; matmuls that run in another type are found by their lines."""
    where = comparison.divergence.where
    if change.kind is ChangeKind.DONATION and where is not Where.UNKNOWN:
        return Grade.EXACT  # the header has it, whatever the instructions are
    if where not in _OF_PROGRAM:
        return Grade.MATCHED
    return Grade.MATCHED if cause_words.find_upcast(change, comparison) else Grade.EXACT


def _effect_of(change: ProgramChange, comparison: Comparison, kinds: set[ChangeKind]) -> Effect:
    """Return the effect of one change, where ops, loops or arguments show it."""
    match change.kind:
        case ChangeKind.RECOMPUTATION:
            return recomputed_effect(comparison)
        case ChangeKind.LOOPS:
            return trips_effect(comparison, change)
        case ChangeKind.OPERATIONS if kinds <= _TOLD_APART:
            return one_sided_effect(comparison)
        case ChangeKind.DONATION:
            return _donated(change, comparison)
        case _:
            return UNKNOWN


def _donated(change: ProgramChange, comparison: Comparison) -> Effect:
    fewer = int(change.head) < int(change.base)
    seconds = copied_seconds(comparison)
    return Effect(seconds, memory_bytes=change.bytes if fewer else -change.bytes)


def _modules(comparisons: Sequence[Comparison]) -> Iterator[Cause]:
    for side, there in (("base", "head"), ("head", "base")):
        alone = [
            comparison
            for comparison in comparisons
            if getattr(comparison, there) is None and not comparison.pair.extracted
        ]
        if alone:
            names = tuple(comparison.present.sketch.name for comparison in alone)
            sentence = cause_words.modules(side, names)
            yield Cause("modules", sentence, Grade.EXACT, _module_keys(alone), subject=side)


def _ways(
    comparisons: Sequence[Comparison], main: Comparison | None, roots: Sequence[Cause]
) -> Iterator[Cause]:
    """Yield causes for differing modules of one program: options, and passes of one side."""
    parted = [
        comparison
        for comparison in comparisons
        if comparison.divergence.where in (Where.PASS, Where.UNKNOWN)
        and not comparison.same
        and _is_parted(comparison, is_main=comparison is main)
    ]
    yield from _tuning(parted)
    if main is not None and not main.same and not is_reordered(main):
        yield from _one_sided(main, roots)
    by_pass = group_by_key(
        (parting(comparison) if same_dumped(comparison) else cause_words.NOT_BETWEEN, comparison)
        for comparison in parted
    )
    for text, members in sorted(by_pass.items(), key=lambda item: -_instruction_total(item[1])):
        sentence = cause_words.parted(text, len(members))
        yield Cause("pass", sentence, Grade.EXACT, _module_keys(members), shown_at=_WHERE_PARTED)


def _is_parted(comparison: Comparison, *, is_main: bool) -> bool:
    """Return whether a module's final version differs in a relevant way.

    Modules with a single snapshot, such as fusions compiled for autotuning, show no cause in
    addition to the main program's.
    """
    if comparison.differs_by_autotuning or comparison.options:
        return True
    if comparison.pair.extracted:  # it follows from what became of the module it was cut out of
        return False
    quiet = comparison.divergence.where is Where.UNKNOWN and _same_figures(comparison)
    return not is_reordered(comparison) and (is_main or not quiet)


def _one_sided(main: Comparison, roots: Sequence[Cause]) -> Iterator[Cause]:
    kinds = {root.kind for root in roots}
    named = {name for root in roots for side in (root.base, root.head) for name in side.split(",")}
    for difference in one_sided_passes(main):
        if difference.name in named or not _is_reported(difference, kinds):
            continue
        yield Cause(
            "pass",
            cause_words.one_sided(difference),
            Grade.EXACT,
            _module_keys([main]),
            difference.name,
            "" if difference.in_head else str(difference.count),
            str(difference.count) if difference.in_head else "",
            opcode_effect(main, difference.opcode),
            cause_words.why_pass(difference.name),
            (f"pass-{difference.side}-{difference.number}", "end"),
        )


def _is_reported(difference: PassDifference, kinds: set[str]) -> bool:
    """Return whether the work of a pass shows more than that its input program differed."""
    if ChangeKind.DONATION in kinds and difference.opcode == "copy":
        return False
    if ChangeKind.TYPE in kinds:
        return difference.opcode == "convert"
    return not kinds & _SCALE


def _tuning(parted: Sequence[Comparison]) -> Iterator[Cause]:
    """Yield autotuning as a cause: other settings, or a difference after a timing pass."""
    settings = [comparison for comparison in parted if comparison.differs_by_autotuning]
    if settings:
        sentence = cause_words.tuned(_names(settings))
        yield Cause("autotuning", sentence, Grade.MATCHED, _module_keys(settings))
    timed = [
        parting
        for parting in parted
        if not parting.differs_by_autotuning and diverges_at_autotuning(parting)
    ]
    if timed:
        sentence = cause_words.timed(_names(timed))
        yield Cause("autotuning", sentence, Grade.MATCHED, _module_keys(timed))


def _names(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(comparison.present.sketch.name for comparison in comparisons))


def _instruction_total(members: Sequence[Comparison]) -> int:
    """Return the total instruction count, so that causes in larger modules come first."""
    return sum(member.present.summary.final.instructions or 0 for member in members)
