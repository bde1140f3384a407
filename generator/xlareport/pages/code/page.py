"""The page on a module's code: thunks, kernels, machine code, fusion decisions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct, field

from xlareport.analysis.code.code_files import CodeFile, CodeLink
from xlareport.analysis.code.decisions import LinkedDecisions
from xlareport.analysis.code.instruction_products import CodeUnit, ModuleCode, RunThunk
from xlareport.analysis.code.module_code import MOST_UNITS, CodeFiles, CodeSummary
from xlareport.analysis.source.locations import find_source
from xlareport.hlo.model import Computation, HloModule, Instruction
from xlareport.pages import navigation
from xlareport.pages.kernels.panel import PanelRows
from xlareport.pages.rendering.environment import visible
from xlareport.pages.tables import PartPage
from xlareport.pages.tabs import ModuleTab
from xlareport.readers.fusion_decisions import FusionDecision
from xlareport.records.report import ModuleRecord
from xlareport.runtime import units
from xlareport.storage.payloads import Payload, make_payload


class CodePage(PartPage, frozen=True):
    """The content of the page, except the tables' data."""

    lead: str
    has_history: bool
    steps_address: str
    unlinked: tuple[tuple[str, str], ...]
    more_unlinked: int


_FILES_LISTED = 200


def code_page(module: ModuleRecord, summary: CodeSummary) -> CodePage:
    """Return the page of one module."""
    source = navigation.module_page(module.slug, "code")
    unlinked = [(link.path, link.reason) for link in summary.links if link.computation is None]
    return CodePage(
        tables={},
        lead=code_words(summary),
        has_history=module.changed_steps > 0,
        steps_address=navigation.module_address(module.slug, "steps", seen_from=source),
        unlinked=tuple(unlinked[:_FILES_LISTED]),
        more_unlinked=max(0, len(unlinked) - _FILES_LISTED),
    )


TAB = ModuleTab("code", lambda shown: shown.analysis.code, code_page, wide=True, place=120)


def code_words(summary: CodeSummary) -> str:
    """Return a few sentences on the amount of code, and how much of it is linked."""
    sentences = []
    if summary.files:
        of = "" if summary.linked == summary.files else f"{units.count(summary.linked)} of "
        files = units.plural(summary.files, "file")
        are = "is" if summary.files == 1 else "are"
        sentences.append(f"{of}{files} of code {are} linked to instructions.")
    if summary.thunks:
        sentences.append(f"{units.plural(summary.thunks, 'thunk')} in execution order.")
    if summary.left_out:
        sentences.append(f"{units.count(summary.left_out)} more instructions not shown.")
    return " ".join(sentences)


MOST_SHOWN = 300_000
"""Limit on characters of one text; the file in the dump has the rest."""
_CHUNK = 400_000
"""Characters per chunk: the data loaded by one click on a text."""
_MOST_CHARACTERS = 24_000_000
"""Limit on characters of all texts of a module; further ones are only named."""


class TextChunks(Struct):
    """The texts of a module, in the order in which they were added."""

    slug: str
    chunks: list[list[str]] = field(default_factory=lambda: [[]])
    _known: dict[str, list[int]] = field(default_factory=dict)
    _filled: int = 0
    _total: int = 0

    def put(self, text: str) -> list[int] | None:
        """Keep a text and return [chunk, place]; None where there is no more room."""
        if text not in self._known:
            if self._total + len(text) > _MOST_CHARACTERS:
                return None
            self._known[text] = self._add(visible(text[:MOST_SHOWN]))
        return self._known[text]

    def files(self) -> Iterator[Payload]:
        """Yield the payloads of all chunks."""
        for number, chunk in enumerate(self.chunks if self._known else []):
            key = navigation.module_key(self.slug, f"code-{number}")
            yield make_payload(key, chunk)

    def _add(self, text: str) -> list[int]:
        if self._filled > _CHUNK:
            self.chunks.append([])
            self._filled = 0
        self.chunks[-1].append(text)
        self._filled += len(text)
        self._total += len(text)
        return [len(self.chunks) - 1, len(self.chunks[-1]) - 1]


def cut_note(text: str) -> str:
    """Return how much of a text is not shown; empty where all is."""
    if len(text) <= MOST_SHOWN:
        return ""
    return f"The first {MOST_SHOWN:,} of {len(text):,} characters; the file has the rest."


def joined(lines: Sequence[str], most: int) -> str:
    """Return lines as a text, cut after `most` characters."""
    shown, size = [], 0
    for line in lines:
        size += len(line) + 1
        if size > most:
            shown.append("...")
            break
        shown.append(line)
    return "\n".join(shown) + "\n"


MOST_THUNKS = 20_000
_MOST_INSIDE = 50_000
_MOST_WAITS = 50
_MOST_STEPS = 60
"""Limit on listed decisions of one instruction."""
_HLO = 60_000
"""Characters of an instruction with the computations that it calls."""
_LONGEST_LINE = 4_000

LABELS: Mapping[str, str] = {
    "pre-optimization": "MLIR before optimizations",
    "post-optimization": "MLIR after optimizations",
    "post-lowering": "MLIR, lowered to the LLVM dialect",
    "ir-no-opt": "LLVM IR (no-opt)",
    "ir-no-opt-noconst": "LLVM IR (no-opt), without constants",
    "ir-with-opt": "LLVM IR, after optimization",
    "ir-with-opt-noconst": "LLVM IR, after optimization, without constants",
    "ptx": "PTX",
    "assembly": "Assembly",
    "obj-file": "Object file",
    "object": "Object file",
    "autotune_results": "Autotune results",
    "autotune_logs": "Autotune log",
    "mlir-passes": "MLIR after each emitter pass",
    "triton-passes": "IR after each Triton pass",
}
"""Labels of files, by the stage in their names, in order of creation."""


class _Texts(Struct, frozen=True):
    """Where the texts of a page are stored; texts of module files are in the report already."""

    contents: Mapping[str, bytes]
    """By their paths, the files that were read."""
    kept: AbstractSet[str]
    """Paths of the texts that the page of texts has, too."""
    store: TextChunks
    """All other texts."""


def code_payloads(
    slug: str,
    module: HloModule,
    files: CodeFiles,
    kept: AbstractSet[str],
    kernels: Mapping[tuple[str, str], PanelRows],
) -> Iterator[Payload]:
    """Yield the page's data: the index, and the chunks of texts that it loads on demand.

    `kept` are the paths of texts that the site has anyway, `kernels` the figures of kernels by the
    instruction that launches them.
    """
    code = files.code
    if code is None:
        return
    texts = _Texts(files.contents, kept, TextChunks(slug))
    shown = code.units[:MOST_UNITS]
    numbers = {code_unit.place: number for number, code_unit in enumerate(shown)}
    value = {
        "key": navigation.module_key(slug, "code"),
        "texts": navigation.module_key(slug, "texts"),
        "units": [
            _unit(code_unit, module, texts) | {"kernels": kernels.get(code_unit.place, [])}
            for code_unit in shown
        ],
        "thunks": [_thunk(thunk, numbers) for thunk in code.thunks[:MOST_THUNKS]],
        "inside": _units_of_fused(shown, module),
        "gone": _decisions(_gone(code)),
    }
    key = navigation.module_key(slug, "code")
    yield make_payload(key, value)
    yield from texts.store.files()


def _unit(unit: CodeUnit, module: HloModule, texts: _Texts) -> dict[str, Any]:
    instruction = unit.instruction
    return {
        "name": unit.place[1],
        "computation": unit.place[0],
        "opcode": instruction.opcode if instruction else "",
        "shape": instruction.shape.text[:_LONGEST_LINE] if instruction else "",
        "scope": instruction.metadata.op_name if instruction else "",
        "source": find_source(instruction, module) if instruction else "",
        "grade": unit.grade,
        "reason": unit.reason,
        "files": [
            *_hlo(unit, module, texts.store),
            *_files(unit.files, texts),
            *_missing_rows(unit.missing),
        ],
        "thunks": list(unit.thunks),
        "decisions": _decisions(unit.decisions),
        "tuning": [[name, value[:_LONGEST_LINE]] for name, value in unit.tuning.items()],
    }


def _hlo(unit: CodeUnit, module: HloModule, store: TextChunks) -> Iterator[dict[str, Any]]:
    """Yield the instruction with the computations that it calls, or the computation."""
    computation = module.by_name.get(unit.place[0])
    if unit.instruction is not None:
        text = joined([*_with_called(unit.instruction, module)], _HLO)
    elif computation is not None and not computation.is_entry:
        text = joined([*_computation_lines(computation)], _HLO)
    else:
        return
    yield {
        "label": "HLO",
        "path": "",
        "size": None,
        "text": store.put(text),
        "note": "",
    }


def _with_called(instruction: Instruction, module: HloModule) -> Iterator[str]:
    yield instruction.text[:_LONGEST_LINE]
    for called in module.callees(instruction):
        yield ""
        yield from _computation_lines(called)


def _computation_lines(computation: Computation) -> Iterator[str]:
    yield f"{computation.header[:_LONGEST_LINE]} {{"
    for instruction in computation.instructions:
        yield f"  {instruction.text[:_LONGEST_LINE]}"
    yield "}"


def _files(links: Sequence[CodeLink], texts: _Texts) -> Iterator[dict[str, Any]]:
    order = list(LABELS)
    place_of = {stage: place for place, stage in enumerate(order)}
    for link in sorted(links, key=lambda link: (place_of.get(link.file.stage, -1), link.file.path)):
        file = link.file
        yield {
            "label": _label(file),
            "path": file.path,
            "size": file.size,
            **_text_place(file, texts),
        }


def _missing_rows(reason: str) -> Iterator[dict[str, Any]]:
    if reason:
        yield {"label": "No file of code", "path": "", "size": None, **_not_shown(reason)}


def _label(file: CodeFile) -> str:
    if file.kind == "mosaic":
        moment = file.stage.removeprefix("post-")
        return "Mosaic, as written" if moment == "original" else f"Mosaic, after {moment}"
    return LABELS.get(file.stage, file.stage.replace("_", " ") or file.kind)


_NOT_READ = {
    "object": "Machine code: objdump -d shows it.",
    "llo": "Listed and not read: the file in the dump has it.",
}


def _text_place(file: CodeFile, texts: _Texts) -> dict[str, Any]:
    """Return where the text of a file is, True for that of its path, or why it is not shown."""
    content = texts.contents.get(file.path)
    if file.kind in _NOT_READ:
        return _not_shown(_NOT_READ[file.kind])
    if content == b"":
        return _not_shown("Empty: nothing to compile.")
    if file.path in texts.kept:
        return {"text": True, "note": ""}
    if content is None:
        return _not_shown("Too large to show.")
    text = content.decode("utf-8", "replace")
    place = texts.store.put(text)
    if place is None:
        return _not_shown("Not shown: the module has more code than fits.")
    return {"text": place, "note": cut_note(text)}


def _not_shown(why: str) -> dict[str, Any]:
    return {"text": None, "note": why}


def _thunk(run_thunk: RunThunk, numbers: Mapping[tuple[str, str], int]) -> list[Any]:
    thunk, place = run_thunk.thunk, run_thunk.place
    unit = numbers.get((place.computation, place.instruction)) if place else None
    description = thunk.description[:_LONGEST_LINE]
    return [
        thunk.id,
        thunk.kind,
        description,
        thunk.before,
        thunk.after,
        thunk.part,
        thunk.depth,
        unit,
        list(thunk.waits_for[:_MOST_WAITS]),
    ]


def _units_of_fused(shown: Iterable[CodeUnit], module: HloModule) -> dict[str, int]:
    """Return the instructions inside of fusions by name, with the unit that they are part of."""
    number_of: dict[str, int] = {}
    for number, unit in enumerate(shown):
        if unit.instruction is None or unit.instruction.opcode != "fusion":
            continue
        for called in module.callees(unit.instruction):
            for inner in called.instructions:
                number_of.setdefault(inner.name, number)
        if len(number_of) > _MOST_INSIDE:
            break
    return number_of


def _decisions(linked_decisions: LinkedDecisions | None) -> dict[str, Any] | None:
    if linked_decisions is None:
        return None
    steps = [_step(decision) for decision in linked_decisions.decisions[:_MOST_STEPS]]
    return {
        "grade": linked_decisions.grade,
        "total": len(linked_decisions.decisions),
        "steps": steps,
    }


def _gone(code: ModuleCode) -> LinkedDecisions | None:
    fusion_decisions = code.decisions_gone
    return LinkedDecisions(fusion_decisions, "") if fusion_decisions else None


def _step(fusion_decision: FusionDecision) -> list[Any]:
    return [
        _WHAT.get(fusion_decision.kind, fusion_decision.kind),
        fusion_decision.producer,
        list(fusion_decision.consumers[:20]),
        fusion_decision.fusion,
        fusion_decision.reason[:_LONGEST_LINE],
        fusion_decision.microseconds_fused,
        fusion_decision.microseconds_unfused,
    ]


_WHAT = {
    "fusion": "fused",
    "producer_ineligible": "not fused",
    "update_priority": "evaluated",
    "consumer_ineligible": "not fused",
}
