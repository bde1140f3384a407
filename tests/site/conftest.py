"""A small report for the tests of the site: every kind of page, and hostile names everywhere."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.reports import Shared
from tests.report_files import payload_files

from xlareport.analysis.steps.text_difference import ComputationDiff, DiffLine, Hunk, TextDiff
from xlareport.pages import navigation
from xlareport.pages.glossary.page import WORDS, lexicon
from xlareport.pages.pictures.levels import picture_look
from xlareport.pages.rendering.environment import environment, front_matter
from xlareport.pages.rendering.templates import html_of
from xlareport.pages.steps.text_diff import StoredLines, diff_payload, further_lines
from xlareport.report import BuildOptions, build
from xlareport.site.builder import build_site
from xlareport.site.writer import write_sources
from xlareport.storage.payloads import SiteFile, make_payload, make_payload_file
from xlareport.storage.string_folding import fold_strings

HOSTILE = (
    "</script><script>hacked=1</script><img src=x onerror=hacked=2>**`[x](javascript:hacked=3)"
)
ROWS = 10_000
LONG = 30_000
"""Lines of the difference of one step."""

FRONT: tuple[SiteFile, ...] = tuple(
    (f"{title}.md", f"# {title.title()}\n\n## Fusion\n\nSeveral instructions as one.\n")
    for title in ("modules", "program", "names", "coverage", "glossary")
)

HOME = """{{ front }}# {{ name }}

<p class="xr-lead">A program named {{ name }}. A fusion computes several instructions as one.</p>

<p><a href="m/sample.html">The module</a></p>
"""
MODULE = """{{ front }}
<nav class="xr-tabs" aria-label="Parts of this page" data-xr-parts="m/sample/page-">
<a href="sample.html" aria-current="page">Overview</a>
<a href="sample.html?steps" data-part="steps">Steps</a>
</nav>

# {{ name }}

<p class="xr-name"><span class="xr-token" tabindex="0" data-meaning="{{ name }}">jit</span></p>

## Instructions

<div class="xr-table" data-xr-table="m/sample/instructions"></div>

## Graph

<figure class="xr-picture" data-xr-picture="m/sample/graph">
<img src="../pictures/graph.svg" alt="{{ name }}"></figure>
"""
STEPS = """# Steps of {{ name }}

<div data-xr-steps="m/sample/steps"></div>

## Names

### {{ name }}
"""
IMAGE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"/>'
PICTURE = {
    "title": "sample",
    "nodes": [[["transpose.1"], "green", "i=transpose.1", 0, "added"]],
    "edges": [[0, 0]],
    "size": [100, 40],
    "boxes": [[0, 0, 100, 30]],
    "curves": [[50, 30, 0, 9, 9, 0, 9, 9]],
}
HOSTILE_PAGE = """{{ front }}# {{ name }}

<figure class="xr-picture" data-xr-picture="m/sample/hostile"></figure>
"""
HOSTILE_MARKUP = f"<svg onload=hacked=4><a href='javascript:hacked=5'>{HOSTILE}"
HOSTILE_PICTURE = PICTURE | {
    "title": HOSTILE_MARKUP,
    "nodes": [[[HOSTILE_MARKUP], "green", HOSTILE_MARKUP, HOSTILE_MARKUP, "added", HOSTILE_MARKUP]],
    "edges": [[0, 0, HOSTILE_MARKUP]],
    "groups": [["f", HOSTILE_MARKUP, "scope", HOSTILE_MARKUP]],
    "frames": [[0, 0, 100, 40]],
    "notes": [HOSTILE_MARKUP],
}


def sample() -> Iterator[SiteFile]:
    """Yield the files of a report with one module and four steps."""
    templates = environment(Path())
    pages = {
        "index.md": HOME,
        "m/sample.md": MODULE,
        "m/hostile.md": HOSTILE_PAGE,
    }
    for path, template in pages.items():
        front = front_matter(title=f"jit_{HOSTILE}", search="/" not in path)
        yield path, templates.from_string(template).render(front=front, name=HOSTILE)
    yield from FRONT
    yield "report.json", "{}\n"
    yield "pictures/graph.svg", IMAGE
    payloads = [make_payload(key, value) for key, value in _payloads().items()]
    further = further_lines(_long_diff(), StoredLines(), "m/sample/step~4")
    yield from payload_files(*payloads, *further)


def _payloads() -> dict[str, Any]:
    columns = [
        {"title": "Name", "kind": "code", "help": "What XLA calls it"},
        {"title": "Size", "kind": "bytes"},
        {"title": "Module", "kind": "link"},
        {"title": "Grade", "kind": "chip"},
    ]
    rows = [
        [f"fusion.{row}", row * 1024, ["jit", "m/sample.html"], ["exact", "xr-exact"]]
        for row in range(ROWS)
    ]
    rows += [[HOSTILE, None, [HOSTILE, "javascript:hacked=8"], [HOSTILE, 'x" onclick="hacked=9']]]
    rows += [["out", 1, ["out", "https://example.com/"], ["x", "xr-exact"]]]
    return {
        WORDS: lexicon(["algsimp", "no-such-pass"]),
        navigation.PICTURE_LOOK: picture_look(),
        "m/sample/instructions": {"columns": columns, "rows": rows, "empty": "None."},
        "m/sample/graph": {"pictures": [PICTURE]},
        "m/sample/hostile": {"pictures": [HOSTILE_PICTURE]},
        "m/sample/page-steps": _steps_part(),
        "m/sample/steps": _steps(),
        "m/sample/step-0003": _story(),
        "m/sample/step-0004": _story()
        | {"pictures": {"before": None, "after": None, "note": "Too large to draw."}}
        | {"diff": diff_payload(_long_diff(), 0, StoredLines(), "m/sample/step~4")},
    }


def _long_diff() -> TextDiff:
    lines = [
        DiffLine("~", f"%add.{number} = f32[8] add(%a, %b)", f"%add.{number} = f32[8] add(%a, %c)")
        for number in range(LONG)
    ]
    return TextDiff((ComputationDiff("main", "main", (Hunk(0, tuple(lines)),), 0),))


def _steps_part() -> dict[str, Any]:
    html = html_of(environment(Path()).from_string(STEPS).render(name=HOSTILE))
    return {"title": f"Steps of {HOSTILE}", "html": html, "wide": True}


def _steps() -> dict[str, Any]:
    steps = [_step(number, changed=number in {3, 4}) for number in range(1, 6)]
    tree = [
        {"pipeline": "simplification", "run": 1, "first": 0, "last": 3},
        {"pipeline": f"inner {HOSTILE}", "run": 2, "first": 2, "last": 2},
        {"pipeline": "late", "run": None, "first": 4, "last": 4},
    ]
    return {"module": HOSTILE, "slug": "sample", "tree": tree, "steps": steps, "hidden_note": None}


def _step(number: int, *, changed: bool) -> dict[str, Any]:
    return {
        "id": f"{number:04}",
        "label": f"algsimp {HOSTILE}",
        "name": f"algsimp {HOSTILE}",
        "pipeline": "simplification",
        "after": "algsimp",
        "before": "dce",
        "changed": changed,
        "instructions": 1200,
        "computations": None,
        "added": 1 if changed else 0,
        "removed": 2 if changed else 0,
        "modified": 3 if changed else 0,
        "headline": f"`%two` became one {HOSTILE}`" if changed else "Nothing changed.",
        "files": [f"{number:04}.{HOSTILE}.txt"],
    } | (_effect(number) if changed else {})


def _effect(number: int) -> dict[str, Any]:
    chips = [["fusions", f"+{number} fusions"], ["bytes", "more bytes"]][: number - 2]
    return {"weight": float(number), "chips": chips}


def _story() -> dict[str, Any]:
    example = {
        "before": ["a", HOSTILE],
        "after": None,
        "scope": HOSTILE,
        "reason": "went with %add.1, which read it",
        "grade": "guessed",
    }
    own = [
        "%a = f32[] constant(0)",
        f"%b = f32[] {HOSTILE}",
        '%c = f32[] add(%a), metadata={op_name="x{}"}',
        "%d = f32[64] tanh(%b)",
        "%d = f32[64] tanh(%c)",
    ]
    return {
        "headline": HOSTILE,
        "account": [HOSTILE, "`%fusion.3` reads `%a_b.1` in `layer_0`."],
        "figures": [["instructions", "5", HOSTILE, "+1"], ["fusions", "0", "0", ""]],
        "time": HOSTILE,
        "certain": HOSTILE,
        "groups": [
            {
                "kind": "removed",
                "label": f"Removed {HOSTILE}",
                "title": HOSTILE,
                "count": 7,
                "grade": "exact",
                "examples": [example],
            }
        ],
        "opcodes": [["add", 1, 2], [HOSTILE, 3, None], ["same", 4, 4]],
        "pictures": {
            "before": {"key": "m/sample/graph", "place": 0, "alt": HOSTILE},
            "after": None,
        },
        "note": None,
        "diff": {
            "hunks": [4],
            "titles": fold_strings([HOSTILE]).listed(),
            "signs": " -+~",
            "before": [-1, -1, -2],
            "after": [-3, -2],
            "moves": [],
            "texts": None,
            "own": fold_strings(own).listed(),
            "total": 9,
            "shown": 3,
            "note": HOSTILE,
        },
    }


@pytest.fixture(scope="session")
def sample_out(shared: Shared) -> Path:
    """Return a folder that holds the sample's sources and its site."""

    def make(out: Path) -> None:
        write_sources(out, sample())
        assert build_site(out) == ""

    return shared("sample", make)


@pytest.fixture(scope="session")
def sample_site(sample_out: Path) -> Path:
    return sample_out / "site"


@pytest.fixture(scope="session")
def few_pages() -> list[SiteFile]:
    """Return the fewest pages of which a site can be built: the guide links to those in front."""
    words = make_payload_file(WORDS, lexicon([]))
    return [("index.md", "# Home\n"), *FRONT, ("m/x.md", "# x\n"), words]


@pytest.fixture(scope="session")
def hostile() -> str:
    """Return the string that stands for every name in the sample."""
    return HOSTILE


@pytest.fixture
def free_port() -> int:
    """Return a port that nobody listened on a moment ago."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def real_out(unpacked: Callable[[str], Path], shared: Shared) -> Path:
    """Return a folder that holds the whole report of a small real dump, made by two processes."""

    def make(out: Path) -> None:
        assert build(unpacked("jax-cpu-train"), BuildOptions(out=out, jobs=2)).warnings == ""

    return shared("real", make)


@pytest.fixture(scope="session")
def real_site(real_out: Path) -> Path:
    return real_out / "site"
