"""What is named as rounding otherwise changes bits when XLA runs it, and what is not does not.

Asked for by XLAREPORT_JAX_PYTHON, which names an interpreter with jaxlib 0.12.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.steps.numbers_changed import numbers_changed
from xlareport.analysis.steps.step import step

RUNNER = Path(__file__).parents[2] / "benchmarks/run_snapshots.py"
HEADER = """\
HloModule m

ENTRY %main (x: f32[512], y: f32[512]) -> f32[512] {
  %x = f32[512]{0} parameter(0)
  %y = f32[512]{0} parameter(1)
"""
PAIRS = {
    "a reciprocal": (
        "  ROOT %r = f32[512]{0} divide(%x, %y)",
        """\
  %one = f32[] constant(1)
  %ones = f32[512]{0} broadcast(%one), dimensions={}
  %inverse = f32[512]{0} divide(%ones, %y)
  ROOT %r = f32[512]{0} multiply(%x, %inverse)""",
    ),
    "a power of two": (
        """\
  %c = f32[] constant(8)
  %b = f32[512]{0} broadcast(%c), dimensions={}
  ROOT %r = f32[512]{0} divide(%x, %b)""",
        """\
  %c = f32[] constant(0.125)
  %b = f32[512]{0} broadcast(%c), dimensions={}
  ROOT %r = f32[512]{0} multiply(%x, %b)""",
    ),
    "a sign": (
        "  ROOT %r = f32[512]{0} subtract(%x, %y)",
        """\
  %n = f32[512]{0} negate(%y)
  ROOT %r = f32[512]{0} add(%x, %n)""",
    ),
    "a narrower type": (
        "  ROOT %r = f32[512]{0} add(%x, %y)",
        """\
  %n = bf16[512]{0} convert(%y)
  %w = f32[512]{0} convert(%n)
  ROOT %r = f32[512]{0} add(%x, %w)""",
    ),
}


def digests(folder: Path, texts: tuple[str, ...]) -> list[str]:
    """Return a digest of what each text returns on the same inputs."""
    python = os.environ.get("XLAREPORT_JAX_PYTHON")
    if not python:
        pytest.skip("XLAREPORT_JAX_PYTHON does not name an interpreter with jaxlib 0.12")
    paths = [folder / f"{number}.txt" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    done = subprocess.run(
        [python, str(RUNNER)],
        input="".join(f"{path}\n" for path in paths),
        env=os.environ | {"XLA_FLAGS": "--xla_disable_hlo_passes=algsimp", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line)["digest"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_named_changes_bits(name: str, tmp_path: Path) -> None:
    before, after = (f"{HEADER}{body}\n}}\n" for body in PAIRS[name])
    first, second = digests(tmp_path, (before, after))
    named = numbers_changed(step(parse_module(before), parse_module(after)))
    assert bool(named) == (first != second)
