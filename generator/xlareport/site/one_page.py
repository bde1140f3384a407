"""The pages of a site as parts of one document: the common frame, and the contents."""

import base64
import hashlib
import html
import mimetypes
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from xlareport.runtime.errors import UnreadableInputError


def script_hash(script: str) -> str:
    """Return the source expression that lets one inline script run, and no other."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy_element(directives: Iterable[str]) -> str:
    """Return the Content-Security-Policy as a meta element; it blocks what no directive allows."""
    content = "; ".join(
        ("default-src 'none'", *directives, "base-uri 'none'", "form-action 'none'")
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{content}">'


_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^<>]*>')
# one that is not closed continues to the end, as in a browser: so none is looked at twice
_SCRIPT = re.compile(r"<script(?P<attributes>[^<>]*+)>(?P<body>.*?)(?:</script>|\Z)", re.DOTALL)
_SOURCE = re.compile(r'\ssrc="([^"]*)"')
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]*)"[^<>]*>')
_OTHER_LINK = re.compile(r'<link (?!rel="icon")[^<>]*>')
_IMAGE = re.compile(r'(<(?:img|link rel="icon")\s[^<>]*?\b(?:src|href)=")([^"]*)(")')
_LOADED = re.compile(r"url\(\s*+[\"']?+(?!data:)[^\"'()]*+[\"']?+\s*+\)")
_NO_SCRIPT_TAG = re.compile(r"</?noscript>")
_ELSEWHERE = re.compile(r'\shref="(?!#)[^"]*"')
_BLANK = re.compile(r"\s++")
_CHARSET = '<meta charset="utf-8">'
_TITLE = re.compile(r"<title>([^<]*)</title>")


class Page(Struct, frozen=True):
    """A built page of a site, in parts."""

    site: Path
    path: str
    """Below the site, with `/`."""
    head: str
    """Everything before the main part, including that element's start tag."""
    inner: str
    foot: str

    @property
    def title(self) -> str:
        """Return the title as the page has it, in HTML."""
        match = _TITLE.search(self.head)
        return match[1] if match else ""

    def template(self) -> str:
        """Return the main part, inert, under the page's path; its pictures are in it."""
        path = html.escape(self.path)
        return f'<template data-page="{path}" data-title="{self.title}">{self._main}</template>\n'

    def without_scripts(self, note: str) -> str:
        """Return a note and the main part for a browser that runs no script.

        Links to other pages lead nowhere.
        Raises UnreadableInputError where the page ends such an element.
        """
        content = _ELSEWHERE.sub("", _NO_SCRIPT_TAG.sub("", self._main))
        return f"<noscript>{note}{_inline_element('noscript', content)}</noscript>\n"

    @property
    def _main(self) -> str:
        """Return the main part without scripts, with its pictures."""
        inner = _IMAGE.sub(self._embedded, _SCRIPT.sub("", self.inner))
        before, opened, article = inner.partition("<article")
        return _BLANK.sub(_shorter, before) + opened + article

    def frame(self, early: str, script: str, note: str, mark: str) -> tuple[str, str, str]:
        """Return the document around the main part in three pieces.

        Pages are inserted after the first piece, data after the second. Styles and scripts are in
        it, `early` before all of them, `script` first after the pages, `note` at the end of the
        page, `mark` at its beginning, with a policy that allows no other script.
        """
        around = f"{self.head}</main>{_inline(script)}{self.foot}"
        around = around.replace("</footer>", f"{note}</footer>", 1)
        around = around.replace(' data-md-component="search', ' data-xr-component="search')
        around = around.replace("<html ", "<html data-xr-single ", 1)
        around = _STYLE.sub(self._style, _IMAGE.sub(self._embedded, around))
        around = _OTHER_LINK.sub("", around)
        around = _SCRIPT.sub(self._script, _POLICY.sub("", around))
        around = around.replace(_CHARSET, _CHARSET + _inline(early), 1)
        head, text, rest = around.partition(_CHARSET)
        if not text:
            raise UnreadableInputError(f"{self.site / self.path} names no charset.")
        whole = f"{head}{_CHARSET}{mark}{_policy(around)}{rest}"
        before, main, after = whole.partition("</main>")
        scripts, body, end = after.rpartition("</body>")
        return before + main, scripts, body + end

    def _file(self, address: str) -> Path | None:
        """Return the file of the site that an address in the page's HTML names, if there is one."""
        place = unquote(html.unescape(address))
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), place))
        file = (self.site / path).resolve()
        within = file.is_relative_to(self.site.resolve())
        return file if within and file.is_file() else None

    def _embedded(self, match: re.Match[str]) -> str:
        file = self._file(match[2])
        return f"{match[1]}{_data(file)}{match[3]}" if file else match[0]

    def _style(self, match: re.Match[str]) -> str:
        file = self._file(match[1])
        if file is None:
            return ""
        content = _LOADED.sub("none", file.read_text("utf-8"))
        return f"<style>{_inline_element('style', content)}</style>"

    def _script(self, match: re.Match[str]) -> str:
        source = _SOURCE.search(match["attributes"])
        file = self._file(source[1]) if source else None
        if source is None:
            return match[0]
        return _inline(file.read_text("utf-8")) if file else ""


def read_page(site: Path, path: str) -> Page:
    """Return a page of a site; raises UnreadableInputError where its theme has no main part."""
    before, opened, rest = (site / path).read_text("utf-8").partition("<main")
    attributes, closing, rest = rest.partition(">")
    inner, closed, foot = rest.rpartition("</main>")
    if not closed:
        raise UnreadableInputError(f"{site / path} has no main part: is its theme Material?")
    return Page(site, path, before + opened + attributes + closing, inner, foot)


def _shorter(blanks: re.Match[str]) -> str:
    return "\n" if "\n" in blanks[0] else blanks[0]


def _inline(script: str) -> str:
    return f"<script>{_inline_element('script', script)}</script>"


def _inline_element(tag: str, content: str) -> str:
    """Return the content of an element; raises UnreadableInputError where it would end that."""
    if f"</{tag}" in content.lower() or "<!--" in content:
        raise UnreadableInputError(f"A {tag} of this report cannot be embedded in a page.")
    return content


def _policy(around: str) -> str:
    """Return the policy of the document; styles load nothing, since nothing may be loaded."""
    matches = (
        match for match in _SCRIPT.finditer(around) if "application/json" not in match["attributes"]
    )
    hashes = " ".join(sorted({script_hash(match["body"]) for match in matches}))
    rules = (f"script-src {hashes}", "style-src 'unsafe-inline'", "img-src data:", "font-src data:")
    return policy_element(rules)


def _data(file: Path) -> str:
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
