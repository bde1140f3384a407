"""Pages of modules kept from build to build: found again only where all values are the same."""

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.analysis.findings.finding import Finding
from xlareport.analysis.module import AnalysisOptions
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.module_work import kept_pages
from xlareport.module_work.kept import KeptModules
from xlareport.module_work.kept_pages import KeptFiles, KeptPages, open_kept_pages
from xlareport.module_work.listed_files import list_by_path, own_artifacts
from xlareport.module_work.process import ModuleTask, process_module
from xlareport.pages.module.module_pages import (
    DecidedByOthers,
    ModulesShown,
    ModuleToShow,
    WantedPages,
    show_module,
)
from xlareport.pages.site_files import PageSources
from xlareport.report import BuildOptions, read_report
from xlareport.runtime.errors import Problem
from xlareport.site import kept_site
from xlareport.storage.entry_store import EntryStore
from xlareport.storage.payloads import TextFile
from xlareport.storage.typed_values import list_values, read_values


@pytest.fixture(scope="module")
def shown(data: Path) -> ModuleToShow:
    folder = data / "truncated"
    record = read_report(folder, BuildOptions()).modules[0]
    with open_source(folder) as source:
        files = group(name_files(source)).modules[0]
        result = process_module(ModuleTask(files, AnalysisOptions()))
    output = replace(result.output, payloads=(), requests=())
    return ModuleToShow(result.analysis, output, record, "before", "after")


@pytest.fixture
def pages(tmp_path: Path) -> KeptPages:
    return KeptPages(KeptModules(EntryStore(tmp_path / "store", 1_000_000), "program"))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The slugs of the modules whose pages were made."""
    slugs = []

    def show(module: ModuleToShow) -> ModulesShown:
        slugs.append(module.record.slug)
        return show_module(module)

    monkeypatch.setattr(kept_pages, "show_module", show)
    return slugs


def wanted(module: ModuleToShow, result: str = "") -> WantedPages:
    """Return the wish for the pages of a module; without a result all its values are the key."""
    decided = DecidedByOthers(
        role="main",
        role_reason="it is",
        findings=(),
        is_main=True,
        previous=module.previous,
        following=module.following,
    )
    return WantedPages(result, decided, lambda: module)


def take(pages: KeptPages, module: ModuleToShow) -> ModulesShown:
    return take_wanted(pages, wanted(module))


def take_wanted(pages: KeptPages, asked: WantedPages) -> ModulesShown:
    shown = pages.find(asked)
    return pages.show(shown) if isinstance(shown, ModuleToShow) else shown


def test_pages_are_found_again(shown: ModuleToShow, pages: KeptPages, made: list[str]) -> None:
    assert take(pages, shown) == take(pages, shown) == show_module(shown)
    assert made == [shown.record.slug]


def with_other_sizes(shown: ModuleToShow) -> ModuleToShow:
    summary = shown.analysis.summary
    artifacts = tuple(
        replace(artifact, entry=replace(artifact.entry, size=artifact.entry.size + 1))
        for artifact in summary.files.artifacts
    )
    files = replace(summary.files, artifacts=artifacts)
    return replace(shown, analysis=replace(shown.analysis, summary=replace(summary, files=files)))


CHANGES: tuple[Callable[[ModuleToShow], ModuleToShow], ...] = (
    lambda shown: replace(shown, previous=None),
    lambda shown: replace(shown, following="another"),
    lambda shown: replace(shown, record=replace(shown.record, rank=shown.record.rank + 1)),
    lambda shown: replace(shown, record=replace(shown.record, role_reason="called by another")),
    lambda shown: replace(shown, record=replace(shown.record, retrace_group=7)),
    lambda shown: replace(shown, record=replace(shown.record, process=3)),
    lambda shown: replace(shown, analysis=replace(shown.analysis, read=())),
    lambda shown: replace(
        shown, analysis=replace(shown.analysis, same_as=shown.analysis.summary.files)
    ),
    lambda shown: replace(shown, output=replace(shown.output, small=b"", pictures=())),
    with_other_sizes,
)


def test_a_store_is_wanted_to_keep_pages(
    shown: ModuleToShow, pages: KeptPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_kept_pages(None) == PageSources()
    monkeypatch.setattr(kept_site, "user_folder", lambda: None)
    sources = open_kept_pages(pages.kept)
    module = sources.find(wanted(shown))
    assert isinstance(module, ModuleToShow)
    assert sources.show(module) == sources.find(wanted(shown))
    assert sources.make_files == KeptFiles(pages.kept.store, "program")


@pytest.fixture
def files(tmp_path: Path) -> KeptFiles:
    return KeptFiles(EntryStore(tmp_path / "store", 1_000_000), "program")


def numbered() -> Callable[[], Iterator[TextFile]]:
    """Return what makes another file each time."""
    numbers = count()
    return lambda: iter([("a.md", str(next(numbers)))])


def test_files_are_made_once_of_the_same_values(files: KeptFiles) -> None:
    make = numbered()
    assert [*files("a", (["b"], 1), make)] == [*files("a", (["b"], 1), make)] == [("a.md", "0")]


@pytest.mark.parametrize(
    ("program", "name", "values"),
    [
        ("upgraded", "a", (["b"], ["c"])),
        ("program", "b", (["b"], ["c"])),
        ("program", "a", (["c"], ["b"])),
        ("program", "a", (["b", "c"], [])),
    ],
)
def test_files_of_other_values_are_made_anew(
    files: KeptFiles, program: str, name: str, values: tuple[object, ...]
) -> None:
    make = numbered()
    files("a", (["b"], ["c"]), make)
    assert [*replace(files, program=program)(name, values, make)] == [("a.md", "1")]


def test_altered_files_and_those_of_values_that_cannot_be_listed_are_made_anew(
    files: KeptFiles,
) -> None:
    make = numbered()
    for number, value in enumerate((object(), "\ud800")):
        assert [*files("a", (value,), make)] == [("a.md", str(number))]
    files("a", (), make)
    (path,) = files.store.folder.glob("*/*.kept")
    files.store.put(f"{path.parent.name}{path.stem}", b'[[["a.md", 1]], []]')
    assert [*files("a", (), make)] == [("a.md", "3")]
    path.write_bytes(path.read_bytes()[:-1])
    assert [*files("a", (), make)] == [("a.md", "4")]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_they_are_made_anew(
    shown: ModuleToShow,
    pages: KeptPages,
    made: list[str],
    change: Callable[[ModuleToShow], ModuleToShow],
) -> None:
    changed = change(shown)
    assert changed != shown
    take(pages, shown)
    take(pages, changed)
    assert len(made) == 2


def test_another_program_makes_them_anew(
    shown: ModuleToShow, pages: KeptPages, made: list[str]
) -> None:
    take(pages, shown)
    take(replace(pages, kept=replace(pages.kept, program="upgraded")), shown)
    assert len(made) == 2


@pytest.mark.parametrize("repeats", [False, True])
def test_a_key_has_all_values_of_a_module(shown: ModuleToShow, *, repeats: bool) -> None:
    """What is listed for the key can be read back, so that no two modules have one key."""
    files = shown.analysis.summary.files
    if repeats:
        shown = replace(shown, analysis=replace(shown.analysis, same_as=files))
    known = list_by_path(own_artifacts(files))
    listed = json.loads(json.dumps(list_values(shown, known)))
    assert read_values(ModuleToShow, listed, known) == shown


def test_altered_entries_and_other_forms_are_not_taken(
    shown: ModuleToShow, pages: KeptPages, made: list[str]
) -> None:
    expected = take(pages, shown)
    (path,) = pages.kept.store.folder.glob("*/*.kept")
    key = f"{path.parent.name}{path.stem}"
    for content in (b"[]", b"{", b'[[["a", 1]], []]', b"[" * 100_000):
        pages.kept.store.put(key, content)
        assert take(pages, shown) == expected
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert take(pages, shown) == expected
    assert len(made) == 6


def test_pages_with_a_fault_are_not_kept(
    shown: ModuleToShow, pages: KeptPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty = ModulesShown([("m/a.md", "a")], [Problem("a", None, "a fault")], {})
    monkeypatch.setattr(kept_pages, "show_module", lambda _: faulty)
    assert take(pages, shown) == faulty
    assert not pages.kept.store.folder.exists()


def test_the_key_of_a_kept_result_stands_for_its_module(
    shown: ModuleToShow, pages: KeptPages, made: list[str]
) -> None:
    def never() -> ModuleToShow:
        raise AssertionError("pages that are there need no module")

    asked = wanted(shown, "result")
    expected = take_wanted(pages, asked)
    assert take_wanted(pages, replace(asked, load=never)) == expected == show_module(shown)
    assert made == [shown.record.slug]


OTHERS: tuple[Callable[[WantedPages], WantedPages], ...] = (
    lambda asked: replace(asked, result="another"),
    *(
        lambda asked, name=name, value=value: replace(
            asked, decided=replace(asked.decided, **{name: value})
        )
        for name, value in {
            "role": "helper",
            "role_reason": "another calls it",
            "findings": (Finding("compiled again", (), "", "", "exact", 1.0),),
            "is_main": False,
            "previous": None,
            "following": "another",
        }.items()
    ),
)


def test_all_that_other_modules_decide_is_varied(shown: ModuleToShow) -> None:
    decided = wanted(shown).decided
    assert len(OTHERS) == 1 + len(decided.__struct_fields__)


@pytest.mark.parametrize("change", OTHERS)
def test_what_other_modules_decide_has_pages_made_anew(
    shown: ModuleToShow,
    pages: KeptPages,
    made: list[str],
    change: Callable[[WantedPages], WantedPages],
) -> None:
    asked = wanted(shown, "result")
    take_wanted(pages, asked)
    take_wanted(pages, change(asked))
    assert len(made) == 2


def test_a_name_that_is_in_no_file_has_pages_made_each_time(
    shown: ModuleToShow, pages: KeptPages, made: list[str]
) -> None:
    asked = wanted(shown, "result")
    asked = replace(asked, decided=replace(asked.decided, role_reason="\ud800"))
    for _ in range(2):
        take_wanted(pages, asked)
    assert len(made) == 2


def test_what_cannot_be_listed_is_made_each_time(
    shown: ModuleToShow, pages: KeptPages, made: list[str]
) -> None:
    foreign = replace(shown, analysis=replace(shown.analysis, read=(object(),)))
    for _ in range(2):
        take(pages, foreign)
    assert len(made) == 2
    assert not pages.kept.store.folder.exists()
