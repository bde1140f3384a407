"""The part of a module's page about all steps taken together."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.analysis.cost.costed import cost_module
from xlareport.analysis.modules.module_origin import origin_of
from xlareport.analysis.modules.summarize import summarize_module
from xlareport.analysis.passes.overview import summarize_passes
from xlareport.analysis.passes.pass_times import FileTimes, PassTime
from xlareport.pages.module.overview import overview_part, tabulate_overview, tabulate_passes
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]


def test_what_is_not_known_is_said(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_train_step", BuildOptions())
    origin = origin_of(module)
    costed = cost_module(module, origin.backend)
    summary = summarize_module(module, origin, [None] * len(module.snapshots), costed)
    plain = replace(
        summarize_passes(module, (), (), [None] * len(module.snapshots)), file_times=None
    )
    view = overview_part(summary, plain)
    assert [words.split(":")[0] for words, _ in view.curves] == [
        "Computations",
        "Fusions",
        "FLOPs",
        "Bytes accessed",
    ]
    assert view.times_words.startswith("Compile time is not known")
    assert view.idle_words.startswith("No-op passes are not known")
    assert "passes" not in tabulate_overview(plain)
    timed = overview_part(summary, replace(plain, file_times=FileTimes(6.0, 101.0)))
    assert "6 s up to the last snapshot between passes, 95 s" in timed.times_words
    timed = overview_part(summary, replace(plain, file_times=FileTimes(None, 28.0)))
    assert timed.times_words.startswith("Compilation took about 28 s, estimated from file times")
    assert timed.times_words.endswith("No snapshot between passes divides it.")


def test_passes_are_a_table_the_longest_first(unpacked: Unpack) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_train_step", BuildOptions())
    passes = (PassTime("fusion", 2, 1, 1500), PassTime("dce", 3, 0, None))
    found = replace(
        summarize_passes(module, (), (), [None] * len(module.snapshots)), passes=passes, span=6000
    )
    rows = tabulate_passes(found).rows
    assert list(rows[0]) == ["fusion", "pass", 2, 1, 1.5, 0.25]
    assert list(rows[1])[4:] == [None, None]


@pytest.mark.parametrize(
    ("flops", "words"),
    [
        ((1000, 500), "do 4.0 times the FLOPs of the unpartitioned program"),
        ((1000, 130), "total work does not drop there."),
        ((1000, 260, 130), "total work does not drop there."),  # copies that dce removes
        ((None, 500), "total work does not drop there."),
    ],
)
def test_work_that_several_devices_do_is_counted_against_the_whole(
    flops: tuple[int | None, ...], words: str, unpacked: Unpack
) -> None:
    module = read_one_module(unpacked("jax-cpu-train"), "jit_train_step", BuildOptions())
    origin = origin_of(module)
    summary = summarize_module(
        module, origin, [None] * len(module.snapshots), cost_module(module, origin.backend)
    )
    passes = summarize_passes(module, (), (), [None] * len(module.snapshots))
    first = passes.growth[0]
    growth = tuple(
        replace(first, flops=count, partitions=partitions)
        for count, partitions in zip(flops, (1, 8, 8), strict=False)
    )
    view = overview_part(summary, replace(passes, growth=growth))
    assert words in str(view)
