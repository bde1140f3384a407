import os
import re
from pathlib import Path

import pytest

from xlareport.knowledge import passes
from xlareport.knowledge.passes import CLOSED_SOURCE

EVERYTHING = [*passes.all_entries().values(), *passes.all_pipelines().values()]
BOUNDARY = re.compile(
    r"\.\d{4,}\.(?P<pipeline>[^.]+)\.after_(?P<after>[^.]+)\.before_(?P<before>[^.]+)\."
)
INVENTED = {"a", "b", "pipe"}
"""A dump of ours holds a module whose own name imitates a pass file."""


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("algsimp", "algsimp"),
        ("tuple_simplifier", "tuple-simplifier"),
        ("rematerialization_with_stats", "rematerialization_with_stats"),
        ("rematerialization with stats", "rematerialization_with_stats"),
        ("CallInliner", "call-inliner"),
        ("float-normalization-bf16", "float-normalization"),
        ("apply-xla-transforms-17", "apply-xla-transforms"),
        ("Post_main_fusion", "Post main fusion"),
        ("simplification_after_layout_assignement", "simplification after layout assignment"),
    ],
)
def test_a_pass_is_found_in_every_spelling(name: str, entry: str) -> None:
    found = passes.find(name)
    assert found is not None
    assert found.name == entry


def test_names_that_differ_by_a_dash_only_are_not_confused() -> None:
    gpu, cpu = passes.find("tree-reduction-rewriter"), passes.find("tree_reduction_rewriter")
    assert gpu is not None
    assert cpu is not None
    assert (gpu.backends, cpu.backends) == (("gpu",), ("cpu",))
    ours, ipu = passes.find("gather_simplifier"), passes.find("gather-simplifier")
    assert ours is not None
    assert ipu is not None
    assert "ipu" not in ours.backends
    assert "ipu" in ipu.backends


def test_what_is_not_known_has_no_entry() -> None:
    for name in ("no-such-pass", "", "algsimp-2", "simplification-99"):
        assert passes.find(name) is None


def test_pipelines_are_apart_from_passes_of_the_same_name() -> None:
    pipeline, one = passes.find_pipeline("fusion"), passes.find("fusion")
    assert pipeline is not None
    assert one is not None
    assert (pipeline.kind, one.kind) == ("pipeline", "pass")
    assert passes.find_pipeline("algsimp") is None
    assert passes.find_pipeline("HLO_passes_after_layout_assignment") is not None


def test_a_class_is_derived_from_a_name() -> None:
    assert passes.derived_class("tpu_fusion") == "TpuFusion"
    assert passes.derived_class("while-loop-simplifier") == "WhileLoopSimplifier"
    assert passes.derived_class("Post main fusion") == "PostMainFusion"
    assert passes.derived_class("") == ""


def test_no_name_is_in_two_tables() -> None:
    for table in (passes.all_entries(), passes.all_pipelines()):
        spelled = [_spelling(name) for one in table.values() for name in (one.name, *one.aliases)]
        assert len(spelled) == len(set(spelled))


def _spelling(name: str) -> str:
    return name.replace(" ", "_")


def test_an_entry_is_complete() -> None:
    for entry in EVERYTHING:
        assert set(entry.backends) <= {"cpu", "gpu", "tpu", "ipu"}, entry.name
        assert entry.until is None or re.fullmatch(r"20\d\d-\d\d", entry.until), entry.name
        assert entry.xla_class is None or re.fullmatch(r"[A-Z]\w+", entry.xla_class), entry.name
        assert (entry.known_from == "name") == entry.words.startswith("Seems to "), entry.name
        if entry.source not in (None, CLOSED_SOURCE):
            path = entry.source or ""
            assert re.fullmatch(r"(xla|tensorflow)/[\w/]+\.(cc|h)", path), entry.name
        else:
            assert entry.known_from != "source", entry.name


def test_words_say_more_than_the_name() -> None:
    for entry in EVERYTHING:
        assert entry.words.endswith("."), entry.name
        words = {_stem(word) for word in re.findall(r"[A-Za-z]{4,}", entry.words)} - {"seem"}
        names = re.findall(r"[A-Z]?[a-z]+", f"{entry.name} {entry.xla_class}")
        assert len(words - set(map(_stem, names))) >= 3, entry.words


def _stem(word: str) -> str:
    return word.lower()[:4]


def test_what_is_guessed_says_so() -> None:
    guess = passes.find("color-to-mem")
    assert guess is not None
    assert guess.source == CLOSED_SOURCE
    assert "guess" in guess.basis
    seen = passes.find("tpu_fusion")
    assert seen is not None
    assert "guess" not in seen.basis


def test_an_example_is_a_sentence() -> None:
    for values in EVERYTHING:
        assert values.example is None or re.fullmatch(r"[A-Z].+, step \d{4}: .+\.", values.example)


def _names_of(dumps: Path) -> tuple[set[str], set[str]]:
    """Passes and pipelines in the file names and pass records below a folder."""
    passes_met: set[str] = set()
    pipelines_met: set[str] = set()
    for path in dumps.rglob("*"):
        if boundary := BOUNDARY.search(path.name):
            passes_met |= {boundary["after"], boundary["before"]}
            pipelines_met.add(boundary["pipeline"])
        elif path.name.endswith(".metadata.textproto"):
            record = path.read_text("utf-8")
            passes_met |= set(re.findall(r'pass_name: "([^"]*)"', record))
            pipelines_met |= set(re.findall(r'pipeline_name: "([^"]*)"', record))
    return passes_met - INVENTED, pipelines_met - INVENTED


@pytest.mark.skipif("XLAREPORT_DUMPS" not in os.environ, reason="needs the real dumps")
def test_nearly_all_names_of_real_dumps_are_known() -> None:
    passes_met, pipelines_met = _names_of(Path(os.environ["XLAREPORT_DUMPS"]))
    unknown = {name for name in passes_met if passes.find(name) is None}
    unknown_pipelines = {name for name in pipelines_met if passes.find_pipeline(name) is None}
    assert len(unknown) <= 0.05 * len(passes_met), sorted(unknown)
    assert len(unknown_pipelines) <= 0.05 * len(pipelines_met), sorted(unknown_pipelines)
