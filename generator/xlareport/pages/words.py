"""Sentences that several pages share, for equal wording; others are next to their page."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

from xlareport.analysis.modules.eager import EagerFunction
from xlareport.analysis.modules.module_role import ModuleRole
from xlareport.dump.module_names import explain_module
from xlareport.records.module_outline import ModuleOutline
from xlareport.records.outcome import BuildOutcome
from xlareport.records.report import ModuleRecord, ReportRecord
from xlareport.runtime import units
from xlareport.runtime.graphs import forest, neighbors

BACKENDS = {"cpu": "CPU", "gpu": "GPU", "tpu": "TPU", "ipu": "IPU", "neuron": "AWS Neuron"}
_BEFORE_XLA = (".mlir", ".mlirbc", ".stablehlo")
FRONTENDS = {"jax": "JAX", "tensorflow": "TensorFlow", "pytorch_xla": "PyTorch/XLA", "ipu": "IPU"}

_FAR_ABOVE = 100
"""Times the unfused estimate: above that, recomputation is the reason."""
_MICROSECONDS = 1e6


def fusion_estimate(fused: float, apart: float) -> str:
    """Return XLA's estimates of a fusion in microseconds, and why one can be very large.

    `GpuPerformanceModel` in openxla/xla multiplies the flops of a producer that is fused by its
    utilization: how often consumers read each element.
    """
    times = f"{_microseconds(fused)} fused, {_microseconds(apart)} unfused"
    if fused <= _FAR_ABOVE * apart:
        return times
    return f"{times} (its model computes the producer again for each read of its result)"


def _microseconds(time: float) -> str:
    if time < _MICROSECONDS:
        return units.seconds(time / _MICROSECONDS)
    return f"{time / _MICROSECONDS:,.0f} s"


def lead(report: ReportRecord) -> str:
    """Return the content of the dump in one sentence."""
    if not report.outlines:
        return without_modules(report)
    frontends = " and ".join(frameworks(report.dump.frontends))
    backends = " and ".join(BACKENDS.get(backend, backend) for backend in report.dump.backends)
    program = f"A {frontends} program" if frontends else "A program of an unknown framework"
    target = f"compiled for {backends}" if backends else "compiled for an unknown backend"
    return f"{program} {target}: {extent(report)}."


def without_modules(report: ReportRecord) -> str:
    """Return the content of a dump without modules, and how to get one with modules."""
    files = units.plural(report.dump.files, "file")
    if len(report.files) == 1:
        files = f"{files} ({report.files[0].path!r})"
    earlier = sum(file.path.endswith(_BEFORE_XLA) for file in report.files)
    mlir = f" {units.plural(earlier, 'file')} of StableHLO or MLIR: the program before XLA."
    size = units.byte_size(report.dump.bytes)
    return (
        f"No HLO module was found in {files}, {size}.{mlir if earlier else ''} XLA writes modules "
        "with XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_text."
    )


def describe_outcome(report: ReportRecord, warnings: str) -> BuildOutcome:
    """Return the outcome of a build for its last lines, with the warnings of MkDocs."""
    return BuildOutcome(
        warnings=warnings,
        missing="" if report.outlines else without_modules(report),
        problems=tuple(report.problems),
        bytes=report.dump.bytes,
        main=report.main.name if report.main else None,
        sureness=report.main.sureness if report.main else "",
    )


def extent(report: ReportRecord) -> str:
    """Return how much was dumped."""
    files = units.plural(report.dump.files, "file")
    modules = units.plural(len(report.outlines), "module")
    return f"{modules} in {files}, {units.byte_size(report.dump.bytes)}"


def frameworks(frontends: Iterable[str]) -> tuple[str, ...]:
    """Return the frameworks' proper names; a compiler's name is no framework."""
    return tuple(
        FRONTENDS.get(frontend, frontend) for frontend in frontends if frontend not in BACKENDS
    )


def without_decisions(backend: str | None) -> str:
    """Return why a dump does not say why two instructions were not fused."""
    if backend == "gpu":
        return (
            "the dump has no `priority_fusion_dump` of this module, in which XLA's GPU compiler "
            "writes it. `--xla_dump_hlo_pass_re=priority-fusion` adds it."
        )
    compiler = f"the {BACKENDS[backend]} compiler" if backend in BACKENDS else "this backend"
    return f"{compiler} does not dump it. XLA's GPU compiler does, in `priority_fusion_dump`."


def short_name(name: str) -> str:
    """Return a module's name, of a long one the part that people gave it."""
    if len(name) <= _LONG:
        return name
    shown = explain_module(name).display or name
    return shown if len(shown) <= _LONG else f"{shown[: _LONG - 1]}\N{HORIZONTAL ELLIPSIS}"


def label(module: ModuleOutline) -> str:
    """Return the prefix of a module's file names; for a long one, a short unique label."""
    if len(module.key) <= _LONG:
        return module.key
    number = "" if module.id is None else f" (module {module.id})"
    return f"{short_name(module.name)}{number}"


_LONG = 48
"""Characters; names of TensorFlow are longer, those of other frameworks rarely."""


def many(report: ReportRecord) -> str:
    """Return why there are so many modules in this dump; empty if there is only one."""
    if not report.outlines:
        return ""
    total = units.plural(len(report.outlines), "module")
    counted = Counter(_PART.get(module.role, "helper") for module in report.outlines)
    parts = [units.plural(counted[name], *_PARTS[name]) for name in _PARTS if counted[name]]
    sentence = f"{total}: {', '.join([*_count_programs(report), *parts])}"
    first = next(iter(report.eager_functions), None)
    if first is None:
        return f"{sentence}."
    return f"{sentence}; wrapping `{first.name}` in jit would remove {len(first.modules)}."


def _count_programs(report: ReportRecord) -> list[str]:
    """Count the main programs: one that was compiled again, or in several parts, is one program."""
    mains = bytearray(module.role == ModuleRole.MAIN for module in report.outlines)
    number = sum(mains)
    if not number:
        return []
    places = report.places

    def is_main(key: str) -> bool:
        place = places.get(key)
        return place is not None and bool(mains[place])

    recompiled = (group.modules for group in report.retrace_groups)
    groups = chain(recompiled, (group.modules for group in report.rank_groups))
    again = [
        (group[0], other)
        for group in groups
        if is_main(group[0])
        for other in group[1:]
        if is_main(other)
    ]
    proven = [
        (link.source, link.target)
        for link in report.links
        if link.grade == "exact" and is_main(link.source) and is_main(link.target)
    ]
    times, programs = number - _count_repeats(again), number - _count_repeats(again + proven)
    parts = f" in {times} parts" if programs < times else ""
    repeated = f" (compiled {number:,} times)" if times < number else ""
    return [f"{units.plural(programs, 'program')}{parts}{repeated}"]


def _count_repeats(same: Iterable[tuple[str, str]]) -> int:
    """Return how many fewer things there are where these pairs of keys are the same thing."""
    links = neighbors(same)
    return len(links) - sum(1 for _ in forest(list(links), links.__getitem__))


def wrapping(function: EagerFunction) -> str:
    """Return a sentence on the effect of wrapping a function in jit."""
    return (
        f"`{function.name}` ran outside jit, which compiled "
        f"{units.plural(len(function.modules), 'module')}, one for each operation. Wrapping it in "
        "jit compiles one. Guessed from the stack frames of the operations."
    )


_PARTS = {
    "helper": ("helper", "helpers"),
    "eager": ("eager op (dispatched outside jit)", "eager ops (dispatched outside jit)"),
    "tuning": ("module extracted for autotuning", "modules extracted for autotuning"),
    "piece": (
        "module extracted from another compilation",
        "modules extracted from other compilations",
    ),
    "unknown": ("other function of unknown role", "other functions of unknown role"),
}
_PART: Mapping[str, str] = {
    ModuleRole.MAIN: "program",
    ModuleRole.EAGER_OP: "eager",
    ModuleRole.TRANSFER: "eager",
    ModuleRole.AUTOTUNING: "tuning",
    ModuleRole.PART: "piece",
    ModuleRole.UNKNOWN: "unknown",
}


def journey(module: ModuleRecord) -> str:
    """Return the effect of compilation on a module, in figures."""
    stages = [stage for stage in module.stages if stage.instructions is not None]
    if not stages:
        return _unread(module)
    first = stages[0].instructions or 0
    if len(stages) == 1:
        return f"{units.plural(first, 'HLO instruction')} in the only snapshot, {stages[0].label}."
    begins = _has(module, "before optimizations")
    ends = is_whole(module)
    counted = module.final.instructions if ends else stages[-1].instructions
    counts = f"{units.count(first)} → {units.plural(counted or 0, 'HLO instruction')}"
    before = "before optimizations" if begins else "first snapshot"
    after = "after optimizations" if ends else "last snapshot"
    missing = _missing_end(module, begins=begins, ends=ends)
    text = f"{counts} ({before} → {after}). {_steps(module)} {missing}".rstrip()
    return f"{text} {_FOLDED}" if _all_end(module, (".dot", *_DRAWN)) else text


def _unread(module: ModuleRecord) -> str:
    """Return why a module's contents are unknown."""
    if not module.stages:
        return "The dump has no HLO text or proto of this module."
    snapshots = units.plural(len(module.stages), "snapshot")
    if _all_end(module, _DRAWN):
        return f"Its {snapshots} were dumped only as HTML, which cannot be read."
    return "No snapshot of this module could be read."


def _all_end(module: ModuleRecord, endings: tuple[str, ...]) -> bool:
    """Return whether all files of a module's snapshots end in one of these ways."""
    paths = [path for stage in module.stages for path in stage.files]
    return bool(paths) and all(path.endswith(endings) for path in paths)


_DRAWN = (".html", ".url")
_FOLDED = "Counts are from DOT or HTML graphs, which omit constants and folded instructions."


def is_whole(module: ModuleRecord) -> bool:
    """Return whether a snapshot shows the module after all passes."""
    return _has(module, "after optimizations")


def _has(module: ModuleRecord, label: str) -> bool:
    return any(stage.label == label and stage.instructions is not None for stage in module.stages)


def _steps(module: ModuleRecord) -> str:
    if module.steps == 1:
        did = "changed" if module.changed_steps else "did not change"
        return f"The only step {did} the module."
    changed, steps = units.count(module.changed_steps), units.count(module.steps)
    return f"{changed} of {steps} steps changed the module."


def _missing_end(module: ModuleRecord, *, begins: bool, ends: bool) -> str:
    """Return which end of the compilation no snapshot shows, and what that may mean."""
    if begins and ends:
        return ""
    when = "after" if begins else "before" if ends else "before or after"
    text = f"No readable snapshot {when} all passes."
    if ends or module.backend == "ipu":
        return text
    return f"{text} The compilation may have failed or been stopped."
