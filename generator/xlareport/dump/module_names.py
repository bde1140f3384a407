"""Parses module names: the parts that the frontend put into them, and their meanings.

XLA allows letters, digits and `_.-` in a name and turns every other byte into `_`, so some signs of
the original are lost: `jit(<lambda>)` becomes `jit__lambda_`, `f[a=1,b=2]` becomes `f_a_1_b_2_`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from msgspec import Struct
from msgspec.structs import replace

from xlareport.dump.grammar import GrammarForm, meaning, module_forms, one_token, pieces, sign
from xlareport.dump.tokens import Token, table

LONGEST = 512
"""Longer names are not parsed."""

_BUILT = re.compile(r"(?P<module>.+)\.(?P<build>cl_\d{1,18})", re.DOTALL | re.ASCII)
"""A module's name with the build of the TPU compiler, as names of files and folders have it."""
_ATTRIBUTE = re.compile(
    r"(?P<sign>[_\[,]{0,9}?)_?(?P<attribute>Xla[A-Z][A-Za-z]{0,60}|config_proto|executor_type)(?P<equals>[_=])"
)
_RANDOM = re.compile(
    r"_?(?:threefry\w*|uniform|normal|truncated_normal|randint|shuffle|bernoulli|gumbel|categorical)"
)


class ModuleNameParts(Struct, frozen=True):
    """A module's name, explained."""

    frontend: str | None
    """jax, tensorflow or pytorch_xla; None if the name does not show it."""
    display: str
    """The name as a person would say it: without the frontend's additions."""
    tokens: tuple[Token, ...]
    """The parts; joined they are the name again."""
    helper: str | None
    """The kind of helper module that the name indicates; None for a user's program."""


@lru_cache(maxsize=1024)
def explain_module(name: str) -> ModuleNameParts:
    """Parse a module's name."""
    if len(name) > LONGEST:
        return _unparsed_name(name)
    if match := _BUILT.fullmatch(name):
        parts = explain_module(match["module"])
        return replace(parts, tokens=(*parts.tokens, *pieces(match, start=match.end("module"))))
    for form in module_forms():
        if match := form.pattern.fullmatch(name):
            return _explained(form, match)
    return _unparsed_name(name)


def _unparsed_name(name: str) -> ModuleNameParts:
    return ModuleNameParts(None, name, tuple(one_token("module_name", name)), None)


def _explained(form: GrammarForm, match: re.Match[str]) -> ModuleNameParts:
    groups = {field: text or "" for field, text in match.groupdict().items()}
    display = form.constants["display"]
    for field, text in groups.items():
        display = display.replace("{" + field + "}", text)
    frontend = form.constants.get("frontend")
    return ModuleNameParts(
        frontend=frontend,
        display=_unsanitised(display) if frontend else display,
        tokens=tuple(pieces(match, _name_tokens)),
        helper=form.constants.get("helper") or (_jax_helper(groups) if frontend else None),
    )


def _jax_helper(groups: Mapping[str, str]) -> str | None:
    """Return the kind of helper that a module named like a function of JAX is."""
    function = groups.get("function", "")
    if "api" in groups and (_RANDOM.fullmatch(function) or _is_operation(function)):
        return "probably one operation of JAX that ran outside jit"
    return None


def _unsanitised(display: str) -> str:
    """Give the names back that sanitising hid."""
    if display in {"_lambda", "_lambda_"}:
        return "<lambda>"
    return display.rstrip(".") or display


def _name_tokens(field: str, text: str) -> Sequence[Token]:
    if field == "attributes":
        return tuple(_attributes(text))
    words = table("module_words").get(field, {})
    sentence = words.get(text) or _function(field, text) or meaning(field, text)
    return (Token(text, sentence, field),)


def _function(field: str, text: str) -> str | None:
    """Return the meaning of a function that JAX itself compiles; None if it has none."""
    if field != "function":
        return None
    if _RANDOM.fullmatch(text):
        return "JAX's own function that makes random numbers or their keys."
    if jax_name := find_jax_name(text):
        return f"{jax_name.words} A function of the program may have the same name."
    return _EAGER if _is_operation(text) else None


_EAGER = "Probably an operation that the program ran outside jit: JAX compiles each on its own."


def _is_operation(function: str) -> bool:
    return function in table("module_words")["operations"]


def _attributes(text: str) -> Iterator[Token]:
    """Yield `[_XlaMustCompile=true,config_proto=...]`, whose signs may all have become `_`."""
    place = 0
    for match in _ATTRIBUTE.finditer(text):
        yield from _value_tokens(text[place : match.start()])
        yield from sign(text[match.start() : match.start("attribute")])
        name = match["attribute"]
        sentence = table("module_words")["attribute"].get(name) or meaning("attribute", name)
        yield Token(name, sentence, "attribute")
        yield from sign(match["equals"])
        place = match.end()
    yield from _last(text[place:])


def _last(text: str) -> Iterator[Token]:
    value = text.rstrip("_]")
    yield from _value_tokens(value)
    yield from sign(text[len(value) :])


def _value_tokens(text: str) -> Iterator[Token]:
    if text:
        value_words = table("module_words")["attribute_value"].get(text)
        yield Token(text, value_words or _fingerprint(text) or meaning("value", text), "value")


def _fingerprint(text: str) -> str | None:
    """Return the note that a long number represents a value too long to be written out."""
    if len(text) >= 15 and text.isdecimal():
        return "A fingerprint of the value, which would be too long to write out."
    return None


class JaxName(Struct, frozen=True):
    """A function that JAX wraps in jax.jit, or a primitive."""

    name: str
    kind: str
    """`function` or `primitive`."""
    where: str
    """Where it is in JAX; `-` where it is no attribute of a module."""

    @property
    def words(self) -> str:
        """Return the meaning of a module with this name, unless it is a user's function."""
        which = "" if self.where == "-" else f" {self.where}"
        kind = "The primitive" if which else "A primitive"
        what = self.where if self.kind == "function" else f"{kind}{which}"
        return f"{what} of JAX, which compiles it as a module of its own when it runs outside jit."


@cache
def jax_names() -> Mapping[str, JaxName]:
    """Return the table by name; a function goes before a primitive of its name."""
    rows = _jax_names().splitlines()[1:]
    names = [JaxName(*row.split("\t")) for row in rows]
    return {name.name: name for name in reversed(names)}


@cache
def jax_release() -> str:
    """Return the release that the table was read from, as in `jax 0.10.2`."""
    return _jax_names().partition(":")[0].removeprefix("# ")


@cache
def _jax_names() -> str:
    return files(__package__).joinpath("tables", "jax_names.tsv").read_text("utf-8")


def find_jax_name(name: str) -> JaxName | None:
    """Return JAX's function with this name; JAX of 2022 numbered recompilations, `_var__1`."""
    names = jax_names()
    base, _, number = name.rpartition("__")
    return names.get(name) or (names.get(base) if number.isdecimal() else None)
