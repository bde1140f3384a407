"""What the pages of a module load: which payloads there are, and what is left out of them."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from xlareport.analysis.module import AnalysisOptions, analyze_module
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.pages.module.output import (
    ModuleOutput,
    ModulePages,
    StepPage,
    make_step,
    place_pictures,
)
from xlareport.pages.pictures.requests import PictureChoice
from xlareport.pages.texts.page import kept_texts
from xlareport.runtime.faults import Faults
from xlareport.storage.payloads import unpack_small_payloads

Make = Callable[[PictureChoice], ModulePages]


@pytest.fixture(scope="module")
def make(unpacked: Callable[[str], Path]) -> Make:
    """Return a function: which pictures are drawn -> the pages of a module with steps."""

    def pages(choice: PictureChoice) -> ModulePages:
        faults = Faults("dump")
        with open_source(unpacked("jax-cpu-train")) as source:
            modules = group(name_files(source)).modules
            files = next(module for module in modules if module.name == "jit_rollout")
            texts = kept_texts(files)
            step = partial(make_step, files.slug, choice, texts)
            analyzed = analyze_module(files, AnalysisOptions(), faults, step)
        steps = place_pictures(files.slug, choice, analyzed.shown)
        return ModulePages(analyzed, steps, texts, faults)

    return pages


@pytest.fixture(scope="module")
def pages(make: Make) -> ModulePages:
    return make("changed")


@pytest.fixture(scope="module")
def output(pages: ModulePages) -> ModuleOutput:
    return pages.output("changed", 1)


def small(output: ModuleOutput) -> dict[str, Any]:
    return {
        payload.key: None if payload.packing else json.loads(payload.body)
        for payload in unpack_small_payloads(output.small)
    }


def test_every_step_with_changes_has_a_payload_with_its_figures(
    pages: ModulePages, output: ModuleOutput
) -> None:
    loaded = small(output)
    stages = [s for s in pages.analyzed.analysis.summary.stages if s.instructions is not None]
    keys = {f"m/{pages.slug}/step-{stages[number].key}" for number in pages.steps}
    assert keys <= set(loaded)
    assert {key for key in loaded if "/step-" in key and "/more" not in key} >= keys
    known = next(value for key, value in loaded.items() if key in keys and value)
    assert {"figures", "uncounted", "time", "groups", "ran", "pictures"} <= set(known)
    assert pages.faults.problems == []


def test_the_texts_and_the_search_are_files_of_their_own(output: ModuleOutput) -> None:
    paths = {path.rpartition("/")[2] for path, _ in output.payloads}
    assert "search.js" in paths
    assert any(name.startswith("texts") for name in paths)
    assert output.scopes


def test_pictures_are_asked_for_where_they_are_wanted(make: Make, output: ModuleOutput) -> None:
    assert output.requests
    assert output.pictures
    assert {*output.plain} <= {*output.requests}
    without = make("none").output("none", 1)
    assert (without.requests, without.plain) == ((), ())
    step = next(value for key, value in small(without).items() if "/step-" in key and value)
    assert "built with `--pictures none`" in json.dumps(step["pictures"])


def test_steps_are_placed_in_their_order_and_keep_no_drawings(pages: ModulePages) -> None:
    assert [*pages.steps] == sorted(pages.steps)
    assert all(page.drawn is None for page in pages.steps.values())


def test_a_step_without_a_graph_says_why() -> None:
    bare = StepPage({"groups": []}, None, touched=None, further=())  # type: ignore[arg-type]
    placed = place_pictures("s", "changed", {3: bare})
    assert placed[3].request is None
    assert "too large to draw" in json.dumps(placed[3].payload["pictures"])


def test_several_processes_make_the_same(pages: ModulePages, output: ModuleOutput) -> None:
    again = pages.output("changed", 2)
    assert again.payloads == output.payloads
    assert again.small == output.small
    assert again.requests == output.requests
