"""Removes from texts who made them and where: paths, users, hosts, variables, addresses.

The same text is replaced in the same way everywhere, so that the report still shows what belongs
together. Names of modules, functions and ops are part of the program and stay.
"""

import base64
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import partial
from pathlib import PurePosixPath

from msgspec import Struct, field

_ESCAPED = r"(?<=\\[0-7]{3})|(?<=\\[0-9A-Fa-f]{2})|(?<=\\[abfnrtv])"
"""Behind a byte as texts of protobuf, MLIR or C write it."""
_LETTER = r"\\[23][0-7]{2}"
"""A byte of a letter beyond ASCII."""
_PART = rf"(?:[^\s/\\\"'<>|:;,(){{}}\[\]=*?#&]|{_LETTER})"
_AFTER = rf"(?:(?<![\w/.)\]}}*<+-])|(?<=\s-[IL])|{_ESCAPED})(?<!op_name=\")"
"""Where a path can begin: not inside of a name, but behind an escaped byte."""
_QUOTED = (
    r"(?<=\")(?<!op_name=\")"
    r"(?:/(?!job:)[^\"\\/]{1,255}/[^\"\\]{1,4096}(?=\\?\")|(?:[A-Za-z]:[\\/]|\\\\)[^\"]{1,4096}(?=\"))"
)
_PATH = re.compile(
    rf"{_QUOTED}|{_AFTER}(?:\\?/{_PART}{{1,255}}){{2,64}}/?"
    r"|\b[A-Za-z]:\\{1,2}(?:[^\"'<>|*?:\n\\]{1,255}\\{1,2}){0,64}[^\"'<>|*?\s\\,;]{0,255}"
    r"|%2[Ff][\w.%-]{1,4096}"
)
_SOURCE = re.compile(
    r"(?<=source_file=\")[^\"]{1,4096}(?=\")"
    r"|(?<![\w./~-])(?![\w.~-]{0,3}/redacted/)[\w./~-]{1,1024}\.(?:py|ipynb)\b(?!\()"
    r"|(?<=\")[^\"\s\\]{1,1024}\.(?:cc|cpp|cu|cuh|h|hpp|rs|jl|pyx)(?=\\?\")"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>\\]{1,4096}")
_USER = re.compile(r"(?:\\?/home\\?/|\\?/Users\\?/|[\\/]Users[\\/]{1,2})([\w.-]{1,64})")
_FOLDER_OF_A_PROCESS = re.compile(r"(?!module_)([\w.-]{1,255})_\d{1,10}\Z")
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_HOST = re.compile(
    r"(?<![\w.@/-])(?!type\.googleapis\.com)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}"
    r"\.(?:internal|local|lan|corp|intranet|com|net|org|io|ai|dev|cloud|edu|gov)\b(?![\w(.])"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])"
    r"|(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){5,7}[0-9A-Fa-f]{1,4}(?![\w:])"
    r"|(?<![\w:])(?:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3}):[0-9a-f:]{2,40}(?![\w:])"
)
_VALUE = r"(\\?\"[^\"\\]{1,4096}\\?\"|[^\s\",;}]{1,4096})"
_VARIABLE = re.compile(rf"(?<![\w%.])([A-Z][A-Z0-9_]{{2,64}}=){_VALUE}")
_PERSONAL = re.compile(
    r"(?<![A-Za-z0-9])((?:user|user_?name|login|host_?name|pass(?:word|wd)|(?:api|access|secret)_?key"
    rf"|secret|auth_?token|credentials?)\\?\"?\s?[:=]\s?)"
    rf"(?!(?:true|false|[0-9]+)\b){_VALUE}",
    re.IGNORECASE,
)
_LEARNT = re.compile(r"(?i)\A(user|login|host)")
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{64,}={0,2}(?![A-Za-z0-9+/=])")
"""Bytes in base64, such as the MLIR bytecode of a kernel, which names source files."""
_ENCODED_BYTES = re.compile(_ENCODED.pattern.encode())
_ALIGNMENTS = range(4)
"""Characters before base64 that look like it: the end of an escaped quote, for instance."""
_WORD = re.compile(r"[A-Za-z0-9]+")
_COMMON = frozenset(
    ("user", "users", "root", "home", "main", "test", "build", "runner", "ubuntu", "admin", "work")
)
_HOMES = ("home", "users")
_SHORTEST = 3

_PRINTED = re.compile(rb"[\x20-\x7e]{5,}")
_COMPRESSED = (b"\x1f\x8b", b"x\x9c", b"x\xda", b"(\xb5/\xfd")

Redaction = tuple[str, re.Pattern[str], str]
_RULES: tuple[Redaction, ...] = (
    ("variables", _VARIABLE, "variable"),
    ("personal values", _PERSONAL, "value"),
    ("addresses", _URL, "address"),
    ("paths", _PATH, "path"),
    ("source files", _SOURCE, "source"),
    ("addresses", _ADDRESS, "address"),
    ("hosts", _HOST, "host"),
)
_WITH_ENDING = ("paths", "source files")


class Redactor(Struct):
    """Redacts related texts; `learn` has to be called with all of them first."""

    keep: frozenset[str] = frozenset()
    """Words of the program, such as opcodes, that stay even where a user is called so."""
    replaced: dict[str, str] = field(default_factory=dict)
    """Replacements by the removed text."""
    counts: Counter[str] = field(default_factory=Counter)
    """Number of different removed texts, by kind."""
    _people: dict[str, str] = field(default_factory=dict)
    _by_word: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Names of users and hosts by their first word."""
    _met: Counter[str] = field(default_factory=Counter)
    _instead_of: set[str] = field(default_factory=set)
    _known: dict[str, str] = field(default_factory=dict)
    _seen: set[bytes] = field(default_factory=set)

    def learn(self, path: str, content: bytes) -> None:
        """Note the users and hosts that the path and the text of a file name."""
        folders = PurePosixPath(path).parts[:-1]
        for above, folder in zip(("", *folders), folders, strict=False):
            if process := _FOLDER_OF_A_PROCESS.match(folder):
                self._meet(process[1], "host")
            if above.lower() in _HOMES:
                self._meet(folder, "user")
        for line in dict.fromkeys(content.split(b"\n")):
            if line not in self._seen:
                self._seen.add(line)
                self._learn_line(line)

    def _learn_line(self, line: bytes) -> None:
        for run in _ENCODED_BYTES.findall(line):
            for skipped in _ALIGNMENTS:
                self._learn_line(b" ".join(_PRINTED.findall(_decoded(run[skipped:]))))
        small = line.lower()
        if not any(word in small for word in (b"home", b"user", b"host", b"login")):
            return
        text = line.decode("utf-8", "surrogateescape")
        for name in _USER.findall(text):
            self._meet(name, "user")
        for named, value in _PERSONAL.findall(text):
            if match := _LEARNT.match(named):
                what = "host" if match[1].lower() == "host" else "user"
                self._meet(value.strip('\\"'), what)

    def _meet(self, name: str, what: str) -> None:
        word = _WORD.search(name)
        common = name.lower() in _COMMON or name.lower() in self.keep
        if word and len(name) >= _SHORTEST and not common and name not in self._people:
            self._met[what] += 1
            self._people[name] = f"{what}{self._met[what]}"
            self._instead_of.add(self._people[name])
            self._by_word[word[0]].append(name)

    def text(self, content: bytes) -> bytes:
        """Return a text with users, hosts and paths replaced."""
        lines = content.decode("utf-8", "surrogateescape").split("\n")
        return "\n".join(self._lines(lines)).encode("utf-8", "surrogateescape")

    def path(self, path: str) -> str:
        """Return the path of a file of the dump without users and hosts."""
        return "/".join(self._without_people(part) for part in path.split("/"))

    def _lines(self, lines: Iterable[str]) -> list[str]:
        redacted = self._known
        for line in lines:
            if line not in redacted:
                redacted[line] = self._line(line)
        return [redacted[line] for line in lines]

    def _line(self, line: str) -> str:
        line = _ENCODED.sub(self._encoded, line)
        for what, pattern, word in _RULES:
            line = pattern.sub(partial(self._replace, what, word), line)
        return self._without_people(line)

    def _replace(self, what: str, word: str, match: re.Match[str]) -> str:
        if what not in ("variables", "personal values"):
            return self._instead(match[0], what, word)
        mark = match[2][: len(match[2]) - len(match[2].lstrip('\\"'))]
        value = match[2].strip('\\"')
        instead = self._people.get(value) or self._instead(value, what, word)
        return f"{match[1]}{mark}{instead}{mark}"

    def _encoded(self, match: re.Match[str]) -> str:
        """Redact the printable text in base64 bytes, without changing their number."""
        run = match[0]
        for skipped in _ALIGNMENTS:
            content = _decoded(run[skipped:].encode("ascii"))
            if content.startswith(_COMPRESSED):
                return run[:skipped] + self._instead(run[skipped:], "packed values", "packed")
            clean = _PRINTED.sub(self._printed, content)
            if clean != content:
                changed = base64.b64encode(clean).decode()
                run = run[:skipped] + changed[: len(run) - skipped]
        return run

    def _printed(self, match: re.Match[bytes]) -> bytes:
        clean = self._line(match[0].decode("ascii")).encode("ascii")
        return clean[: len(match[0])].ljust(len(match[0]), b"-")

    def _instead(self, text: str, what: str, word: str) -> str:
        if text in self._instead_of:
            return text
        if text not in self.replaced:
            self.counts[what] += 1
            number = self.counts[what]
            ending = PurePosixPath(text).suffix if what in _WITH_ENDING else ""
            suffix = ending if re.fullmatch(r"\.\w{1,4}", ending) else ""
            root = "/redacted/" if what == "paths" else ""
            self.replaced[text] = f"{root}{word}{number}{suffix}"
            self._instead_of.add(self.replaced[text])
        return self.replaced[text]

    def _without_people(self, text: str) -> str:
        words = self._by_word.keys() & _WORD.findall(text)
        names = [name for word in words for name in self._by_word[word]]
        for name in sorted(names, key=lambda name: (-len(name), name)):
            pattern = rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])"
            instead = self._people[name]
            text, count = re.subn(pattern, instead, text)
            if count and name not in self.replaced:
                self.replaced[name] = instead
                self.counts[f"{instead.rstrip('0123456789')}s"] += 1
        return text


def _decoded(run: bytes) -> bytes:
    """Return the bytes behind base64, with or without its padding; none where it is no base64."""
    bare = run.rstrip(b"=")
    try:
        return base64.b64decode(bare + b"=" * (-len(bare) % 4))
    except ValueError:
        return b""
