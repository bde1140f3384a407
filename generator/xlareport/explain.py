"""Explains a word: a file, a module, a pass, an opcode, a flag.

The answer is always one record, because a word may have several meanings: `fusion` is a pass and an
opcode. Words of the knowledge base come first, then the grammar of names, then guesses.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from msgspec import Struct
from msgspec.structs import replace

from xlareport.dump.filename import DumpName, parse
from xlareport.dump.instruction_names import explain_instruction
from xlareport.dump.module_names import ModuleNameParts, explain_module, find_jax_name, jax_release
from xlareport.dump.tokens import Token, table
from xlareport.hlo.shape import Shape, ShapeError, parse_shape
from xlareport.knowledge import (
    custom_calls,
    element_types,
    flags,
    glossary,
    kinds,
    opcodes,
    passes,
    stages,
)
from xlareport.knowledge.layouts import describe_layout_part
from xlareport.knowledge.tpu_defaults import all_releases
from xlareport.pages.token_views import meaning_of_stage
from xlareport.runtime import units
from xlareport.runtime.english import capitalize, plain

_NOT_RECOGNIZED = frozenset({"unknown", "log"})
_UNKNOWN = "unknown"
_NOTHING_KNOWN = "Nothing here knows this name."
_OP_NAME = re.compile(r"(?:jit|pjit|pmap|jvp|vmap|transpose)\([^/]", re.ASCII)
_OP_NAME_WORDS = (
    "An op_name of JAX: the compiled function, then scopes and transformations, and the operation "
    "last."
)
_FOLLOWED = "`xlareport history DUMP OP_NAME` prints what became of it."
_NOT_CERTAIN = "A function or module of your program can be called this too."
_PASS_FIELDS = frozenset({"pipeline", "running_pass", "after", "before"})
_PSEUDO = frozenset({"pipeline-start", "pipeline-end"})
_OPERATION = frozenset({"born", "operation", "async"})
_TELLS_NOTHING = frozenset({"born", "sign", "later"})


class Explanation(Struct, frozen=True):
    """The explanation of one name."""

    name: str
    kind: str
    """A kind of file, or another kind: `flag`, `pass`, `opcode`, `module-name`, ..."""
    summary: str
    """A sentence about the whole; empty if the only token explains it."""
    tokens: tuple[Token, ...]
    notes: tuple[str, ...]
    """Further information, in sentences."""
    file: DumpName | None = None
    module_name: str | None = None
    frontend: str | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known, not even the module of a file."""
        return self.kind == _UNKNOWN and (self.file is None or self.file.module_id is None)


def explain_name(name: str) -> Explanation:
    """Explain any name that is met in a dump or around one."""
    ways = (_from_tables, _flag_of_family, _shape, _known_file, _op_name)
    for explain in (*ways, _module_of_framework, _instruction, _helper, _log):
        explanation = explain(name)
        if explanation is not None:
            return explanation
    return Explanation(name, _UNKNOWN, _NOTHING_KNOWN, (), ())


def _known_file(name: str) -> Explanation | None:
    file = parse(name)
    is_known = file.kind not in _NOT_RECOGNIZED or file.module_id is not None
    return _file(name, file) if is_known else None


def _log(name: str) -> Explanation | None:
    file = parse(name)
    return _file(name, file) if file.kind != _UNKNOWN and "." in name else None


def _op_name(name: str) -> Explanation | None:
    match = _OP_NAME.match(name)
    return Explanation(name, "op-name", _OP_NAME_WORDS, (), (_FOLLOWED,)) if match else None


def _module_of_framework(name: str) -> Explanation | None:
    parts = explain_module(name)
    built = any(token.field == "build" for token in parts.tokens)
    return _module(name, parts) if parts.frontend or built else None


def _helper(name: str) -> Explanation | None:
    parts = explain_module(name)
    return _module(name, parts) if parts.helper else None


def _from_tables(name: str) -> Explanation | None:
    """Return the knowledge base's entries for a word, under each of its meanings."""
    meanings = list(_meanings(name))
    if not meanings:
        return None
    sentence = " ".join(f"{capitalize(kind)}: {words}" for kind, words, _ in meanings)
    notes = [note for _, _, more in meanings for note in more]
    kind = meanings[0][0]
    return Explanation(name, kind, "", (Token(name, plain(sentence), kind),), _all_plain(notes))


def _meanings(name: str) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Yield the kinds of a word with meanings and details; the most informative first."""
    if flag := flags.find(name):
        yield "flag", flag.words, _facts(_FLAG_FACTS, flag)
    if pass_info := passes.find(name) or passes.find_class(name):
        called = [f"Its name in dumps is {pass_info.name}."] if pass_info.xla_class == name else []
        facts = [*called, pass_info.basis, *_facts(_PASS_FACTS, pass_info)]
        yield "pass", pass_info.words, [*facts, *filter(None, [pass_info.example])]
    if opcode := opcodes.find(name):
        yield "opcode", opcode.words, ()
    if call := custom_calls.find(name):
        counted = f"Flops: {call.basis}." if call.basis else ""
        yield "custom-call", call.words, filter(None, (f"Source: {call.source}.", counted))
    if element_type := element_types.find(name):
        yield "type", element_type.words, ()
    if kind := kinds.find(name):
        yield "kind", kind.words, (kind.made_by, kind.opened, kind.look_for)
    if stage := stages.find(name) or stages.find_step(name):
        yield "stage", stage.words, filter(None, [stage.absent])
    if word := glossary.find(name):
        yield "word", word.words, ()
    if jax_name := find_jax_name(name):
        yield "function of JAX", jax_name.words, (f"Source: {jax_release()}.",)


_FLAG_FACTS = {
    "Set in": "set_in",
    "Default:": "default",
    "Since": "since",
    "Gone since": "until",
    "Written": "example",
    "Source:": "source",
}
_PASS_FACTS = {"Class": "xla_class", "Source:": "source", "Backends:": "backends"}


def _facts(fields: Mapping[str, str], entry: object) -> Iterator[str]:
    """Yield the fields of an entry of a table that it has, each as a sentence."""
    for words, field in fields.items():
        if fact := getattr(entry, field):
            yield f"{words} {', '.join(fact) if isinstance(fact, tuple) else fact}."


def _flag_of_family(name: str) -> Explanation | None:
    """Explain a flag that no table has by its prefix; the rest is not known."""
    family = flags.find_family(name)
    if family is None:
        return None
    tokens = (Token(name, plain(f"Named like a flag: {family.words}"), "flag"),)
    notes = [
        "This one is not known here: it is not published, or does not exist.",
        f"Source: {family.source}.",
    ]
    return Explanation(name, "flag", "", tokens, _all_plain([*notes, *_tpu_default(name)]))


def _tpu_default(name: str) -> Iterator[str]:
    """Yield which default the newest release of libtpu that is known gives a flag."""
    newest, flag = all_releases()[-1], name.strip().lstrip("-").partition("=")[0]
    if flag in newest.values:
        yield f"Default in libtpu {newest.release}: {newest.values[flag] or 'empty'}."


def _shape(name: str) -> Explanation | None:
    """Explain a shape with its layout, or a memory space such as `S(1)`."""
    alone = _SPACE.fullmatch(name)
    if alone:
        words = describe_layout_part("space", alone[1])
        return Explanation(name, "memory-space", "", (Token(name, words, "layout"),), ())
    try:
        shape = parse_shape(name)
    except ShapeError:
        return None
    tokens = tuple(map(_array_token, shape.members[:_MOST_ARRAYS]))
    size = shape.byte_size
    notes = (f"{units.byte_size(size)} of data, without padding." if size is not None else "",)
    kind = "A tuple of arrays." if shape.elements else "The shape of an array."
    return Explanation(name, "shape", kind, tokens, tuple(filter(None, notes)))


_SPACE = re.compile(r"S\((\d{1,9})\)", re.ASCII)
_TILE = re.compile(r"T((?:\([\d,*]{1,80}\)){1,9})", re.ASCII)
_ELEMENT_BITS = re.compile(r"E\((\d{1,4})\)", re.ASCII)
_LAYOUT_PARTS = {"tiles": _TILE, "bits": _ELEMENT_BITS, "space": _SPACE}
_MOST_ARRAYS = 20


def _array_token(shape: Shape) -> Token:
    """Return the meaning of an array shape: elements, dimension order, tiles and memory space."""
    entry = element_types.find(shape.element_type)
    sizes = " x ".join("any number" if size is None else f"{size:,}" for size in shape.dimensions)
    parts = [f"{sizes or 'One'} of {shape.element_type}.", entry.words if entry else ""]
    order = shape.layout.partition(":")[0].strip()
    if order:
        parts.append(f"Layout {order}:")
        parts.append(describe_layout_part("order", order.partition(",")[0]))
    for part, pattern in _LAYOUT_PARTS.items():
        if written := pattern.search(shape.layout):
            parts.append(describe_layout_part(part, written[1]))
    return Token(shape.text, plain(" ".join(filter(None, parts))), "shape")


def suggestions(name: str) -> tuple[str, ...]:
    """Return known names that are spelled much like one that is not known, the nearest first."""
    modules = (passes, opcodes, kinds, flags, element_types, stages, glossary)
    spelled = {entry for module in modules for entry in module.all_entries()}
    spelled |= {*passes.all_pipelines()}
    classes = {entry.xla_class for entry in passes.all_entries().values() if entry.xla_class}
    return tuple(get_close_matches(name[:_MOST_CHARACTERS], sorted(spelled | classes), 3, 0.75))


_MOST_CHARACTERS = 100
"""Characters of a name that are compared."""


def _file(name: str, file: DumpName) -> Explanation:
    kind = kinds.find(file.kind)
    notes = [kind.opened, kind.look_for] if kind else []
    if file.ambiguous:
        notes.insert(0, f"Not certain: {file.ambiguous}")
    return Explanation(
        name=name,
        kind=file.kind,
        summary=plain(kind.words) if kind else "",
        tokens=tuple(_with_meaning(token) for token in file.tokens),
        notes=_all_plain(notes),
        file=file,
        module_name=file.module_name,
        frontend=file.frontend,
    )


def _with_meaning(token: Token) -> Token:
    """Return the token with the meaning of its stage, pass or pipeline, or that it is unknown."""
    if token.field == "stage":
        return replace(token, meaning=meaning_of_stage(token))
    if token.field not in _PASS_FIELDS or token.text in _PSEUDO:
        return token
    pass_info = passes.find(token.text)
    if token.field == "pipeline":
        pass_info = passes.find_pipeline(token.text) or pass_info
    if pass_info is None:
        step = stages.find_step(token.text)
        message = plain(step.words) if step else _not_known(token)
        return replace(token, meaning=f"{token.meaning} {message}")
    basis = pass_info.basis if pass_info.known_from == "name" else ""
    return replace(token, meaning=plain(f"{token.meaning} {pass_info.words} {basis}".strip()))


def _not_known(token: Token) -> str:
    if token.field == "pipeline":
        return "This one is not known here."
    guess = passes.derived_class(token.text)
    return f"This one is not known here; going by its name, its class may be {guess}: a guess."


def _module(name: str, parts: ModuleNameParts) -> Explanation:
    """Explain the name of a module; a helper of no framework is known by its form alone."""
    sentence = f"The name of a module: {parts.helper}." if parts.helper else "The name of a module."
    by_form = parts.helper and not parts.frontend
    note = f"By its form, t{sentence[1:]} {_NOT_CERTAIN}" if by_form else sentence
    return Explanation(
        name, "module-name", note, parts.tokens, (), module_name=name, frontend=parts.frontend
    )


def _instruction(name: str) -> Explanation | None:
    """Explain the name of an instruction or computation that shows itself to be one."""
    tokens = explain_instruction(name).tokens
    suffixes = table("instructions")["suffix"]
    if not any(token.field not in _TELLS_NOTHING or token.text in suffixes for token in tokens):
        return None
    summary = "The name of an instruction or a computation."
    named = [token.text for token in tokens if token.field in _OPERATION]
    if named and not any(map(opcodes.find, named)):
        summary = f"By its form, the name of an instruction or a computation. {_NOT_CERTAIN}"
    return Explanation(name, "instruction-name", summary, tuple(map(_with_opcode, tokens)), ())


def _with_opcode(token: Token) -> Token:
    opcode = opcodes.find(token.text) if token.field in _OPERATION else None
    if opcode is None:
        return token
    return replace(token, meaning=plain(f"{token.meaning} As an opcode: {opcode.words}"))


def _all_plain(sentences: Sequence[str]) -> tuple[str, ...]:
    return tuple(plain(sentence) for sentence in sentences)
