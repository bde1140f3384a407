"""The page of one module of a comparison: times, options, differences and TPU programs."""

import pytest
from msgspec.structs import replace

from xlareport.analysis.compare.comparison import OptionChange, PortChange
from xlareport.analysis.compare.time_changes import ComparedTimes, ScopeChange, TimeChange
from xlareport.analysis.tpu.compared_programs import ProgramSide, TpuProgramChange
from xlareport.compare import compare
from xlareport.knowledge.grades import Grade
from xlareport.pages.compare.module_page import (
    compared_page,
    describe_slowest,
    tabulate_module,
    times_part,
    times_words,
    tpu_programs_table,
)
from xlareport.records.compare import ComparedRecord, DifferenceRecord
from xlareport.report import BuildOptions

HLO = """HloModule jit_f

ENTRY main {
  a = f32[4]{0} parameter(0)
  ROOT b = f32[4]{0} OPCODE(a)
}
"""
SLOWER = TimeChange(("dot.1",), ("dot.2",), 10.0, 40.0, Grade.EXACT, True, "rewritten")  # noqa: FBT003 - a field of a record
TIMES = ComparedTimes(3, 1, 11.0, 41.0, "exact", 1, (SLOWER,), 0, (ScopeChange("mlp", 9.0, 7.0),))


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ComparedRecord:
    folder = tmp_path_factory.mktemp("pair")
    for side, opcode in (("a", "tanh"), ("b", "negate")):
        (folder / side).mkdir()
        file = folder / side / "module_0000.jit_f.cpu_after_optimizations.txt"
        file.write_text(HLO.replace("OPCODE", opcode))
    view = compare(folder / "a", folder / "b", BuildOptions(jobs=1), site=False).view
    return view.modules[0]


def test_times_are_compared_in_a_sentence() -> None:
    assert times_words(TIMES) == (
        "A run took 11 µs in the base and 41 µs in the head (3 runs against 1). "
        "1 instruction slower outside noise."
    )


@pytest.mark.parametrize(
    ("certain", "words"),
    [
        (None, "Of instructions in both, none slower outside noise."),
        (False, "Nothing slower outside noise."),
    ],
)
def test_what_is_not_slower_for_sure_is_not_called_slower(
    words: str, *, certain: bool | None
) -> None:
    unsure = replace(TIMES, slower=0, instructions=(replace(SLOWER, certain=certain),))
    assert times_words(unsure).endswith(words)


def test_a_module_of_a_name_that_others_have_is_in_doubt(module: ComparedRecord) -> None:
    assert times_part(module) is None
    exact = times_part(replace(module, times=TIMES))
    guessed = times_part(replace(module, times=replace(TIMES, grade="guessed", left_out=7)))
    assert exact is not None
    assert guessed is not None
    assert (exact.doubt, guessed.left_out) == ("", 7)
    assert guessed.doubt.startswith("Several modules have this name")


def test_the_slowest_are_those_of_the_head_that_are_slower_for_sure_or_new(
    module: ComparedRecord,
) -> None:
    new = replace(SLOWER, base=(), head=("copy.1", "copy.2"), before=0.0, certain=None, what="new")
    others = (
        replace(SLOWER, certain=False),
        replace(SLOWER, before=50.0),
        replace(SLOWER, head=()),
        replace(SLOWER, certain=None),
    )
    times = replace(TIMES, instructions=(SLOWER, new, *others))
    assert [*describe_slowest(replace(module, times=times))] == [
        "%dot.2 takes 30 µs more: rewritten [exact]",
        "%copy.1, %copy.2 take 40 µs more: new [exact]",
    ]
    assert [*describe_slowest(module)] == []


def test_a_table_is_there_if_it_has_rows(module: ComparedRecord) -> None:
    bare = replace(module, operations=(), one_sided_collectives=(), tpu_programs=())
    assert tabulate_module(bare) == {}
    tables = tabulate_module(replace(bare, times=TIMES))
    assert [*tables] == ["times", "time-scopes"]
    assert tables["times"].rows == [
        ["dot.2", 30.0, 10.0, 40.0, "yes", "rewritten", "dot.1", ["exact", "xr-exact"]]
    ]
    assert tables["time-scopes"].rows == [["mlp", -2.0, 9.0, 7.0]]


def test_an_instruction_of_one_side_has_no_time_in_the_other(module: ComparedRecord) -> None:
    gone = replace(SLOWER, head=(), after=0.0, certain=None)
    (row,) = tabulate_module(replace(module, times=replace(TIMES, instructions=(gone,))))[
        "times"
    ].rows
    assert row[:5] == [None, -10.0, 10.0, None, "not known"]


def test_the_page_has_options_ports_and_places(module: ComparedRecord) -> None:
    shown = compared_page(
        replace(
            module,
            options=(OptionChange("xla_x", None, "true"),),
            ports=(PortChange("argument 3", "f32[2]", None),),
            contrasts=(DifferenceRecord("end", "after", "Changed.", 1, 0, 2, 2),),
        )
    )
    assert shown.options == (("xla_x", "default", "true"),)
    assert shown.ports == (("argument 3", "f32[2]", "none"),)
    ((label, address, headline),) = shown.differences
    assert (label, address) == ("after", "#step=end")
    assert "2 instructions have another layout" in headline
    assert (shown.name, shown.times) == ("jit_f", None)


def test_programs_of_a_tpu_stand_side_by_side() -> None:
    base = ProgramSide(9, 8, 7, 6, "MXU", 0.5, {"MXU": 0.5})
    head = ProgramSide(19, 18, None, 16, "", None, {"VPU": 0.25})
    table = tpu_programs_table(
        [TpuProgramChange("fusion.1", base, head), TpuProgramChange("copy", None, base)]
    )
    assert [column.title for column in table.columns][-4:] == [
        "Base MXU",
        "Head MXU",
        "Base VPU",
        "Head VPU",
    ]
    first, second = table.rows
    assert first == [
        "fusion.1",
        *(7, None),
        *(8, 18),
        *(6, 16),
        *(9, 19),
        *("MXU", None),
        *(0.5, None),
        *(0.5, None, None, 0.25),
    ]
    assert second[:3] == ["copy", None, 7]
