"""What causes cost, and what is no cause, on pairs of dumps of which it is known what changed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport.analysis.compare.effects import UNKNOWN, Effect
from xlareport.compare import compare
from xlareport.pages.compare.first_page import effect_words
from xlareport.records.compare import ComparisonRecord
from xlareport.report import BuildOptions

Unpack = Callable[[str], Path]


def compared(base: Path, head: Path) -> ComparisonRecord:
    return compare(base, head, BuildOptions(jobs=1), site=False).view


@pytest.fixture(scope="module")
def pairs(unpacked: Unpack) -> Path:
    return unpacked("pairs-unseen")


def test_an_only_cause_has_the_whole_change(pairs: Path) -> None:
    view = compared(pairs / "cpu-conv-base", pairs / "cpu-conv-nofusion")
    changes = {
        figure.name: (figure.head or 0) - (figure.base or 0) for figure in view.modules[0].figures
    }
    effect = view.causes[0].effect
    assert effect.accessed_bytes == changes["bytes_accessed"] > 0
    assert effect.memory_bytes == changes["allocated_bytes"] > 0
    assert effect.kernels == changes["kernels"] > 0
    assert "+19.7 MiB bytes accessed" in effect_words(effect)
    assert view.causes[0].why.startswith("`fusion`: Merges producers into their consumers")


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
    assert effect_words(UNKNOWN) == ""
    effect = Effect(-2e-6, 3 << 20, 0, 4, "convert")
    assert effect_words(effect) == (
        "+3.0 MiB bytes accessed, \N{MINUS SIGN}2 µs estimated time, "
        "+4 instructions outside fusions, of opcode convert"
    )
    assert effect_words(Effect(sent_bytes=-(168 << 20))) == (
        "\N{MINUS SIGN}168 MiB sent to other devices"
    )
    assert not UNKNOWN.is_known
    assert effect.is_known
