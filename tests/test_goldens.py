"""Goldens of one small real module: what was read of it, and the pages and payloads made of it."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.report import BuildOptions, build
from xlareport.storage.payloads import read_stored_value

Unpack = Callable[[str], Path]
Snapshot = Callable[[str, str], None]
MOMENT = 1_700_000_000
MODULE = "module_0006.jit_rollout"


@pytest.fixture(scope="session")
def sources(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("golden")
    dump = out / "dump"
    shutil.copytree(unpacked("jax-cpu-train"), dump)
    for path in dump.rglob("*"):
        os.utime(path, (MOMENT, MOMENT))  # a clone has times of its own
    build(dump, BuildOptions(out=out / "report", name="dump", html=False))
    return out / "report" / "site_src"


def model_text(module: HloModule) -> Iterator[str]:
    """Yield what the model holds, a line for each thing, as the reader understood it."""
    yield f"module {module.name}, {module.instruction_count} instructions"
    for name, value in module.attributes.items():
        yield f"  {name} = {value}"
    for computation in module.computations:
        entry = " (entry)" if computation.is_entry else ""
        root = computation.root.name if computation.root else "none"
        yield f"computation {computation.name}{entry}, root {root}"
        for instruction in computation.instructions:
            called = "".join(f" {role}:{callee}" for role, callee in instruction.called)
            operands = ", ".join(instruction.operands) or instruction.argument
            result = f"{instruction.shape.text} = {instruction.opcode}({operands}){called}"
            yield f"  {instruction.name}: {result}"


@pytest.mark.parametrize("stage", ["before_optimizations", "cpu_after_optimizations"])
def test_the_model(stage: str, unpacked: Unpack, snapshot: Snapshot) -> None:
    path = unpacked("jax-cpu-train") / f"{MODULE}.{stage}.txt"
    reader = TextReader()
    module = reader.read(path.read_bytes(), path.name)
    assert module is not None
    assert not reader.problems
    snapshot("\n".join(model_text(module)) + "\n", f"model.{stage}.txt")


@pytest.mark.parametrize("page", ["index.md", "names.md", "coverage.md", f"m/{MODULE}.md"])
def test_pages(page: str, sources: Path, snapshot: Snapshot) -> None:
    text = re.sub("(Read from</dt><dd>)[^<]*", "\\1the dump", (sources / page).read_text("utf-8"))
    snapshot(text, page.replace("/", "."))


def test_the_step_that_fused(sources: Path, snapshot: Snapshot) -> None:
    steps = read_stored_value(sources, f"m/{MODULE}/steps")
    (fused,) = (step["id"] for step in steps["steps"] if step["after"] == "fusion")
    story = read_stored_value(sources, f"m/{MODULE}/step-{fused}")
    snapshot(json.dumps(story, indent=1) + "\n", "step-fusion.json")
