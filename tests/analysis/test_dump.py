"""What holds between modules: duplicates, markers, numbers of processes."""

from msgspec.structs import replace
from tests.analysis import texts
from tests.analysis.conftest import Compile

from xlareport.analysis.dump import AnalyzedDump, StoredAnalyses, relate_modules
from xlareport.analysis.module import ModuleAnalysis
from xlareport.analysis.modules.marker import MarkerHit
from xlareport.analysis.modules.summary import ModuleSummary
from xlareport.analysis.ranks.members import rank_table
from xlareport.dump.grouping import NamedDump, group

SMALL = "  ROOT %p = f32[8]{0} parameter(0)"
LARGE = """  %p = f32[64,64]{1,0} parameter(0)
  ROOT %d = f32[64,64]{1,0} dot(%p, %p), lhs_contracting_dims={1}, rhs_contracting_dims={0}"""
IOTA = """  ROOT %n = f32[{0}] iota(), iota_dimension=0, \
metadata={{source_file="a.py" source_line={0}}}"""
TEXTS = {
    "module_0001.jit_small.before_optimizations.txt": SMALL,
    "module_0002.jit_large.before_optimizations.txt": LARGE,
}


def dump_of(*modules: ModuleAnalysis) -> AnalyzedDump:
    ranks, _ = rank_table("dump", [module.summary for module in modules], group([]))
    stored = StoredAnalyses().extend(modules)
    return AnalyzedDump("dump", NamedDump((), group([]), ()), (), stored, ranks)


def analyses(summaries: list[ModuleSummary]) -> list[ModuleAnalysis]:
    return [ModuleAnalysis(summary) for summary in summaries]


def test_the_marker_decides_before_the_ranking(compiled: Compile) -> None:
    small, large = analyses(compiled(TEXTS))
    plain = relate_modules(dump_of(small, large))
    assert plain.guess is not None
    assert plain.guess.best.summary.display_name == "jit_large"
    hit = MarkerHit(1, "p")
    marked = relate_modules(dump_of(replace(small, marker=hit), large))
    assert marked.guess is not None
    assert marked.guess.best.summary.display_name == "jit_small"
    assert marked.marked == {"module_0001.jit_small": hit}
    assert marked.problems == ()


def test_a_duplicate_is_never_the_main_program(compiled: Compile) -> None:
    small, large = analyses(compiled(TEXTS))
    again = replace(large, same_as=small.summary.files)
    guess = relate_modules(dump_of(small, again)).guess
    assert guess is not None
    assert guess.best.summary.display_name == "jit_small"


def test_each_module_has_its_group_of_recompilations(compiled: Compile) -> None:
    names = {1: "f", 2: "g", 3: "f", 4: "iota", 5: "iota"}
    bodies = (texts.train(16), texts.EAGER, texts.train(32), IOTA.format(8), IOTA.format(9))
    modules = compiled(
        {
            f"module_000{number}.jit_{name}.before_optimizations.txt": body
            for (number, name), body in zip(names.items(), bodies, strict=True)
        }
    )
    dump = dump_of(*analyses(modules))
    relations = relate_modules(dump)
    assert list(dump.module_keys) == [f"module_000{at}.jit_{name}" for at, name in names.items()]
    assert [group.is_helper for group in relations.recompilations] == [False, True]
    assert list(relations.group_of_module) == [0, -1, 0, 1, 1]
    again, helper = relations.recompilation_findings
    assert again is not None
    assert again.rule == "recompilations"
    assert helper is None


def test_processes_are_numbered_in_the_order_of_their_folders(compiled: Compile) -> None:
    in_folders = {f"rank_10/{name}": text for name, text in TEXTS.items()}
    in_folders |= {f"rank_2/{name}": text for name, text in TEXTS.items()}
    relations = relate_modules(dump_of(*analyses(compiled(in_folders))))
    assert relations.ranks.names == ("rank_2", "rank_10")
    assert sorted(relations.ranks.numbers.values(), key=str) == [1, 1, 2, 2]
    assert relations.process_count == 2
