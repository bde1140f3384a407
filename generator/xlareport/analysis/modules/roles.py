"""The role of each module, with the reason in words.

Contents decide; a name is used last, and only if the contents do not contradict it.
"""

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Struct

from xlareport.analysis.modules.autotuning_pieces import AutotuningPieces, find_autotuning_pieces
from xlareport.analysis.modules.features import is_random_generator
from xlareport.analysis.modules.helper_modules import SEED_BYTES, classify_helper
from xlareport.analysis.modules.module_role import ModuleRole, Role
from xlareport.analysis.modules.processes import places_of
from xlareport.analysis.modules.ranking import CLEAR, TIE, MainGuess
from xlareport.analysis.modules.state import (
    count_arguments,
    count_results,
    count_state_arguments,
    updates_state,
)
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.hlo.opcode_groups import MATRIX_PRODUCTS
from xlareport.runtime.graphs import neighbors, reachable
from xlareport.storage.packed_keys import digest_number, group_alike
from xlareport.storage.shared_values import SharedValues

_LIKE_A_PROGRAM = 0.02
_ALMOST = 0.3
_NEAR = 0.7
_FED = 2
_MUCH = 4096
_LITTLE = 16
_FEW = 4


class _Dump(Struct, frozen=True):
    """The data of a dump that roles depend on."""

    main: ModuleSummary | None
    gpu: bool
    """Some module was compiled for a GPU, where pieces are timed alone to tune them."""
    cut_out: AutotuningPieces
    """Modules that are no whole ones."""
    pieces: dict[str, str]
    """Contents of called computations that are modules too, with the name of the caller."""
    renamed: frozenset[int]
    """Digests of contents and places that modules of several names have."""


def assign_roles(
    summaries: Sequence[ModuleSummary],
    main: MainGuess | None,
    proven: Collection[tuple[str, str]] = (),
) -> tuple[Role, ...]:
    """Return the role of each module, in the given order.

    `proven` are pairs of keys (source, target) that a framework's graph links.
    """
    cut_out = find_autotuning_pieces(summaries)
    apart = _Dump(
        main=main.best.summary if main else None,
        gpu=any(summary.origin.backend == "gpu" for summary in summaries),
        cut_out=cut_out,
        pieces=_pieces(summaries, cut_out),
        renamed=_renamed(summaries),
    )
    share = SharedValues().share
    alone = [share(_own_role(summary, apart)) for summary in summaries]
    programs = _main_programs(summaries, alone, main)
    places = places_of(summaries)
    programs |= {
        key: _CLUSTER
        for key in _same_graph(programs, proven)
        if key in places and alone[places[key]].name == _OWN
    }
    for key, reason in programs.items():
        if key in places:
            alone[places[key]] = share(Role(ModuleRole.MAIN, reason))
    return tuple(alone)


def _main_programs(
    summaries: Sequence[ModuleSummary],
    alone: Sequence[Role],
    main: MainGuess | None,
) -> dict[str, str]:
    """Return the main programs by key: the best guess, its recompilations, similar ones."""
    if main is None:
        return {}
    best = main.best.summary
    again = main.recompilations
    reasons = {how: f"it is the main program, {how}" for how in again.values() if how}
    programs = {key: reasons[how] for key, how in again.items() if how}
    is_only = len(summaries) == 1
    programs[best.files.key] = _ONLY if is_only else "it is the best guess for the main program"
    for summary, role in zip(summaries, alone, strict=True):
        if role.name == ModuleRole.UNKNOWN and summary.files.key not in programs:
            reason = _another_program(summary, main)
            programs |= {summary.files.key: reason} if reason else {}
    return programs


_OWN = "unknown"
_ONLY = "it is the only module of the dump"
_CLUSTER = "it is another part of the main program: the framework's graph links them"


def _same_graph(mains: Collection[str], proven: Collection[tuple[str, str]]) -> set[str]:
    """Return the keys that proven links lead to from a main program, forwards or backwards."""
    near = neighbors(proven)
    return {*reachable(mains, lambda key: near.get(key, ()))} - set(mains)


def _another_program(summary: ModuleSummary, main: MainGuess) -> str:
    best = main.best.summary
    scores = {rival.summary.files.key: rival.score for rival in main.runners_up}
    score = scores.get(summary.files.key, 0.0)
    if main.tie and main.best.score - score < TIE:
        return "nothing separates it from the best guess for the main program"
    least = _LIKE_A_PROGRAM if updates_state(best) else _ALMOST
    if updates_state(summary) and (summary.final.flops or 0) > least * (best.final.flops or 0):
        return "it returns results like its arguments, as a step of a loop does"
    if _TRAINING.search(summary.display_name) and _returns_an_argument(summary):
        return "its name has a word of training, and it returns a result like an argument"
    if main.best.score - score < CLEAR and score > _NEAR * main.best.score:
        return "as much speaks for it as for the best guess for the main program"
    return ""


_TRAINING = re.compile(r"(?:\A|_)(?:(?:pre)?train(?!ing_data)|fit(?:\Z|_)|sgd|optimi[sz]er_step)")


def _returns_an_argument(summary: ModuleSummary) -> bool:
    """Return whether a module computes, and returns a shape that it takes, scalars aside."""
    shared = count_arguments(summary) & count_results(summary)
    return bool(shared) and summary.features.operation_count > _FEW


def _own_role(summary: ModuleSummary, dump: _Dump) -> Role:
    if not summary.features.content:
        return Role(ModuleRole.UNKNOWN, "none of its snapshots could be read")
    for judge in _JUDGES:
        role = judge(summary, dump)
        if role is not None:
            return role
    return Role(
        ModuleRole.UNKNOWN, "a function of its own: nothing in it speaks for one of the known roles"
    )


def _pieces(summaries: Iterable[ModuleSummary], cut_out: AutotuningPieces) -> dict[str, str]:
    wanted = {summary.features.entry for summary in summaries if summary in cut_out}
    owners: dict[str, str] = {}
    for summary in summaries if wanted else ():
        for piece in wanted.intersection(summary.features.pieces):
            owners.setdefault(piece, summary.display_name)
    return owners


def _piece(summary: ModuleSummary, dump: _Dump) -> Role | None:
    """Return the role of modules that were cut out of another one and compiled alone."""
    if summary not in dump.cut_out:
        return None
    owner = dump.pieces.get(summary.features.entry)
    inside = f" and its content is inside {owner}" if owner else ""
    if dump.gpu:
        reason = f"it lacks the beginning, as pieces do that a GPU compiler times alone{inside}"
        return Role(ModuleRole.AUTOTUNING, reason)
    return Role(ModuleRole.PART, f"it lacks the beginning of a compilation{inside}")


def _helper(summary: ModuleSummary, dump: _Dump) -> Role | None:
    """Recognize helpers; an operation outside jit has one name wherever it comes up."""
    role = classify_helper(summary)
    if role is not None and role.name == ModuleRole.EAGER_OP and _code(summary) in dump.renamed:
        return None
    return role


def _code(summary: ModuleSummary) -> int:
    return digest_number((summary.features.content, summary.features.places))


def _renamed(summaries: Iterable[ModuleSummary]) -> frozenset[int]:
    """Return digests of code that occurs under several module names: user functions."""
    codes, names = array("q"), array("q")
    for summary in summaries:
        if summary.features.places:
            codes.append(_code(summary))
            names.append(digest_number(summary.display_name))
    alike = group_alike(codes)
    return frozenset(
        codes[places[0]] for places in alike if len({names[place] for place in places}) > 1
    )


def _initialization(summary: ModuleSummary, dump: _Dump) -> Role | None:
    """Return the role of modules that make large results from small arguments."""
    given = summary.features.given
    from_little = given.result_bytes > 4 * given.argument_bytes
    if _is_main(summary, dump) or given.argument_bytes > SEED_BYTES or not from_little:
        return None
    fed = _fed(summary, dump.main)
    if fed >= _FED:
        return Role(
            ModuleRole.INITIALIZATION, f"from next to nothing it makes {fed} arguments of the main"
        )
    return None


def _initialization_in_part(summary: ModuleSummary, dump: _Dump) -> Role | None:
    """Return the role of modules that make one argument, or a large intermediate result."""
    given = summary.features.given
    from_little = given.result_bytes > 4 * given.argument_bytes
    little = given.argument_bytes <= SEED_BYTES and from_little
    if _is_main(summary, dump) or not little or given.result_bytes < _MUCH:
        return None
    if _fed(summary, dump.main):
        return Role(
            ModuleRole.INITIALIZATION, "from next to nothing it makes an argument of the main"
        )
    results, shapes = len(given.results), {result.shape for result in given.results}
    if is_random_generator(summary.features) and len(shapes) > 1:
        reason = f"from next to nothing it makes {results} results out of random numbers"
        return Role(ModuleRole.INITIALIZATION, reason)
    if given.argument_bytes <= _LITTLE and len(summary.features.places) > 1:
        return Role(ModuleRole.INITIALIZATION, "it makes a table out of next to nothing")
    return None


def _is_main(summary: ModuleSummary, dump: _Dump) -> bool:
    return dump.main is not None and summary.files.key == dump.main.files.key


def _fed(summary: ModuleSummary, main: ModuleSummary | None) -> int:
    """Count the results that have the shape of an argument of the main program, scalars aside."""
    if main is None:
        return 0
    return sum((count_results(summary) & count_arguments(main)).values())


_REARRANGES = frozenset({"concatenate", "reshape", "slice", "transpose", "broadcast", "convert"})
"""Opcodes of modules that only copy a state in another order."""


def _evaluation(summary: ModuleSummary, dump: _Dump) -> Role | None:
    """Recognize the main program's arguments taken, and not given back."""
    main = dump.main
    if main is None or _is_main(summary, dump):
        return None
    shared = count_state_arguments(summary, main)
    if not shared or dict(summary.features.operations).keys() <= _REARRANGES:
        return None
    reason = f"it takes {shared} arguments like those of the main program and returns none updated"
    return Role(ModuleRole.EVALUATION, reason)


def _report(summary: ModuleSummary, dump: _Dump) -> Role | None:
    """Return the role of modules that reduce a state or scalars to few scalars, cheaply."""
    given, main = summary.features.given, dump.main
    if main is None or _is_main(summary, dump) or not given.arguments or len(given.results) < 2:
        return None
    heavy = dict(summary.features.operations).keys() & MATRIX_PRODUCTS
    small = 10 * (summary.final.flops or 0) < (main.final.flops or 0)
    if heavy or not small or not all("[]" in result.shape for result in given.results):
        return None
    return Role(ModuleRole.SUMMARY, "it returns a few scalars and computes next to nothing")


_NAMES = (
    (r"threefry|random|normal(?!i)|uniform|randint|noise|shuffle", ModuleRole.RANDOM_NUMBERS),
    (r"init(?:\Z|_(?!ial_state)|ial)", ModuleRole.INITIALIZATION),
    (
        r"eval|predict|valid(?!_)|infer(?!ence_)|generate|samples?(?:\Z|_(?!rate))",
        ModuleRole.EVALUATION,
    ),
    (r"convert_element_type|device_put|transfer(?!_learn)|astype", ModuleRole.TRANSFER),
    (r"report|summar|metrics?(?:\Z|_)", ModuleRole.SUMMARY),
)
"""Pattern at the beginning of a word in a name, and the role."""
_NAMED_ROLES = tuple((re.compile(rf"(?:\A|_)({words})"), role) for words, role in _NAMES)


def _by_name(summary: ModuleSummary, dump: _Dump) -> Role | None:
    if _is_main(summary, dump) or summary.features.operation_count == 0:
        return None
    for pattern, text in _NAMED_ROLES:
        match = pattern.search(summary.display_name)
        if match:
            return Role(text, f"its name says so ({match[1]}), and its contents do not object")
    return None


_JUDGES: tuple[Callable[[ModuleSummary, _Dump], Role | None], ...] = (
    _piece,
    _initialization,
    _helper,
    _initialization_in_part,
    _report,
    _evaluation,
    _by_name,
)
"""In the order in which they are tried: the first match decides."""
