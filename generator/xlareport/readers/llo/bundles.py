"""Reads a listing of VLIW bundles: `final_bundles` and `packed-bundles-post-ra`.

A bundle is what the core starts in one cycle. It can span lines, as comments do; comments and
shapes hold braces. A bundle therefore reaches to the next line with the next address.
"""

import re

from msgspec import Struct, field

from xlareport.readers.llo.bundle_operation import LloOperation, parse_operations, without_comments
from xlareport.runtime.errors import Problem

_START = re.compile(r"\n *+(?:0x([0-9a-f]{1,8})|0) ++(?:[A-Z]{2})? *+:([ >]*+)(?=\{)")
_QUOTE = re.compile(r"/\* (entry|exit) bundle: %(\S{1,500}) = ")
_CALL = "inlined_call "
_SOURCE = re.compile(r'/\* loc\("([^"\n]{1,500})":(\d{1,9}):')
_CALLEE = re.compile(r"/\* (?:%(\S{1,500}) = |(<[a-z-]{1,50}>))")
_MOST_BYTES = 64_000_000
"""Bytes of a listing that is read."""


class Bundle(Struct):
    """A VLIW bundle."""

    address: int
    depth: int
    """How many loops it is marked to be in; empty bundles never are."""
    text: str
    """From the brace on, with comments, up to the next bundle."""

    @property
    def operations(self) -> list[LloOperation]:
        """The operations that start in it."""
        return [] if self.text.startswith("{}") else parse_operations(self.text)

    @property
    def sources(self) -> set[tuple[str, int]]:
        """File and line of what starts in it, where a Pallas kernel was compiled with them."""
        if "/* loc(" not in self.text:
            return set()
        return {(file, int(line)) for file, line in _SOURCE.findall(self.text)}

    @property
    def callee(self) -> str:
        """The instruction or program whose code is called here; empty if there is none."""
        call = self.text.find(_CALL)
        comment = self.text.find("/* ", call) if call >= 0 else -1
        match = _CALLEE.match(self.text, comment) if comment >= 0 else None
        return (match[1] or match[2]) if match else ""


class BundleListing(Struct):
    """A listing, in the order of addresses, which are consecutive from 0."""

    bundles: list[Bundle] = field(default_factory=list)
    is_whole: bool = True
    """Whether the last bundle is closed."""

    @property
    def instruction(self) -> str:
        """The instruction that the first or last bundle names; empty where none does."""
        for bundle in (*self.bundles[-1:], *self.bundles[:1]):
            match = _QUOTE.search(bundle.text)
            if match:
                return match[2]
        return ""


def read_bundles(data: bytes, path: str) -> tuple[BundleListing, list[Problem]]:
    """Read a listing of bundles; one that is cut off keeps what is whole."""
    if len(data) > _MOST_BYTES:
        message = f"Not read: more than {_MOST_BYTES // 1_000_000} MB of bundles."
        return BundleListing(is_whole=False), [Problem(path, None, message)]
    listing = BundleListing(_bundles("\n" + data.decode("utf-8", "replace")))
    if not listing.bundles:
        listing.is_whole = False
        return listing, [Problem(path, None, "It holds no bundles.")]
    if not _is_closed(listing.bundles[-1].text):
        listing.is_whole = False
        last = listing.bundles.pop()
        message = f"Cut off in bundle {last.address:#x}; the bundles before it are read."
        return listing, [Problem(path, data.count(b"\n") + 1, message)]
    return listing, []


def _bundles(text: str) -> list[Bundle]:
    bundles: list[Bundle] = []
    begin = 0
    for match in _START.finditer(text):
        if int(match[1] or "0", 16) != len(bundles):
            continue  # an address inside a comment
        if bundles:
            bundles[-1].text = text[begin : match.start()].rstrip()
        bundles.append(Bundle(len(bundles), match[2].count(">"), ""))
        begin = match.end()
    if bundles:
        bundles[-1].text = text[begin:].rstrip()
    return bundles


def _is_closed(text: str) -> bool:
    plain = without_comments(text)
    return plain.count("{") == plain.count("}") > 0
