"""Every regular expression of the package against strings made to be slow for it.

`python fuzz/patterns.py` prints those whose time grows faster than the length of the text.
"""

import ast
import importlib
import pkgutil
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]  # the tree that re itself makes
from re import _parser  # type: ignore[attr-defined]
from typing import Any, cast

import xlareport
from xlareport.dump import grammar

_ROOT = Path(xlareport.__file__).parent
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_AT_A_PLACE = ("match", "fullmatch", "pattern")
_MANY = 30
"""Repetitions from which on a repeat counts as a long one."""
_SECONDS = 3


@dataclass(frozen=True, slots=True)
class Used:
    """A pattern, and whether it is looked for anywhere in a text or only at a place."""

    place: str
    pattern: re.Pattern[Any]
    anywhere: bool
    longest: int
    """Characters of the longest text that it is asked about."""


def used_patterns() -> Iterator[Used]:
    """Yield the patterns of all modules and of the tables of names."""
    for module in _modules():
        patterns = {
            name: value for name, value in vars(module).items() if isinstance(value, re.Pattern)
        }
        path = Path(module.__file__ or "")
        text = path.read_text("utf-8")
        if not patterns and "re." not in text:  # to walk all trees takes seconds
            continue
        nodes = list(ast.walk(ast.parse(text)))
        short = module.__name__.removeprefix("xlareport.")
        longest = 512 if short.startswith("dump.") and short not in _LONG else 1 << 30
        searched = _searched(nodes)
        for name, value in patterns.items():
            yield Used(f"{short}.{name}", value, name in searched, longest)
        yield from _written_in_place(path, nodes)
    for form in _forms():
        yield Used(f"table: {form.pattern.pattern[:60]}", form.pattern, anywhere=False, longest=512)


def _written_in_place(path: Path, nodes: Sequence[ast.AST]) -> Iterator[Used]:
    """Yield the patterns that a module hands to `re` where it uses them."""
    for node in nodes:
        name = _function_of_re(node)
        if isinstance(node, ast.Call) and name not in ("", "compile"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant):
                pattern: re.Pattern[Any] = re.compile(cast("str | bytes", first.value))
                place = f"{path.relative_to(_ROOT)}:{node.lineno}"
                yield Used(place, pattern, name not in _AT_A_PLACE, 1 << 30)


def _function_of_re(node: ast.AST) -> str:
    """Return which function of `re` a call calls; nothing for any other node."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        module = node.func.value
        return node.func.attr if isinstance(module, ast.Name) and module.id == "re" else ""
    return ""


_LONG = ("dump.log", "dump.redact", "dump.contents", "dump.site")
"""Modules of the names' floor that read contents."""


_OF_JAX = ("xlareport.replay.worker", "xlareport.replay.run_reproducer")
"""What runs outside of this process: it needs JAX, and has no patterns."""


def _modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages([str(_ROOT)], "xlareport."):
        if found.name.startswith(_OF_JAX):
            source = _ROOT.joinpath(*found.name.split(".")[1:])
            for path in (source.with_suffix(".py"), source / "__init__.py"):
                assert not path.exists() or "re.compile" not in path.read_text("utf-8"), path
        elif not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _searched(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Return the names of patterns that a module uses in any other way than at a place."""
    placed = Counter(
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in _AT_A_PLACE
    )
    used = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    return frozenset(name for name, count in used.items() if count > 1 + placed[name])


def _forms() -> Sequence[grammar.GrammarForm]:
    tables = (
        grammar.suffix_forms,
        grammar.name_forms,
        grammar.file_forms,
        grammar.module_forms,
        grammar.instruction_forms,
        grammar.path_forms,
    )
    return [form for each in tables for form in each()]


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (before, repeated, after): what leads into each long repeat, and what it repeats."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    groups: dict[int, str] = {}
    for before, body in _long_repeats(tree, "", groups):
        for unit in dict.fromkeys((body, before + body, body[:1], before)):
            for after in ("", "\0", "\n", "!"):
                if unit:
                    yield before, unit, after


def _long_repeats(tree: Any, before: str, groups: dict[int, str]) -> Iterator[tuple[str, str]]:
    """Yield for each long repeat the shortest text before it and one of its rounds."""
    for operation, argument in tree:
        if operation in _REPEATS:
            _, most, body = argument
            if most >= _MANY:
                for number in range(_alternatives(body)):
                    yield before, _one_text(body, groups, number) or "a"
            yield from _long_repeats(body, before, groups)
        elif operation is sre.SUBPATTERN:
            yield from _long_repeats(argument[3], before, groups)
        elif operation is sre.ATOMIC_GROUP:
            yield from _long_repeats(argument, before, groups)
        elif operation is sre.BRANCH:
            for one in argument[1]:
                yield from _long_repeats(one, before, groups)
        before += _one_text([(operation, argument)], groups, 0)


def _alternatives(body: Any) -> int:
    return max((len(arg[1]) for op, arg in body if op is sre.BRANCH), default=1)


def _one_text(tree: Any, groups: dict[int, str], number: int) -> str:
    """Return a short text that the tree matches; of alternatives the one of the number."""
    return "".join(_text_of(operation, argument, groups, number) for operation, argument in tree)


def _text_of(operation: Any, argument: Any, groups: dict[int, str], number: int) -> str:
    if operation is sre.BRANCH:
        options = argument[1]
        return _one_text(options[min(number, len(options) - 1)], groups, number)
    if operation in _REPEATS:
        times: int = max(argument[0], 1 if number else 0)
        return _one_text(argument[2], groups, number) * times
    if operation is sre.SUBPATTERN:
        groups[argument[0]] = _one_text(argument[3], groups, number)
        return groups[argument[0]]
    if operation is sre.ATOMIC_GROUP:
        return _one_text(argument, groups, number)
    return (
        groups.get(argument, "") if operation is sre.GROUPREF else _character(operation, argument)
    )


def _character(operation: Any, argument: Any) -> str:
    """Return a character that a single step matches; nothing for what matches a place."""
    if operation is sre.LITERAL:
        return chr(argument)
    if operation is sre.IN:
        return _member(argument)
    if operation is sre.NOT_LITERAL:
        return "b" if argument == ord("a") else "a"
    return "a" if operation is sre.ANY else ""


_CANDIDATES = "a0. ,\t-_/:\"'\\(){}[]<>=%#@ZA9f\n*|;$"


def _member(options: Any) -> str:
    """Return a character of a class."""
    source = _parser.SubPattern(_parser.State(), [(sre.IN, options)])
    from re import _compiler  # type: ignore[attr-defined]  # noqa: PLC0415 - private, and gone in some version

    one = _compiler.compile(source, 0)
    return next((each for each in _CANDIDATES if one.match(each)), "a")


class _TooSlowError(Exception):
    pass


def _stop(*_: object) -> None:
    raise _TooSlowError


def seconds(work: Callable[[Any], Any], text: Any) -> float:
    """Return how long the work takes, at most a few seconds."""
    began = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        work(text)
    except _TooSlowError:
        return float(_SECONDS)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - began


def slow(one: Used) -> tuple[str, float] | None:
    """Return an attack under which the time grows faster than the text, with the worst growth."""
    how = one.pattern.findall if one.anywhere else one.pattern.fullmatch
    size = min(40_000, one.longest)
    for before, unit, after in attacks(one.pattern):
        texts = [before + unit * (length // len(unit)) + after for length in (size // 4, size)]
        encoded = [_as(one.pattern, text) for text in texts]
        few, many = (seconds(how, text) for text in encoded)
        grows = many > 0.03 and many > 8 * few
        if grows and seconds(how, encoded[1]) > 8 * few:
            said = f"{before[:30]!r} + {unit[:30]!r} * n + {after!r}: {many:.2f} s"
            return said, many / max(few, 1e-6)
    return None


def _as(pattern: re.Pattern[Any], text: str) -> Any:
    return text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")


def main() -> None:
    """Print the slow ones; end with 1 where there is one."""
    signal.signal(signal.SIGVTALRM, _stop)
    found = 0
    count = 0
    for one in used_patterns():
        count += 1
        told = slow(one)
        if told:
            found += 1
            print(f"{one.place}: {told[0]}, {told[1]:.0f} times for 4 times the text", flush=True)
    print(f"{count} patterns, {found} slow")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
