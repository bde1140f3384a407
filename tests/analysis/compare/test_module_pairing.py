"""Modules are paired by what they are; numbers, order and recompilations do not confuse it."""

from xlareport.analysis.compare.module_pairing import ModulePair, Sketch, pair_modules
from xlareport.knowledge.grades import Grade


def sketch(key: str, name: str, given: str, end: str = "", shape: str = "()") -> Sketch:
    return Sketch(key, name, given.encode(), (end or given).encode(), shape, ((given, 1),))


def told(pairs: tuple[ModulePair, ...]) -> list[tuple[int | None, int | None, Grade]]:
    return [(pair.base, pair.head, pair.grade) for pair in pairs]


def test_the_same_modules_in_another_order() -> None:
    base = [sketch("1", "jit_f", "f"), sketch("2", "jit_g", "g")]
    head = [sketch("7", "jit_g", "g"), sketch("9", "jit_f", "f")]

    assert told(pair_modules(base, head)) == [(1, 0, Grade.EXACT), (0, 1, Grade.EXACT)]


def test_compilations_of_one_function_find_their_own() -> None:
    base = [sketch("1", "jit_f", "f8"), sketch("2", "jit_f", "f16"), sketch("3", "jit_f", "f32")]
    head = [sketch("1", "jit_f", "f32"), sketch("2", "jit_f", "f8"), sketch("3", "jit_f", "f16")]

    assert told(pair_modules(base, head)) == [
        (2, 0, Grade.EXACT),
        (0, 1, Grade.EXACT),
        (1, 2, Grade.EXACT),
    ]


def test_a_changed_program_is_found_by_name_and_signature() -> None:
    base = [sketch("1", "jit_f", "gelu"), sketch("2", "jit_f", "other", shape="(f32[9])")]
    head = [sketch("1", "jit_f", "relu")]

    assert told(pair_modules(base, head)) == [(0, 0, Grade.MATCHED), (1, None, Grade.EXACT)]


def test_a_renamed_module_is_found_by_its_program() -> None:
    pairs = pair_modules([sketch("1", "jit_f", "f")], [sketch("1", "jit_renamed", "f")])

    assert told(pairs) == [(0, 0, Grade.MATCHED)]
    assert pairs[0].reason == "same program under another name"


def test_a_number_that_the_framework_appends_does_not_count() -> None:
    pairs = pair_modules(
        [sketch("1", "SyncTensorsGraph.120", "f")], [sketch("1", "SyncTensorsGraph.7", "f")]
    )

    assert told(pairs) == [(0, 0, Grade.EXACT)]


def test_what_is_new_and_what_is_gone() -> None:
    pairs = pair_modules([sketch("1", "jit_f", "f")], [sketch("1", "jit_g", "g", shape="(x)")])

    assert told(pairs) == [(None, 0, Grade.EXACT), (0, None, Grade.EXACT)]


def test_modules_extracted_for_autotuning_are_paired_by_content_alone() -> None:
    base = [
        sketch("1", "jit_f", "f"),
        sketch("2", "fused_add.3", "x"),
        sketch("3", "fused_add", "y"),
    ]
    head = [
        sketch("1", "jit_f", "g"),
        sketch("2", "fused_add.3", "y"),
        sketch("3", "fused_add", "z"),
    ]
    told_apart = pair_modules(base, head, extracted=({1, 2}, {1, 2}))

    assert [(pair.base, pair.head, pair.extracted) for pair in told_apart] == [
        (0, 0, False),
        (2, 1, True),
        (None, 2, True),
        (1, None, True),
    ]
