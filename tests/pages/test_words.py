"""Sentences, rows and options of the home page, made from facts."""

from msgspec.structs import replace
from tests.pages.records_of_modules import module, report, stage

from xlareport.analysis.modules.module_links import ModuleLink
from xlareport.analysis.modules.module_role import ModuleRole
from xlareport.analysis.modules.recompilations import RecompilationGroup
from xlareport.analysis.ranks.rank_groups import RankGroup
from xlareport.pages.coverage.page import coverage_page
from xlareport.pages.words import frameworks, journey, label, lead, many, short_name
from xlareport.records.file_list import FileRecord
from xlareport.records.report import (
    ModuleRecord,
)
from xlareport.records.sentences import sureness


def test_the_lead_names_framework_backend_and_sizes() -> None:
    assert lead(report(module("main"))) == (
        "A JAX program compiled for TPU: 1 module in 3 files, 2.0 KiB."
    )
    assert "unknown backend" in lead(report(module("main"), backends=()))


def test_a_dump_without_modules_is_no_program() -> None:
    assert lead(report()).startswith("No HLO module was found in 3 files, 2.0 KiB. XLA writes")
    assert many(report()) == ""


def keyed(key: str, role: str, group: int | None = None) -> ModuleRecord:
    return replace(module(role), key=key, retrace_group=group)


def test_the_reason_for_many_modules_counts_programs_first() -> None:
    found = [keyed("a", "eager op"), keyed("b", "cast or transfer"), keyed("c", "main")]
    more = [keyed("d", "initialization"), keyed("e", "unknown")]
    assert many(report(*found, *more)) == (
        "5 modules: 1 program, 1 helper, 2 eager ops (dispatched outside jit), "
        "1 other function of unknown role."
    )


def test_a_program_compiled_again_or_by_another_process_is_one_program() -> None:
    modules = keyed("a", "main", 0), keyed("b", "main", 0), keyed("c", "main")
    group = RecompilationGroup("f", ("a", "b"), (), "the same name", 1)
    again = replace(report(*modules), retrace_groups=(group,))
    assert many(again) == "3 modules: 2 programs (compiled 3 times)."
    ranks = replace(again, rank_groups=(RankGroup("f", ("a", "c"), (), 0),))
    assert many(ranks) == "3 modules: 1 program (compiled 3 times)."


def test_parts_that_a_graph_links_are_one_program() -> None:
    found = report(keyed("a", "main"), keyed("b", "main"))
    assert many(found) == "2 modules: 2 programs."
    link = ModuleLink("a", "b", "exact", (), "", ())
    assert many(replace(found, links=(link,))) == "2 modules: 1 program in 2 parts."


BEGIN, END = "before optimizations", "after optimizations"


def test_the_journey_counts_steps_that_changed_something() -> None:
    middle = stage(10, changed=False)
    stages = (stage(10, label=BEGIN), middle, stage(7, changed=True, label=END))
    assert journey(module("main", *stages)) == (
        "10 → 7 HLO instructions (before optimizations → after optimizations). "
        "1 of 2 steps changed the module."
    )
    assert journey(module("main", stages[0], stages[2])).endswith(
        "The only step changed the module."
    )
    unchanged = module("main", stages[0], middle, stage(10, changed=False, label=END))
    assert journey(unchanged).endswith("0 of 2 steps changed the module.")
    assert "1 HLO instruction in the only snapshot" in journey(module("main", stage(1)))


def test_the_journey_says_which_end_is_missing() -> None:
    first, last = stage(10, label=BEGIN), stage(9, changed=True)
    told = journey(module("main", first, last))
    assert "→ last snapshot)." in told
    assert (
        "No readable snapshot after all passes. The compilation may have failed or been stopped."
        in told
    )
    ipu = journey(replace(module("main", last, last), backend="ipu"))
    assert ipu.endswith("No readable snapshot before or after all passes.")


def test_the_journey_says_that_it_was_counted_in_drawings() -> None:
    drawn = [replace(stage(3), files=("a.dot",)), replace(stage(5), files=("b.dot", "b.html"))]
    assert "DOT or HTML graphs" in journey(module("main", *drawn))
    written = replace(stage(5), files=("b.dot", "b.txt"))
    assert "graphs" not in journey(module("main", drawn[0], written))


def test_the_journey_says_why_nothing_was_read() -> None:
    assert journey(module("main", stage(None))) == "No snapshot of this module could be read."
    page = replace(stage(None), files=("a.html",))
    assert "only as HTML" in journey(module("main", page))
    assert "no HLO text or proto of this module" in journey(module("main"))


def test_a_compiler_is_no_framework() -> None:
    assert frameworks(["ipu", "jax"]) == ("JAX",)


def test_long_names_are_shown_by_the_part_that_people_gave() -> None:
    assert short_name("jit_train_step") == "jit_train_step"
    hashes = "config_proto_13561319589895757934_executor_type_11160318154034397263"
    long = f"a_inference_train_step_133__XlaMustCompile_true_{hashes}_.7"
    assert short_name(long) == "train_step"
    assert len(short_name("jit_" + "x" * 300)) == 48


def test_sureness_is_told_in_words() -> None:
    assert [sureness(name) for name in ("clear", "tie")] == ["high confidence", "a tie"]


LONG = (
    "a_inference_step_7__XlaMustCompile_true_config_proto_13561319589895757934_executor_type_11_.7"
)


def test_long_labels_keep_the_number_that_tells_modules_apart() -> None:
    assert label(replace(module("main"), key=f"module_0001.{LONG}", name=LONG, id=None)) == "step"
    assert label(module("main")) == "k"


def test_ids_that_repeat_under_other_names_tell_of_several_processes() -> None:
    one = module("main", stage(3))
    other = replace(one, key="other")
    said = [advice.words for advice in coverage_page(report(one, other), [], [], "").advice]
    assert any("several processes or runs" in words for words in said)
    later = replace(other, timestamp=7)
    said = [advice.words for advice in coverage_page(report(one, later), [], [], "").advice]
    assert not any("several processes or runs" in words for words in said)


def test_modules_for_autotuning_are_parts_of_no_other_compilation() -> None:
    pieces = [keyed(key, ModuleRole.AUTOTUNING) for key in ("b", "c")]
    assert many(report(keyed("a", "main"), *pieces)) == (
        "3 modules: 1 program, 2 modules extracted for autotuning."
    )


def test_a_single_file_without_modules_is_named() -> None:
    alone = replace(report(), files=[FileRecord("a\n.bin", "unknown", None)])
    assert r"('a\n.bin')" in lead(alone)
