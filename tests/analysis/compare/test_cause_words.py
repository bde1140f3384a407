"""The sentences of causes, whole."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.compare import cause_words
from xlareport.analysis.compare.comparison import DEVICE, DISABLED, Comparison, OptionChange
from xlareport.analysis.compare.compilers import OtherCompiler, Sign
from xlareport.analysis.compare.divergence import Divergence, Where
from xlareport.analysis.compare.module_pairing import ModulePair
from xlareport.analysis.compare.moved_operations import Depth, Move
from xlareport.analysis.compare.one_sided_passes import PassDifference
from xlareport.analysis.compare.program_changes import ChangeKind, ProgramChange
from xlareport.knowledge.grades import Grade

ALONE = Comparison(
    ModulePair(0, None, Grade.EXACT, "only in the base"), None, None, Divergence(Where.INPUT, 0, 0)
)
"""A comparison of which a sentence needs nothing."""


@pytest.mark.parametrize(
    ("name", "base", "head", "sentence"),
    [
        (
            "xla_new",
            None,
            "true",
            "The XLA option `xla_new` is at its default in the base and `true` in the head.",
        ),
        (
            DEVICE,
            "A100",
            "H100",
            "The device it was compiled for is `A100` in the base and `H100` in the head.",
        ),
        (
            DISABLED,
            None,
            "fusion,dce",
            f"`{DISABLED}` disables no pass in the base and `fusion`, `dce` in the head.",
        ),
    ],
)
def test_an_option(name: str, base: str | None, head: str | None, sentence: str) -> None:
    assert cause_words.option(OptionChange(name, base, head)) == sentence


def test_an_option_whose_default_changed_says_so() -> None:
    name = "xla_cpu_enable_concurrency_optimized_scheduler"
    words = cause_words.option(OptionChange(name, None, "true"))
    assert words.endswith(
        " Its default is `false` in jaxlib 0.5.0 and `true` in 0.5.3. "
        "Its default is `true` in jaxlib 0.9.0 and `false` in 0.9.2."
    )


def test_disabled_passes_are_explained_one_by_one() -> None:
    words = cause_words.why_option(OptionChange(DISABLED, "dce", "dce,no-such-pass"))
    assert words.startswith("`dce`: ")
    assert words.count("`dce`") == 1
    assert "no-such-pass" not in words
    assert cause_words.why_option(OptionChange("xla_no_such_flag", "1", "2")) == ""


@pytest.mark.parametrize(
    ("sign", "base", "head", "sentence"),
    [
        (
            Sign.BUILD,
            ("cl_1",),
            ("cl_2",),
            (
                "Another version of the compiler: build `cl_1` in the base and build `cl_2` in the "
                "head."
            ),
        ),
        (
            Sign.BEGINNING,
            ("dce",),
            ("cse",),
            (
                "Another version of the compiler, by the passes it has: `simplification` begins "
                "with `dce` in the base and with `cse` in the head."
            ),
        ),
        (
            Sign.PIPELINES,
            ("a", "b"),
            (),
            "Another version of the compiler, by its pipelines: only the base has `a`, `b`.",
        ),
        (
            Sign.FORM,
            (),
            (),
            "Another version of the compiler or the framework: only one side has stack frames.",
        ),
        (
            Sign.RESULT,
            (),
            (),
            (
                "Another version of the compiler, or another machine: the same program with the "
                "same options is compiled differently."
            ),
        ),
    ],
)
def test_a_compiler(
    sign: Sign, base: tuple[str, ...], head: tuple[str, ...], sentence: str
) -> None:
    other = OtherCompiler("simplification", base, head, Grade.MATCHED, (), sign)
    assert cause_words.compiler(other) == sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            ProgramChange(ChangeKind.SIZE, "4", "16", 2, ("x", "y")),
            "A dimension of 2 arguments is 16 instead of 4: `x`, `y`.",
        ),
        (
            ProgramChange(ChangeKind.LAYERS, "2", "3", lines=("m.py:3",), line_count=1),
            "The program has 3 layers instead of 2, at `m.py:3`.",
        ),
        (
            ProgramChange(ChangeKind.LOOPS, "8", "4", 1),
            "A loop runs 4 instead of 8 times.",
        ),
        (
            ProgramChange(ChangeKind.LOOPS, "8", "4", 3),
            "3 loops run 4 instead of 8 times.",
        ),
        (
            ProgramChange(ChangeKind.RECOMPUTATION, "0", "7"),
            "jax.checkpoint recomputes 7 instructions of the program, none in the base.",
        ),
        (
            ProgramChange(ChangeKind.RECOMPUTATION, "7", "0"),
            "jax.checkpoint recomputed 7 instructions of the program in the base, now none.",
        ),
        (
            ProgramChange(ChangeKind.DONATION, "0", "1", 1, ("w",), bytes=1024),
            "1 argument is donated, and none in the base (1.0 KiB per device): `w`.",
        ),
        (
            ProgramChange(ChangeKind.DONATION, "2", "0", 2, bytes=1024),
            "2 arguments are no longer donated (1.0 KiB per device).",
        ),
        (
            ProgramChange(ChangeKind.OPERATIONS, "tanh", "", base_lines=("m.py:4",)),
            "The program has other operations: the base has more `tanh`, at `m.py:4`.",
        ),
        (
            ProgramChange(ChangeKind.HEADER, "", "", names=("frontend_attributes",)),
            "The program has the same instructions and another header: `frontend_attributes`.",
        ),
        (
            ProgramChange(ChangeKind.OTHER, "", "", 3, moves=(Move("dot", 2, Depth(1), Depth(2)),)),
            (
                "The program has the same operations in other places: 2 `dot` are in 2 nested "
                "loops instead of in a loop; and 1 instruction more."
            ),
        ),
        (
            ProgramChange(
                ChangeKind.OTHER, "", "", 1, moves=(Move("add", 1, Depth(), Depth(0, 1)),)
            ),
            (
                "The program has the same operations in other places: 1 `add` is in a call instead "
                "of outside of calls."
            ),
        ),
        (
            ProgramChange(ChangeKind.TYPE, "f32", "bf16", 2, ("w", "x")),
            "The program computes in bf16 instead of f32 (2 arguments).",
        ),
    ],
)
def test_a_change_of_the_program(change: ProgramChange, sentence: str) -> None:
    assert cause_words.program(change, ALONE) == sentence


def test_long_lists_are_cut() -> None:
    names = [f"n{number}" for number in range(9)]
    assert cause_words.listed(names[:2]) == "`n0`, `n1`"
    assert cause_words.listed(names).endswith("5 more")
    assert cause_words.listed(names[:2], 7).endswith("5 more")


@pytest.mark.parametrize("in_head", [False, True])
def test_a_pass_of_one_side(*, in_head: bool) -> None:
    side, other = ("head", "base") if in_head else ("base", "head")
    difference = PassDifference("fusion", in_head, "copy", -3, 2)
    assert cause_words.one_sided(difference) == (
        f"Only in the {side}, `fusion` removed 3 `copy` (2 steps); in the {other} it changed "
        "nothing."
    )
    added = cause_words.one_sided(replace(difference, count=1, steps=1))
    assert "`fusion` added 1 `copy` (1 step)" in added


def test_modules_of_one_side_are_named_once() -> None:
    assert cause_words.modules("base", ["a", "b", "a"]) == (
        "Only the base has 3 modules: `a`, `b`."
    )


def test_autotuning_and_places() -> None:
    assert cause_words.tuned(["m"]).startswith("Autotuning chose differently: `m` ends in the same")
    assert cause_words.timed(["m"]).startswith(
        "Autotuning chose differently: `m` is the same until"
    )
    assert cause_words.parted("Parted at `dce`", 2) == "Parted at `dce` (2 modules)."
