"""What causes cost, and what is no cause, on pairs of dumps of which it is known what changed."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from tests.analysis.compare.conftest import compared

from xlareport.analysis.compare.comparison import Comparison, compare_figure
from xlareport.analysis.compare.effects import (
    UNKNOWN,
    Effect,
    rank_effect,
    rest_effect,
    whole_effect,
)
from xlareport.pages.compare.first_page import describe_effect

Unpack = Callable[[str], Path]


def test_an_only_cause_has_the_whole_change(pairs: Path) -> None:
    view = compared(pairs / "cpu-conv-base", pairs / "cpu-conv-nofusion")
    changes = {
        figure.name: (figure.head or 0) - (figure.base or 0) for figure in view.modules[0].figures
    }
    effect = view.causes[0].effect
    assert effect.accessed_bytes == changes["bytes_accessed"] > 0
    assert effect.memory_bytes == changes["allocated_bytes"] > 0
    assert effect.kernels == changes["kernels"] > 0
    assert "+19.7 MiB bytes accessed" in describe_effect(effect)
    assert view.causes[0].why.startswith("`fusion`: Merges producers into their consumers")


def test_one_cause_without_figures_has_the_rest_and_the_largest_comes_first(pairs: Path) -> None:
    view = compared(pairs / "cpu-conv-donated", pairs / "cpu-conv-dtype")
    figures = {figure.name: figure for figure in view.modules[0].figures}
    whole = figures["allocated_bytes"]
    dtype, donation, *_ = view.causes
    assert (dtype.kind, donation.kind) == ("dtype", "donation")
    memory = (dtype.effect.memory_bytes or 0) + (donation.effect.memory_bytes or 0)
    assert memory == (whole.head or 0) - (whole.base or 0)
    assert dtype.effect.accessed_bytes is None
    assert describe_effect(dtype.effect).endswith("MiB memory, the rest of the change")


def test_a_flag_of_libtpu_is_an_option_and_no_other_compiler(pairs: Path) -> None:
    view = compared(pairs / "tpu-scan-base", pairs / "tpu-scan-limit")
    first = view.causes[0]
    assert (first.kind, first.subject) == ("option", "xla_tpu_multioutput_fusion_max_operands")
    assert "compiler" not in [cause.kind for cause in view.causes]


def test_a_constant_is_a_change_of_the_program_and_an_order_is_none(
    pairs: Path, tmp_path: Path
) -> None:
    base, changed = pairs / "cpu-conv-base", tmp_path / "changed"
    changed.mkdir()
    for path in base.iterdir():
        text = path.read_text().replace("constant(0.01)", "constant(0.02)")
        (changed / path.name).write_text(text)
    assert [cause.kind for cause in compared(base, changed).causes] == ["program"]
    assert compared(base, pairs / "cpu-conv-reordered").causes == ()


def test_arguments_in_another_order_are_no_cause(unpacked: Unpack) -> None:
    known = unpacked("pairs")
    assert compared(known / "base", known / "keys").causes == ()


def test_words_of_an_effect() -> None:
    assert describe_effect(UNKNOWN) == ""
    effect = Effect(-2e-6, 3 << 20, 0, 4, "convert")
    assert describe_effect(effect) == (
        "\N{MINUS SIGN}2 µs estimated time, +3.0 MiB bytes accessed, "
        "+4 instructions outside fusions, in all convert instructions"
    )
    assert describe_effect(Effect(sent_bytes=-(168 << 20))) == (
        "\N{MINUS SIGN}168 MiB sent to other devices"
    )


def test_the_largest_share_of_the_program_comes_first() -> None:
    base = {"least_nanoseconds": 1_000_000, "occupied_peak_bytes": 1000, "bytes_accessed": 1000}
    quantities = tuple(compare_figure(name, value, value) for name, value in base.items())
    main = cast("Comparison", SimpleNamespace(quantities=quantities))
    ordered = (
        Effect(memory_bytes=-500),
        Effect(seconds=1e-4),
        Effect(accessed_bytes=900),
        Effect(kernels=3),
        Effect(seconds=9e-4, opcode="fusion"),
        Effect(seconds=1e-5, opcode="convert"),
        Effect(seconds=0.0, memory_bytes=0, opcode="copy"),
    )
    others = (*ordered[3:], *ordered[:3])
    assert tuple(sorted(others, key=lambda effect: rank_effect(effect, main))) == ordered
    assert describe_effect(rest_effect(UNKNOWN, [])) == ""
    assert rank_effect(UNKNOWN, main) == rank_effect(ordered[-1], None)
    assert rank_effect(UNKNOWN, None) > rank_effect(Effect(seconds=1e-9), None)


def test_a_few_bytes_of_the_memory_are_no_effect() -> None:
    def memory(base: int, head: int) -> int | None:
        quantities = (compare_figure("allocated_bytes", base, head),)
        return whole_effect(cast("Comparison", SimpleNamespace(quantities=quantities))).memory_bytes

    assert memory(1_687_151_000, 1_687_151_032) == 0
    assert memory(1_000, 1_032) == 32
    assert memory(0, 32) == 32
