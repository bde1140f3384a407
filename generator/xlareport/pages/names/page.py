"""The names page: the grammar of dump file names on this dump's own files, token by token."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby

from markupsafe import Markup
from msgspec import Struct

from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.dump.filename import DumpName
from xlareport.dump.instruction_names import explain_instruction
from xlareport.dump.module_names import explain_module
from xlareport.dump.modules import HLO_KINDS, Artifact, ModuleFiles
from xlareport.dump.tokens import table
from xlareport.knowledge import kinds, opcodes, stages
from xlareport.pages.rendering.environment import prose
from xlareport.pages.token_views import TokenView, token_views
from xlareport.runtime import english, units
from xlareport.runtime.english import plain
from xlareport.storage.packed_keys import digest_number

_MODULE_NAMES_SHOWN = 40
_INSTRUCTION_NAMES_SHOWN = 12


class FileFormat(Struct, frozen=True):
    """A format in which the same content is written."""

    ending: str
    files: str
    holds: Markup


class NameForm(Struct, frozen=True):
    """Files with the same form of name, represented by one of them."""

    title: str
    files: str
    tokens: tuple[TokenView, ...]
    sentence: str
    formats: tuple[FileFormat, ...]
    new: tuple[TokenView, ...]
    """The parts that no form further up has shown, and the number of an LLVM module."""
    ambiguous: str


class ModuleName(Struct, frozen=True):
    """The parsed name of a module."""

    tokens: tuple[TokenView, ...]
    new: tuple[TokenView, ...]
    """The parts that no name further up has shown."""
    modules: str


class InstructionName(Struct, frozen=True):
    """The parsed name of an instruction or a computation."""

    tokens: tuple[TokenView, ...]
    meanings: tuple[TokenView, ...]
    also: Markup
    """The meaning of the first part as an opcode; empty if it is none."""


class NamesPage(Struct, frozen=True):
    """Everything on the names page."""

    forms: tuple[NameForm, ...]
    module_names: tuple[ModuleName, ...]
    more_module_names: int
    instruction_names: tuple[InstructionName, ...]
    suffixes: tuple[TokenView, ...]
    """The suffixes that passes add to names of instructions and computations."""


def names_page(
    artifacts: Sequence[Artifact],
    modules: Sequence[ModuleFiles],
    instructions: Iterable[str],
    main: ModuleFiles | None = None,
) -> NamesPage:
    """Return a name of each form with its parts, and the names of modules and instructions.

    A file of the main program is the example of a form if it has one, and its name comes first.
    """
    forms: dict[tuple[str, ...], _Form] = defaultdict(dict)
    of_main = {artifact.path for artifact in main.artifacts} if main else set()
    module_places: set[int] = set()
    for place, artifact in enumerate(artifacts):
        if artifact.path in of_main:
            module_places.add(place)
        name = artifact.name
        formats = forms[_form_key(name)]
        formats.setdefault((name.kind, name.format or ""), array("q")).append(place)
    seen: set[TokenView] = set()
    shown: Counter[str] = Counter()
    further = array("q")
    others = (module for module in modules if main is None or module.key != main.key)
    for module in chain([main] if main else [], others):
        if module.name in shown or len(shown) < _MODULE_NAMES_SHOWN:
            shown[module.name] += 1
        else:
            further.append(digest_number(module.name))
    parts: set[TokenView] = set()
    return NamesPage(
        forms=tuple(
            _form_view(artifacts, form, seen, module_places)
            for form in sorted(forms.values(), key=partial(_form_order, artifacts))
        ),
        module_names=tuple(_module_name(name, count, parts) for name, count in shown.items()),
        more_module_names=sum(1 for _ in groupby(sorted(further))),
        instruction_names=tuple(_instruction_names(instructions)),
        suffixes=_suffixes(),
    )


def instruction_names(summaries: Iterable[ModuleSummary]) -> Iterator[str]:
    """Yield names of instructions of the dump: the heaviest of each module."""
    return chain.from_iterable(summary.heaviest for summary in summaries)


def _instruction_names(names: Iterable[str]) -> Iterable[InstructionName]:
    """Yield the parts of one name of each form, in the given order."""
    forms: set[tuple[str, ...]] = set()
    for name in names:
        if len(forms) == _INSTRUCTION_NAMES_SHOWN:
            return
        parts = explain_instruction(name)
        form = tuple(
            token.text if token.field == "later" else token.field for token in parts.tokens
        )
        if form not in forms:
            forms.add(form)
            opcode = opcodes.find(parts.base)
            also = f" As an opcode: {opcode.words}" if opcode else ""
            tokens = token_views(parts.tokens)
            explained = tuple(token for token in tokens if token.meaning)
            yield InstructionName(tokens, explained, prose(also))


def _suffixes() -> tuple[TokenView, ...]:
    words: Mapping[str, str] = table("instructions")["suffix"]
    return tuple(TokenView(name, meaning) for name, meaning in words.items())


def describe(name: DumpName) -> str:
    """Return a sentence on a file, from its name alone."""
    if name.kind.startswith("hlo-") and name.stage == "pass":
        return _describe_pass(name)
    stage = stages.find(name.stage) if name.stage else None
    kind = kinds.find(name.kind)
    title = english.capitalize(kind.title if kind else name.kind)
    kernel = f" of {name.kernel}" if name.kernel else ""
    if stage and (name.kind.startswith("hlo-") or name.stage not in _NOT_OF_THE_FILE):
        return f"{title}{kernel}: {_continued(stage.summary)}"
    if name.kind == "mosaic" and name.stage and name.stage.startswith("post-"):
        return f"{title}: a hand-written TPU kernel after {name.stage.removeprefix('post-')}."
    holds = f": {_continued(kind.summary)}" if kind else "."
    return f"{title}{kernel}{holds}"


_NOT_OF_THE_FILE = frozenset({"after_optimizations", "pass"})
"""Stages at which files of several kinds are written, so that they do not say the content."""


def _continued(summary: str) -> str:
    """Return a sentence to follow a colon; a name at its beginning keeps its capital."""
    sentence = plain(summary)
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def _describe_pass(name: DumpName) -> str:
    number = f"Snapshot {name.sequence}" if name.sequence is not None else "A snapshot"
    pipeline = f" in the pipeline {name.pipeline}" if name.pipeline else ""
    if name.after == "pipeline-start" and name.before == "pipeline-end":
        return f"{number}{pipeline}, a pipeline without passes."
    after = f", after {name.after}" if name.after else ""
    if name.after == "pipeline-start":
        after = ", at the start of the pipeline"
    before = f", before {name.before}" if name.before else ""
    if name.before == "pipeline-end":
        before = ", at the end of the pipeline"
    return f"{number}{pipeline}{after}{before}."


_Form = dict[tuple[str, str], "array[int]"]
"""The indices of the files of one form, by kind and ending."""


def _form_order(artifacts: Sequence[Artifact], form: _Form) -> tuple[bool, int, str]:
    """Return the sort key of a form: HLO first, then by frequency."""
    first = artifacts[min(places[0] for places in form.values())]
    number = sum(map(len, form.values()))
    return not first.name.kind.startswith("hlo-"), -number, first.path


def _form_key(name: DumpName) -> tuple[str, ...]:
    """Return the key of a form: all parts but names and format."""
    parts = ("hlo" if name.kind.startswith("hlo-") else name.kind, name.stage or "")
    flags = tuple("1" if part else "" for part in (name.timestamp, name.kernel, name.before))
    return (*parts, *flags)


def _form_view(
    artifacts: Sequence[Artifact], form: _Form, seen: set[TokenView], own: Collection[int]
) -> NameForm:
    """Return the view of a name, and add the parts that it explains to `seen`."""
    formats = _by_format(form)
    first = [place for place in formats[0] if place in own] or formats[0]
    name = artifacts[first[len(first) // 2]].name
    tokens = token_views(name.tokens, name.kind)
    numbers = {token.text for token in name.tokens if token.field == "shard"}
    explained = {token for token in seen if token.text not in numbers}
    new = tuple(
        dict.fromkeys(token for token in tokens if token.meaning and token not in explained)
    )
    seen.update(new)
    return NameForm(
        title=_title(name),
        files=units.plural(sum(map(len, formats)), "file"),
        tokens=tokens,
        sentence=_sentence(name),
        formats=tuple(_format(artifacts[places[0]].name, len(places)) for places in formats),
        new=new,
        ambiguous=name.ambiguous or "",
    )


def _by_format(form: _Form) -> list["array[int]"]:
    """Return the files of a form by kind and ending, the most informative kind first."""
    order = [*HLO_KINDS, "hlo-html"]
    rank = {kind: place for place, kind in enumerate(order)}
    ordered = sorted(form.items(), key=lambda item: (rank.get(item[0][0], len(rank)), item[0]))
    return [places for _, places in ordered]


def _format(name: DumpName, number: int) -> FileFormat:
    kind = kinds.find(name.kind)
    return FileFormat(
        ending=f".{name.format}" if name.format else "",
        files=units.plural(number, "file"),
        holds=prose(f"{english.capitalize(kind.title)}. {kind.words}" if kind else ""),
    )


def _sentence(name: DumpName) -> str:
    """Return what a snapshot between two passes shows; empty for others, whose parts say it."""
    is_pass = name.kind.startswith("hlo-") and name.stage == "pass"
    return _describe_pass(name) if is_pass else ""


_PLAIN = frozenset({"after_optimizations", "obj-file", "debug_options", "thunk_sequence"})
"""Moments that a kind of file has anyway."""


def _title(name: DumpName) -> str:
    """Return the title of a form: `HLO between two passes`."""
    if name.stage == "pass" and name.kind.startswith("hlo-"):
        inside = name.before is None or name.after is None
        return f"HLO {'inside a pass' if inside else 'between two passes'}"
    stage = stages.find(name.stage) if name.stage else None
    moment = stage.title if stage else (name.stage or "").replace("_", " ")
    if name.kind.startswith("hlo-"):
        return f"HLO {moment}".strip()
    kind = kinds.find(name.kind)
    title = english.capitalize(kind.title if kind else name.kind)
    if title.lower() in moment.lower():
        return english.capitalize(moment)
    return f"{title}: {moment}" if moment and name.stage not in _PLAIN else title


def _module_name(name: str, count: int, seen: set[TokenView]) -> ModuleName:
    """Return the view of a name, and add the parts that it explains to `seen`."""
    tokens = token_views(explain_module(name).tokens)
    new = tuple(dict.fromkeys(token for token in tokens if token.meaning and token not in seen))
    seen.update(new)
    return ModuleName(tokens, new, units.plural(count, "module"))
