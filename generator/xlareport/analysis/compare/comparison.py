"""The differences between two compilations of a module: figures, options, passes, results."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct, field
from msgspec.structs import replace

from xlareport.analysis.compare.divergence import Divergence, SnapshotDigest, Where, find_divergence
from xlareport.analysis.compare.module_facts import Facts
from xlareport.analysis.compare.module_pairing import ModulePair, Sketch
from xlareport.analysis.compare.shared_phases import share_phases
from xlareport.analysis.modules.signature import Argument, Result, Signature
from xlareport.analysis.modules.summary import ModuleFigures, ModuleSummary
from xlareport.analysis.modules.tpu_flags import TpuFlags
from xlareport.dump.modules import SnapshotFiles
from xlareport.knowledge.opcodes import is_collective
from xlareport.snapshots import OPTIMIZED

_OF_WRITING = frozenset({"instructions"})
"""Figures that differ with the form of a file: newer texts write no get-tuple-element."""
_BOOKKEEPING = frozenset({"get-tuple-element"})
_DRAWINGS = frozenset({"hlo-dot", "hlo-html", "hlo-url"})
_OF_DRAWINGS = frozenset({"collectives", "fusions", "kernels"})
"""Figures that a drawing has as a text does: it omits constants and attributes."""
DEVICE = "device"
"""The name under which the device appears among the options."""
DISABLED = "xla_disable_hlo_passes"
"""The option that names passes that do not run."""
_OF_DUMPING = "_dump_"


class Sketched(Struct, frozen=True):
    """A module of a dump, read once: what pairs it, and digests of its snapshots."""

    summary: ModuleSummary
    sketch: Sketch
    snapshots: tuple[SnapshotDigest, ...]
    untuned: bytes
    """Digest of the final module without the fields of backend configs that autotuning writes."""
    bare: bool = False
    """Only its figures are known."""
    device: str = ""
    """The target device, as stated in the dump; empty if it is not stated."""
    facts: Facts = field(default_factory=Facts)
    stages: tuple[SnapshotFiles, ...] = ()
    """The files of each snapshot, in the same order."""
    final: int | None = None
    """Index of the optimized snapshot; None if nothing could be read."""

    @property
    def build(self) -> str:
        """Return the compiler build, `cl_933746096`; empty if file names do not have it."""
        artifacts = self.summary.files.artifacts
        return next((artifact.name.build for artifact in artifacts if artifact.name.build), "")

    @property
    def unordered(self) -> bytes:
        """Return the digest of the final instructions in any order; empty if they are not known."""
        return b"" if self.final is None else self.snapshots[self.final].instructions

    @property
    def is_drawn(self) -> bool:
        """Whether all of its snapshots are drawings, which omit constants and attributes."""
        kinds = {artifact.name.kind for stage in self.stages for artifact in stage.artifacts}
        return bool(kinds) and kinds <= _DRAWINGS

    @property
    def is_optimized(self) -> bool:
        """Whether the final snapshot is named as the end of the compilation."""
        return self.final is not None and self.stages[self.final].name == OPTIMIZED


class Quantity(Struct, frozen=True):
    """A figure of both final modules; None if unknown."""

    name: str
    base: int | None
    head: int | None
    change: float | None
    """Relative change (head - base) / base; None if it is not defined."""


def compare_figure(name: str, base: int | None, head: int | None) -> Quantity:
    """Return a figure of both sides with its relative change."""
    change = 0.0 if base is not None and base == head else None
    if base and head is not None:
        change = (head - base) / base
    return Quantity(name, base, head, change)


class OptionChange(Struct, frozen=True):
    """An option of XLA that differs; None where it is at its default, or the dump does not say."""

    name: str
    base: str | None
    head: str | None


class PortChange(Struct, frozen=True):
    """An argument or result that differs; None on the side without that number."""

    what: str
    """`argument 3`, `result 0`."""
    base: str | None
    head: str | None


class Comparison(Struct, frozen=True):
    """A module of the base and its counterpart in the head; one of them may be missing."""

    pair: ModulePair
    base: Sketched | None
    head: Sketched | None
    divergence: Divergence
    quantities: tuple[Quantity, ...] = ()
    opcodes: tuple[tuple[str, int, int], ...] = ()
    """Opcodes of the optimized modules whose counts differ: base, head."""
    options: tuple[OptionChange, ...] = ()
    ports: tuple[PortChange, ...] = ()
    """Where the signatures of the optimized modules differ."""
    only_base: tuple[str, ...] = ()
    """Passes that only the base's snapshots name."""
    only_head: tuple[str, ...] = ()

    @property
    def present(self) -> Sketched:
        """The module of the head, or of the base if the head has none."""
        sketched = self.head or self.base
        assert sketched is not None, "a pair has at least one side"  # noqa: S101 - for the reader
        return sketched

    @property
    def sides(self) -> tuple[Sketched, Sketched]:
        """The module in the base and in the head, of a pair that has both."""
        assert self.base is not None, "the base has it"  # noqa: S101 - for the reader
        assert self.head is not None, "the head has it"  # noqa: S101 - for the reader
        return self.base, self.head

    @property
    def bare(self) -> bool:
        """True if one side is a report.json without texts, so that only figures can be compared."""
        return any(side is not None and side.bare for side in (self.base, self.head))

    @property
    def same(self) -> bool:
        """True if both final modules are equal except for numbering; of none read, it is not."""
        if self.base is None or self.head is None or self.bare:
            return False
        return _end_alike(self.base, self.head)

    @property
    def identical(self) -> bool:
        """True if all snapshots are equal, and the options too."""
        return self.same and self.divergence.where is Where.NOWHERE and not self.options

    @property
    def differs_by_autotuning(self) -> bool:
        """Both ends are the same but for fields of backend configs that autotuning writes."""
        if self.base is None or self.head is None or self.base.untuned != self.head.untuned:
            return False
        return self.base.unordered != self.head.unordered

    @property
    def collectives(self) -> tuple[tuple[str, int, int], ...]:
        """The kinds of collectives whose counts differ; the parts of one of them count once."""
        if self.base is None or self.head is None:
            return ()
        ours, theirs = (
            Counter(collective.kind for collective in side.facts.collectives) for side in self.sides
        )
        if not ours and not theirs:
            return tuple(opcode for opcode in self.opcodes if is_collective(opcode[0]))
        return _differing(ours, theirs)


def compare_modules(pair: ModulePair, base: Sketched | None, head: Sketched | None) -> Comparison:
    """Return the comparison of two modules from what was read already."""
    if base is None or head is None:
        return Comparison(
            *(pair, base, head, Divergence(Where.NOWHERE, None, None)),
            quantities=tuple(_quantities(base, head)),
        )
    ours, theirs = share_phases(base.facts, head.facts)
    base, head = replace(base, facts=ours), replace(head, facts=theirs)
    bare = base.bare or head.bare
    is_same = not bare and _end_alike(base, head)
    has_counts = not bare and not is_same and base.is_drawn == head.is_drawn
    passes, others = ({}, {}) if bare else (_passes(base.snapshots), _passes(head.snapshots))
    return Comparison(
        pair=pair,
        base=base,
        head=head,
        divergence=Divergence(Where.NOWHERE, None, None)
        if bare
        else find_divergence(base.snapshots, head.snapshots),
        quantities=tuple(
            quantity
            for quantity in _quantities(base, head)
            if not (is_same and quantity.name in _OF_WRITING and quantity.base != quantity.head)
        ),
        opcodes=_opcodes(base.summary, head.summary) if has_counts else (),
        options=(*_device(base, head), *_options(base.summary, head.summary)),
        ports=() if bare else tuple(_ports(base.summary.signature, head.summary.signature)),
        only_base=tuple(text for text in passes if text not in others),
        only_head=tuple(text for text in others if text not in passes),
    )


def _end_alike(base: Sketched, head: Sketched) -> bool:
    return bool(base.sketch.final) and base.sketch.final == head.sketch.final


def _quantities(base: Sketched | None, head: Sketched | None) -> list[Quantity]:
    ours, theirs = (known_figures(side) if side else {} for side in (base, head))
    if base is not None and head is not None and base.is_drawn != head.is_drawn:
        ours, theirs = (
            {name: value for name, value in figures.items() if not drawn or name in _OF_DRAWINGS}
            for figures, drawn in ((ours, base.is_drawn), (theirs, head.is_drawn))
        )
    return [compare_figure(name, ours.get(name), theirs.get(name)) for name in {**ours, **theirs}]


def known_figures(side: Sketched) -> Mapping[str, int]:
    """Return the figures of a module's end that are known."""
    final = side.summary.final
    named = {name: getattr(final, name) for name in ModuleFigures.__struct_fields__}
    figures = {name: value for name, value in named.items() if value is not None}
    return figures | dict(side.facts.figures)


def _opcodes(base: ModuleSummary, head: ModuleSummary) -> tuple[tuple[str, int, int], ...]:
    changed = _differing(dict(base.opcodes), dict(head.opcodes))
    return tuple(count for count in changed if count[0] not in _BOOKKEEPING)


def _differing(
    base: Mapping[str, int], head: Mapping[str, int]
) -> tuple[tuple[str, int, int], ...]:
    """Return the counts that differ, those that differ most first."""
    counts = [(name, base.get(name, 0), head.get(name, 0)) for name in {**base, **head}]
    changed = [count for count in counts if count[1] != count[2]]
    return tuple(sorted(changed, key=lambda item: (-abs(item[2] - item[1]), item[0])))


def _options(base: ModuleSummary, head: ModuleSummary) -> tuple[OptionChange, ...]:
    """Return the options that differ, without those for dumping."""
    ours: Mapping[str, str] = {}
    theirs: Mapping[str, str] = {}
    if base.settings and head.settings:  # else one of the dumps does not say
        ours, theirs = _stated(base), _stated(head)
    flags = base.tpu_flags, head.tpu_flags
    if flags[0] and flags[1] and _same_defaults(flags[0], flags[1]):
        ours = {**ours, **_set_flags(flags[0])}
        theirs = {**theirs, **_set_flags(flags[1])}
    return tuple(
        OptionChange(name, ours.get(name), theirs.get(name))
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name)
    )


def _same_defaults(base: TpuFlags, head: TpuFlags) -> bool:
    """Return whether defaults are comparable: of the same release, or both exact."""
    return base.release == head.release or (base.is_exact and head.is_exact)


def _set_flags(flags: TpuFlags) -> Mapping[str, str]:
    """Return the TPU compiler flags that differ from the defaults of their release."""
    return {flag.name: flag.value for flag in flags.differing if not is_of_dumping(flag.name)}


def is_of_dumping(name: str) -> bool:
    """Return whether an option only controls dumping."""
    return _OF_DUMPING in name


def _device(base: Sketched, head: Sketched) -> Iterator[OptionChange]:
    if base.device and head.device and base.device != head.device:
        yield OptionChange(DEVICE, base.device, head.device)


def _ports(base: Signature, head: Signature) -> Iterator[PortChange]:
    """Yield the arguments and results that differ in shape, layout, sharding or donation."""
    for word, ours, theirs in (
        ("argument", _port_words(base.arguments), _port_words(head.arguments)),
        ("result", _port_words(base.results), _port_words(head.results)),
    ):
        for number, (item, other) in enumerate(zip_longest(ours, theirs)):
            if item != other:
                yield PortChange(f"{word} {number}", item, other)


def _port_words(ports: Sequence[Argument | Result]) -> list[str]:
    return [_port(port) for port in ports]


def _port(argument: Argument | Result) -> str:
    layout = f"{{{argument.layout}}}" if argument.layout else ""
    sharding = f", sharding {argument.sharding}" if argument.sharding else ""
    donated = ", donated" if isinstance(argument, Argument) and argument.donated else ""
    return f"{argument.shape}{layout}{sharding}{donated}"


def _stated(summary: ModuleSummary) -> Mapping[str, str]:
    values: dict[str, str] = {}
    for setting in summary.settings:
        name = setting.setting.name
        if not is_of_dumping(name):
            former = f"{values[name]}, " if name in values else ""
            values[name] = f"{former}{setting.setting.value}"
    return values


def _passes(snapshots: Sequence[SnapshotDigest]) -> dict[str, None]:
    return dict.fromkeys(snapshot.after for snapshot in snapshots if snapshot.after)


def donates_otherwise(comparison: Comparison) -> bool:
    """Return whether other arguments are donated: the header has them, no instruction does."""
    sides = (comparison.base, comparison.head)
    ours, theirs = (
        [argument.donated for argument in side.facts.program.arguments] if side else []
        for side in sides
    )
    return ours != theirs
