"""Parts of names lead to what explains them."""

import pytest
from msgspec.structs import replace

from xlareport.dump.filename import parse
from xlareport.dump.tokens import table
from xlareport.knowledge.stages import find
from xlareport.pages import token_views
from xlareport.pages.glossary.page import lexicon
from xlareport.pages.token_views import NameCells, meaning_of_stage


def test_parts_of_a_name_lead_to_their_entries() -> None:
    cells = NameCells()
    cells.cell(parse("module_0001.jit_f.0002.simplification.after_dce.before_cse.txt"))
    words = [meaning[1] for meaning in cells.meanings if isinstance(meaning, list)]

    assert words == ["pass:simplification", "pass:dce", "pass:cse", "kind:hlo-text"]


def test_a_name_in_a_table_leaves_to_the_tables_of_words_what_a_pass_does() -> None:
    cells = NameCells()
    cells.cell(parse("module_0001.jit_f.0002.simplification.after_dce.before_cse.txt"))

    (sentence,) = (meaning[0] for meaning in cells.meanings if meaning[1] == "pass:dce")
    assert lexicon(["dce"])["words"]["pass"]["dce"] not in sentence


def test_cells_are_the_same_however_few_parts_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [
        parse(f"module_{number:04d}.jit_f_{number % 3}.{stage}_optimizations.txt")
        for number in range(20)
        for stage in ("before", "after")
    ]
    made = []
    for remembered in (1_000, 1):
        monkeypatch.setattr(token_views, "_REMEMBERED", remembered)
        cells = NameCells()
        made.append(([cells.cell(name) for name in names], cells.meanings))
    assert made[0] == made[1]


def test_a_stage_is_explained_by_its_entry_unless_its_name_has_a_sentence_of_its_own() -> None:
    stage = next(
        token
        for token in parse("module_0001.m.thunk_metadata.txt").tokens
        if token.field == "stage"
    )
    assert meaning_of_stage(stage).startswith("For each thunk, its kind")
    own = replace(stage, text="before_optimization", meaning="Before the passes of hlo-opt.")
    assert meaning_of_stage(own) == own.meaning
    cells = NameCells()
    cells.cell(parse("module_0001.m.thunk_metadata.txt"))
    assert [meaning_of_stage(stage), "stage:thunk_metadata"] in cells.meanings


def test_no_stage_is_explained_twice() -> None:
    """What `stages.toml` explains has a sentence in the other table only if it means another."""
    both = {name for name in table("meanings")["stage"] if find(name) is not None}
    assert both == {
        "after_minimal_partitioner_with_global_shapes",
        "after_optimization",
        "before_optimization",
        "original",
    }
