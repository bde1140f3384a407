from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.memory_estimate import PeakEstimate, estimate_peak
from xlareport.hlo.text import TextReader
from xlareport.readers.live_range import read_live_range


def estimate(entry: str, header: str = ", is_scheduled=true") -> PeakEstimate | None:
    text = f"HloModule m{header}\n\n{entry}\n"
    module = parse_module(text)
    return estimate_peak(module)


CHAIN = """ENTRY e {
  x = f32[2] parameter(0)
  y = f32[100] broadcast(x), dimensions={}
  b = f32[10,10] bitcast(y)
  z = f32[50] slice(b), slice={[0:50]}
  ROOT w = f32[1] slice(z), slice={[0:1]}
}"""


def test_a_value_lives_to_its_last_use() -> None:
    found = estimate(CHAIN)
    assert found is not None
    assert found.curve == (8, 408, 408, 608, 212)
    assert (found.bytes, found.at, found.grade) == (608, "z", "guessed")


def test_values_in_memory_on_the_chip_take_no_device_memory() -> None:
    found = estimate(CHAIN.replace("y = f32[100]", "y = f32[100]{0:T(128)S(1)}"))
    assert found is not None
    assert found.curve == (8, 8, 8, 208, 212)


def test_elements_of_a_tuple_live_apart() -> None:
    found = estimate(
        """ENTRY e {
  x = f32[2] parameter(0)
  a = f32[100] broadcast(x), dimensions={}
  b = f32[10] broadcast(x), dimensions={}
  t = (f32[100], f32[10]) tuple(a, b)
  c = f32[10] get-tuple-element(t), index=1
  d = f32[10] negate(c)
  ROOT r = f32[10] add(d, t#1)
}"""
    )
    assert found is not None
    assert found.curve[-1] == 8 + 40 + 40 + 40


def test_what_runs_inside_counts_while_it_runs() -> None:
    found = estimate(
        """inner {
  p = f32[2] parameter(0)
  big = f32[1000] broadcast(p), dimensions={}
  ROOT s = f32[2] slice(big), slice={[0:2]}
}

ENTRY e {
  x = f32[2] parameter(0)
  ROOT c = f32[2] call(x), to_apply=inner
}"""
    )
    assert found is not None
    assert found.at == "c"
    assert found.bytes > 4000


@pytest.mark.parametrize(
    ("entry", "header"),
    [
        (CHAIN, ""),
        (CHAIN.replace("f32[100]", "f32[?]"), ", is_scheduled=true"),
        ("ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT c = f32[2] call(x), to_apply=e\n}", ""),
    ],
)
def test_without_a_schedule_or_a_size_there_is_no_estimate(entry: str, header: str) -> None:
    assert estimate(entry, header) is None


@pytest.mark.parametrize("dump", ["jax-cpu-train", "tpu-v5e-scan", "gpu-h100x2-train"])
def test_it_comes_near_the_dumps_own_figure(unpacked: Callable[[str], Path], dump: str) -> None:
    for path in sorted(unpacked(dump).rglob("*-live-range.txt")):
        live, _ = read_live_range(path.read_bytes(), path.name)
        text = path.with_name(path.name.replace("-live-range", ""))
        module = TextReader().read(text.read_bytes(), text.name)
        found = estimate_peak(module) if module else None
        assert live is not None
        assert found is not None
        assert live.peak_bytes is not None
        assert 0.5 < found.bytes / live.peak_bytes < 3
