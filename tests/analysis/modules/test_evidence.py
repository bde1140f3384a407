"""Each piece of evidence: its share of the weight, and its words."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.analysis.modules.small_summaries import argument, small_summary

from xlareport.analysis.modules.evidence import PIECES, Evidence
from xlareport.analysis.modules.measures import Assumptions, LargestFigures, Relations
from xlareport.analysis.modules.module_origin import Origin
from xlareport.analysis.modules.signature import Signature
from xlareport.analysis.modules.summary import CustomCallWork, ModuleFigures, ModuleSummary
from xlareport.analysis.profile.instruction_times import ModuleRuns

Judge = Callable[..., Evidence]


@pytest.fixture
def judge() -> Judge:
    rules = {rule.__name__.removeprefix("_by_"): rule for rule in PIECES}

    def evidence(piece: str, summary: ModuleSummary, *others: ModuleSummary) -> Evidence:
        modules = [summary, *others]
        most = LargestFigures.of(modules, Assumptions(trip_count=10), Relations.of(modules))
        return rules[piece](summary, most)

    return evidence


def working(name: str, amount: int) -> ModuleSummary:
    return replace(small_summary(name), final=ModuleFigures(bytes_accessed=amount))


def test_the_share_of_work_is_softened_and_names_the_busiest(judge: Judge) -> None:
    half = judge("work", working("jit_a", 25), working("jit_train", 100))
    assert half.words == "does 25% of the work of train, the most of all modules"
    assert (half.share, half.points, half.is_second) == (0.5, 15, True)
    most = judge("work", working("jit_a", 100), working("jit_b", 25))
    assert (most.words, most.share) == ("does the most work of all modules", 1)
    assert not most.is_second


def test_how_work_was_counted_is_a_remark(judge: Judge) -> None:
    assert judge("work", working("a", 1)).remark == (
        "operations and bytes, loops multiplied by trip count"
    )
    calls = CustomCallWork(hidden=2)
    on_gpu = replace(working("a", 1), origin=Origin("gpu", "jax"), open_work=1.0, calls=calls)
    assert judge("work", on_gpu).remark == (
        "operations, bytes and kernel launches, unknown trip counts assumed to be 10, 2 custom "
        "calls estimated from the data that they take"
    )


def test_a_measured_time_takes_the_place_of_estimates_and_decides(judge: Judge) -> None:
    ran = replace(working("a", 100), runs=ModuleRuns(3, 2000.0))
    longer = replace(working("b", 1), runs=ModuleRuns(1, 8000.0, shared=True))
    assert judge("work", ran, longer).share == judge("matrices", ran, longer).share == 0
    trace = judge("trace", ran, longer)
    assert (trace.words, trace.share) == ("ran 3 times in the profile, 2.0 ms in total", 0.25)
    assert "by itself or with others of its name" in judge("trace", longer, ran).words
    assert trace.weight > sum(judge(rule, ran).weight for rule in ("work", "matrices", "memory"))
    cut = replace(ran, runs=ModuleRuns(None, None))
    assert judge("trace", cut).words == "ran in the profile, the trace is cut"
    assert judge("trace", working("c", 1), ran).share == 0


@pytest.mark.parametrize(
    ("donated", "share", "words"),
    [
        (0, 0, "donates 0 arguments: their memory may be reused for results"),
        (1, 0.5, "donates 1 argument: their memory may be reused for results"),
        (5, 1, "donates 5 arguments: their memory may be reused for results"),
    ],
)
def test_donated_arguments_count_up_to_two(
    judge: Judge, donated: int, share: float, words: str
) -> None:
    arguments = tuple(argument(number, 16, donated=number < donated) for number in range(6))
    summary = replace(small_summary("a"), signature=Signature(arguments, (), 1))
    evidence = judge("donation", summary)
    assert (evidence.share, evidence.words) == (share, words)


def test_a_name_helps_only_a_program(judge: Judge) -> None:
    assert judge("name", small_summary("jit_train_step")).share == 1
    assert judge("name", small_summary("jit_f")).share == 0


def test_of_a_loop_without_a_count_the_part_of_the_work_counts(judge: Judge) -> None:
    loop = replace(small_summary("a"), final=ModuleFigures(bytes_accessed=20), open_work=10.0)
    assert judge("open_loop", loop).share == pytest.approx(100 / 110)
    assert judge("open_loop", small_summary("b")).share == 0
