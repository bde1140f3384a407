"""Pages as records: names taken apart, coverage, modules, payloads of steps."""

import html
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from xlareport.analysis.module import unreadable_module
from xlareport.analysis.modules.ranking import guess_main, rank_modules
from xlareport.analysis.modules.settings import OptionOrigin
from xlareport.analysis.modules.summary import ModuleFigures, ModuleSummary
from xlareport.dump.classify import classify
from xlareport.dump.grouping import group
from xlareport.dump.modules import Artifact
from xlareport.dump.source import Entry
from xlareport.pages.rendering.environment import prose
from xlareport.readers.debug_options import FlagValue
from xlareport.report import BuildOptions, build


def artifacts(*paths: str) -> list[Artifact]:
    names = classify(paths)
    return [
        Artifact(Entry(path, 10, None, Path(path)), name)
        for path, name in zip(paths, names, strict=True)
    ]


def summary(*paths: str, flags: tuple[FlagValue, ...] = ()) -> ModuleSummary:
    (files,) = group(artifacts(*paths)).modules
    nothing = unreadable_module(files, "nobody tried").summary
    choices = tuple(OptionOrigin(flag, "somebody", "exact", "") for flag in flags)
    return replace(nothing, settings=choices)


def test_the_only_module_that_could_be_read_need_not_be_the_program() -> None:
    one, other = summary("module_0001.jit_f.debug_options"), summary("module_0002.x.debug_options")
    read = replace(one, final=ModuleFigures(instructions=3))
    guess = guess_main(rank_modules([read, other]))
    assert guess is not None
    assert guess.alone
    assert guess.confidence <= 0.5
    nothing = guess_main(rank_modules([one, other]))
    assert nothing is not None
    assert not nothing.alone


def test_names_in_backticks_become_code_and_nothing_becomes_markup() -> None:
    assert html.unescape(str(prose("a `b` c"))) == "a <code>b</code> c"
    assert "<script>" not in prose("`<script>` and <script>")
    assert "<code>" not in prose("one ` alone")


def test_drawings_do_not_tell_whether_constants_are_embedded(
    unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    build(unpacked("ipu-dot-only"), BuildOptions(out=tmp_path, html=False, pictures="none"))
    (page,) = tmp_path.rglob("module_0001.md")
    assert "Constants are not known" in html.unescape(page.read_text("utf-8"))
