"""The sketch of a module, made in one process: the data that pairs and compares it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from xlareport.analysis.compare.comparison import Sketched
from xlareport.analysis.compare.divergence import SnapshotDigest
from xlareport.analysis.compare.module_facts import collect_facts
from xlareport.analysis.compare.module_pairing import Sketch
from xlareport.analysis.cost.costed import CostedModule, cost_module
from xlareport.analysis.module import ModuleAnalysis, unreadable_module
from xlareport.analysis.module_steps import compare_snapshots
from xlareport.analysis.modules.module_origin import origin_of
from xlareport.analysis.modules.signature import Signature
from xlareport.analysis.modules.summarize import summarize_module
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.modules import ModuleFiles
from xlareport.hlo.digests import HloDigests, digest_header
from xlareport.knowledge.devices import device_named
from xlareport.program import ParsedModule, read_module
from xlareport.runtime.faults import guard
from xlareport.snapshots import ParsedSnapshot

_TUNED = frozenset(
    {
        "algorithm",
        "autotune_workspace_size",
        "fusion_backend_config",
        "selected_algorithm",
        "workspace_size",
    }
)
"""Fields of backend configs that autotuning on GPUs writes: algorithms and tiles."""


class SketchedModule(Struct, frozen=True):
    """A module as a process of the comparison gives it back."""

    analysis: ModuleAnalysis
    sketched: Sketched


def sketch_module(files: ModuleFiles) -> SketchedModule:
    """Return the sketch of a module; a fault affects only this module."""
    return guard(lambda: _sketch_module(files), lambda reason: unreadable_sketch(files, reason))


def _sketch_module(files: ModuleFiles) -> SketchedModule:
    module = read_module(files)
    steps = [step.summary for step in compare_snapshots(module)]
    origin = origin_of(module)
    costed = cost_module(module, origin.backend)
    summary = summarize_module(module, origin, steps, costed)
    analysis = ModuleAnalysis(summary, read=module.read)
    return SketchedModule(analysis, sketch_parsed(module, summary, costed))


def sketch_parsed(
    module: ParsedModule, summary: ModuleSummary, costed: CostedModule | None
) -> Sketched:
    """Sketch a module that was read."""
    forms = HloDigests()
    digests = tuple(_digest_snapshots(module.snapshots, forms))
    untuned = HloDigests(without=_TUNED).of_module(module.final.hlo) if module.final else b""
    sketch = _sketch(module, summary, digests, forms)
    return Sketched(
        *(summary, sketch, digests, untuned),
        device=_device(module),
        facts=collect_facts(module, costed),
        stages=tuple(snapshot.stage for snapshot in module.snapshots),
        final=module.snapshots.index(module.final) if module.final else None,
    )


def _device(module: ParsedModule) -> str:
    """Return the device of the table that the dump names, else the platform in its file names."""
    device = device_named(module.device_words) if module.device_words else None
    targets = dict.fromkeys(
        artifact.name.target for artifact in module.files.artifacts if artifact.name.target
    )
    return device.name if device else " ".join(targets)


def unreadable_sketch(files: ModuleFiles, reason: str) -> SketchedModule:
    """Return an empty sketch for a module that could not be read."""
    analysis = unreadable_module(files, reason)
    sketch = Sketch(files.key, files.name, b"", b"", "", ())
    return SketchedModule(analysis, Sketched(analysis.summary, sketch, (), b""))


def _digest_snapshots(
    snapshots: Sequence[ParsedSnapshot], forms: HloDigests
) -> Iterator[SnapshotDigest]:
    former: Counter[str] | None = None
    counts, computations = Counter[str](), None
    for snapshot in snapshots:
        if snapshot.hlo.computations != computations:
            computations = snapshot.hlo.computations
            counts = Counter[str]()
            for computation in computations:
                counts.update(forms.opcodes(computation))
        yield _digest_snapshot(snapshot, forms, _changes(former, counts))
        former = counts


def _changes(former: Counter[str] | None, counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    if former is None:
        return ()
    grown = {name: counts[name] - former[name] for name in {**former, **counts}}
    return tuple(sorted((name, number) for name, number in grown.items() if number))


def _digest_snapshot(
    snapshot: ParsedSnapshot, forms: HloDigests, changes: tuple[tuple[str, int], ...]
) -> SnapshotDigest:
    stage = snapshot.stage
    scheduled = snapshot.hlo.is_scheduled
    form = forms.of_module(snapshot.hlo, ordered=scheduled)
    return SnapshotDigest(
        *(stage.key, stage.label, form, stage.pipeline, stage.after, stage.before),
        changes,
        forms.instructions_of(snapshot.hlo),
        digest_header(snapshot.hlo),
    )


def _sketch(
    module: ParsedModule,
    summary: ModuleSummary,
    digests: tuple[SnapshotDigest, ...],
    forms: HloDigests,
) -> Sketch:
    return Sketch(
        key=module.files.key,
        name=summary.display_name,
        inputs=digests[0].form if digests else b"",
        final=forms.of_module(module.final.hlo, ordered=True) if module.final else b"",
        signature=_signature(summary.signature),
        opcodes=summary.opcodes,
        contents=forms.contents_of(module.snapshots[0].hlo) if module.snapshots else b"",
    )


def _signature(signature: Signature) -> str:
    given = ", ".join(argument.shape for argument in signature.arguments)
    text = ", ".join(result.shape for result in signature.results)
    return f"({given}) -> ({text})"
