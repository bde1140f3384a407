import json
import re

from xlareport.dump.filename import parse
from xlareport.knowledge import element_types, opcodes
from xlareport.pages.glossary.page import lexicon
from xlareport.pages.tables import Column, Table, lean_payloads
from xlareport.pages.tokens import NameCells
from xlareport.storage.payloads import decode_payload


def test_every_kind_of_word_has_its_entries() -> None:
    words = lexicon(["dce"])["words"]

    assert words["opcode"]["dot"].startswith("Multiplies matrices")
    assert words["type"]["bf16"].startswith("Floating point in 16 bits")
    assert "xla_dump_to" in words["flag"]
    assert set(words["pass"]) == {"dce"}


def test_a_pass_that_is_not_known_is_said_to_be_a_guess() -> None:
    words = lexicon(["no-such-pass", "pipeline-start"])["words"]["pass"]

    assert words["no-such-pass"].startswith("Not known. ")
    assert "NoSuchPass (a guess)" in words["no-such-pass"]
    assert words["pipeline-start"].startswith("Not a pass")


def test_sentences_are_plain_and_patterns_are_those_of_scripts() -> None:
    found = lexicon([])

    assert "`" not in json.dumps(found["words"])
    assert found["instruction"]["forms"]
    assert not any(re.search(r"\(\?P", form) for form in found["instruction"]["forms"])


def test_types_know_their_bits_and_every_type_has_words() -> None:
    found = lexicon([])

    assert found["bits"]["s4"] == 8
    assert set(found["bits"]) <= set(element_types.all_entries())


def test_opcodes_come_whole() -> None:
    assert set(lexicon([])["words"]["opcode"]) == set(opcodes.all_entries())


def test_a_column_says_what_its_cells_name_and_nothing_empty() -> None:
    table = Table((Column("Opcode", "code", of="opcode"), Column("Size")), [])

    assert table.payload()["columns"] == [
        {"title": "Opcode", "kind": "code", "of": "opcode"},
        {"title": "Size", "kind": "text"},
    ]


def test_parts_of_a_name_lead_to_their_entries() -> None:
    cells = NameCells()
    cells.cell(parse("module_0001.jit_f.0002.simplification.after_dce.before_cse.txt"))
    words = [one[1] for one in cells.meanings if isinstance(one, list)]

    assert words == ["pass:simplification", "pass:dce", "pass:cse", "kind:hlo-text"]


def test_a_name_in_a_table_leaves_to_the_tables_of_words_what_a_pass_does() -> None:
    cells = NameCells()
    cells.cell(parse("module_0001.jit_f.0002.simplification.after_dce.before_cse.txt"))

    (sentence,) = (one[0] for one in cells.meanings if one[1] == "pass:dce")
    assert lexicon(["dce"])["words"]["pass"]["dce"] not in sentence


def test_equal_columns_of_tables_are_one_payload() -> None:
    columns = (Column("Opcode", "code", of="opcode"), Column("Count", "int"))
    one, heads = lean_payloads("x", {"opcodes": Table(columns, [["dot", 1]])})
    other, again = lean_payloads("y", {"opcodes": Table(columns, [["add", 2]])})

    assert heads == again
    assert [each["title"] for each in decode_payload(heads)] == ["Opcode", "Count"]
    assert {decode_payload(each)["columns"] for each in (one, other)} == {
        heads.key.partition("/")[2]
    }
