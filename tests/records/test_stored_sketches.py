"""Comparisons of reports: the same as of their dumps, whether their sketches are used or not."""

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.analysis.compare.conftest import compared
from tests.fixtures.dumps import Unpack
from tests.walks import LONG_WALKS

from xlareport.dump.source import open_files
from xlareport.pages.compare.module_diff import DiffSide
from xlareport.records.compare import ComparisonRecord
from xlareport.records.report import DumpRecord
from xlareport.records.stored_sketches import digest_of, read_sketched_report
from xlareport.report import BuildOptions, build
from xlareport.site.pack import pack
from xlareport.storage.payloads import make_payload_file, read_payload

SMALL = ("small/base", "small/head")
"""A module of a few instructions, of which one has another opcode in the other dump."""
FURTHER_PAIRS = (
    ("pairs-unseen/cpu-conv-base", "pairs-unseen/cpu-conv-remat"),
    ("pairs/base", "pairs/base"),
    ("pairs/base", "pairs/nofusion"),
    ("pairs/base", "pairs/dtype"),
    ("pairs/base", "pairs/renamed"),
    ("pairs/base", "pairs/other-first"),
    ("pairs-unseen/gpu-attention-base", "pairs-unseen/gpu-attention-dots"),
    ("pairs-unseen/tpu-scan-base", "pairs-unseen/tpu-scan-flag"),
)
"""Pairs of other backends and of other changes, some seconds each: `make walks` compares them."""
PAIRS = (SMALL, *(FURTHER_PAIRS if LONG_WALKS else ()))
NO_DUMP = DumpRecord("", 0, 0, (), ())
Built = Callable[[str], Path]
Raw = Callable[[str, str], ComparisonRecord]


@pytest.fixture(scope="module")
def small(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    for name, opcode in zip(SMALL, ("add", "multiply"), strict=True):
        (folder / name).mkdir(parents=True)
        for path in unpacked("jax-cpu-train").glob("module_0004.jit_add.*_optimizations*.txt"):
            text = path.read_text().replace(" add(", f" {opcode}(")
            (folder / name / path.name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def dump(unpacked: Unpack, small: Path) -> Built:
    """Return a function: the name of a dump, alone or of those in an archive -> its folder."""

    def folder(name: str) -> Path:
        archive, _, inner = name.partition("/")
        return small / name if name in SMALL else unpacked(archive) / inner

    return folder


@pytest.fixture(scope="module")
def built(dump: Built, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Return a function: the name of a dump -> its report, which is built once."""
    root = tmp_path_factory.mktemp("reports")

    def report(name: str) -> Path:
        out = root / name
        if not out.is_dir():
            build(dump(name), BuildOptions(out=out, pictures="none", html=False))
        return out

    return report


@pytest.fixture(scope="module")
def raw(dump: Built) -> Raw:
    """Return a function: the names of two dumps -> their comparison, which is made once."""
    return cache(lambda base, head: compared(dump(base), dump(head)))


def is_sketched(report: Path) -> bool:
    with open_files(report) as opened:
        return read_sketched_report(opened) is not None


def apart(view: ComparisonRecord) -> tuple[ComparisonRecord, tuple[DumpRecord, ...]]:
    """Part a comparison from what it says of both dumps, their addresses left out."""
    dumps = tuple(replace(each, path="") for each in (view.base, view.head))
    return replace(view, base=NO_DUMP, head=NO_DUMP), dumps


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_it_is_the_same_as_of_the_dumps(pair: tuple[str, str], raw: Raw, built: Built) -> None:
    reports = [built(name) for name in pair]
    assert all(map(is_sketched, reports))
    stored = compared(*reports)
    assert stored == replace(raw(*pair), base=stored.base, head=stored.head)
    assert apart(stored) == apart(raw(*pair))


def test_one_side_may_be_a_dump(dump: Built, raw: Raw, built: Built) -> None:
    base, head = SMALL
    assert apart(compared(built(base), dump(head))) == apart(raw(base, head))
    assert apart(compared(dump(base), built(head))) == apart(raw(base, head))


def test_only_texts_that_are_shown_are_restored(
    built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int] = []
    whole = DiffSide.with_texts

    def count(side: DiffSide, texts: Any) -> DiffSide:
        shown.append(len(texts))
        return whole(side, texts)

    monkeypatch.setattr(DiffSide, "with_texts", count)
    base, head = map(built, SMALL)
    compared(base, base)
    assert not shown
    compared(base, head)
    assert shown
    assert 0 < max(shown) < 20


def test_a_zip_has_its_sketches(built: Built, tmp_path: Path, raw: Raw) -> None:
    base, head = SMALL
    site = tmp_path / "out/site"
    shutil.copytree(built(head) / "site_src", site)
    (site / "index.html").write_text("<p>Home")
    pack(tmp_path / "out", tmp_path / "x.zip")
    assert is_sketched(tmp_path / "x.zip")
    assert apart(compared(built(base), tmp_path / "x.zip")) == apart(raw(base, head))


def scripts_of(report: Path) -> Path:
    return report / "site_src/assets/data"


def rewrite(script: Path, change: Callable[[list[Any]], list[Any]]) -> None:
    """Change what is in the script of a sketch."""
    key, value = read_payload(script.read_text("ascii"))
    script.write_text(make_payload_file(key, change(value))[1], "ascii")


def sealed_again(value: list[Any], body: str, texts: list[Path]) -> list[Any]:
    """Return a sketch of other contents, with the digest that fits."""
    digest = digest_of(body, [text.read_bytes() for text in texts])
    return [value[0], digest, body]


def cut(script: Path) -> None:
    script.write_text(script.read_text("ascii")[:-40], "ascii")


def other_version(script: Path) -> None:
    rewrite(script, lambda value: [f"{value[0]}1", *value[1:]])


def other_figure(script: Path) -> None:
    rewrite(script, lambda value: [*value[:2], value[2].replace("f32", "f64")])


def other_shape(script: Path) -> None:
    rewrite(script, lambda _: ["x", {}])


def no_utf8(script: Path) -> None:
    script.write_bytes(b"\xff" + script.read_bytes())


def deep(script: Path) -> None:
    script.write_text(make_payload_file(script.stem, 0)[1].replace("0", "[" * 1500), "ascii")


def damaged_inside(script: Path) -> None:
    """Leave a digest that fits, and values of other types."""
    texts = sorted(script.parent.glob("texts*.js"), key=lambda path: (len(path.name), path.name))

    def change(value: list[Any]) -> list[Any]:
        inside = json.loads(value[2])
        inside[2] = inside[2][:1]  # fewer snapshots
        return sealed_again(value, json.dumps(inside), texts)

    rewrite(script, change)


DAMAGES = (
    cut,
    other_version,
    other_figure,
    other_shape,
    no_utf8,
    deep,
    damaged_inside,
    Path.unlink,
)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__)
def test_a_damaged_sketch_is_not_used(
    damage: Callable[[Path], None], raw: Raw, built: Built, tmp_path: Path
) -> None:
    base, head = SMALL
    report = shutil.copytree(built(head), tmp_path / "report")
    (script,) = scripts_of(report).glob("m/*/sketch.js")
    damage(script)
    assert not is_sketched(report)
    stored = compared(built(base), report)
    assert stored.verdict == raw(base, head).verdict
    assert stored.modules == raw(base, head).modules


def test_altered_texts_are_read(built: Built, tmp_path: Path) -> None:
    report = shutil.copytree(built(SMALL[0]), tmp_path / "report")
    (script,) = scripts_of(report).glob("m/*/texts-0.js")
    key, value = read_payload(script.read_text("ascii"))
    value["lines"][0].append("// unused")
    script.write_text(make_payload_file(key, value)[1], "ascii")
    assert not is_sketched(report)


def test_a_module_more_or_less_is_noticed(built: Built, tmp_path: Path) -> None:
    report = shutil.copytree(built("pairs/other-first"), tmp_path / "report")
    first = min(scripts_of(report).glob("m/*"))
    shutil.rmtree(first)
    assert not is_sketched(report)


def test_a_folder_that_is_no_report_has_none(dump: Built) -> None:
    assert not is_sketched(dump(SMALL[0]))
