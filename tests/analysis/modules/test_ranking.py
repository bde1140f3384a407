"""The main-program guess: work and data decide, names only help, a tie is called one."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.analysis.modules.features import Features
from xlareport.analysis.modules.measures import Relations, measure_arguments
from xlareport.analysis.modules.module_origin import Origin
from xlareport.analysis.modules.ranking import guess_main, rank_modules
from xlareport.analysis.modules.signature import Argument, Result, Signature
from xlareport.analysis.modules.summary import CustomCallWork, ModuleFigures, ModuleSummary
from xlareport.analysis.profile.instruction_times import ModuleRuns
from xlareport.dump.modules import ModuleFiles
from xlareport.report import BuildOptions, read_report

MEGABYTE = 1 << 20


def argument(number: int, size: int = MEGABYTE, *, donated: bool = False) -> Argument:
    shape = f"f32[{size // 4}]"
    return Argument(number, f"p{number}", f"p{number}", shape, size, donated, "")


def summary(name: str, **changes: object) -> ModuleSummary:
    made = ModuleSummary(
        files=ModuleFiles(name, name, None, name, None, (), ()),
        display_name=name,
        origin=Origin("cpu", "jax"),
        stages=(),
        signature=Signature((argument(0, 16),), (Result("f32[4]", 16),), 1),
        final_stage=None,
        final=ModuleFigures(instructions=10, computations=1, flops=1000, bytes_accessed=1000),
        heaviest=(),
        opcodes=(("add", 10),),
        operations=(("add", 10),),
        matrix_flops=0,
        bit_flops=0,
        collectives=0,
        user_lines=0,
        settings=(),
        problems=(),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def trainer(name: str) -> ModuleSummary:
    arguments = tuple(argument(number, donated=True) for number in range(6))
    results = tuple(Result(one.shape, one.bytes) for one in arguments)
    return summary(
        name,
        signature=Signature(arguments, results, 1),
        final=ModuleFigures(10, flops=10**9, bytes_accessed=10**8, allocated_bytes=10**8),
        matrix_flops=10**9,
    )


def random_numbers(name: str) -> ModuleSummary:
    return summary(
        name,
        final=ModuleFigures(flops=10**9, bytes_accessed=5 * 10**8, allocated_bytes=10**7),
        bit_flops=8 * 10**8,
    )


def test_a_training_step_wins_against_random_numbers_that_move_more_bytes() -> None:
    ranked = rank_modules([random_numbers("jit__normal"), trainer("jit_train_step")]).modules
    assert [module.summary.display_name for module in ranked] == ["jit_train_step", "jit__normal"]


def test_it_wins_under_a_meaningless_name_as_well() -> None:
    ranked = rank_modules([random_numbers("jit_train_step"), trainer("jit_b")]).modules
    assert ranked[0].summary.display_name == "jit_b"


def test_reasons_come_strongest_first_and_in_words() -> None:
    best = rank_modules([trainer("a"), summary("b")]).modules[0]
    points = [piece.points for piece in best.evidence]
    assert points == sorted(points, reverse=True)
    assert "most work" in best.evidence[0].words


def test_two_alike_are_a_tie_and_neither_is_sure() -> None:
    guess = guess_main(rank_modules([trainer("a"), trainer("b")]))
    assert guess is not None
    assert guess.tie
    assert guess.confidence == pytest.approx(0.5)
    assert [one.summary.display_name for one in guess.runners_up] == ["b"]


def test_a_loop_of_unknown_length_that_would_decide_makes_a_tie() -> None:
    once = ModuleFigures(flops=10**6, bytes_accessed=10**6, allocated_bytes=10**8)
    looping = replace(trainer("b"), final=once, open_work=5e6)
    guess = guess_main(rank_modules([trainer("a"), looping]))
    assert guess is not None
    assert guess.tie
    assert guess.otherwise is not None
    assert ("more often" in guess.condition) is (guess.best.summary.display_name == "a")


def solver(hidden_flops: float) -> ModuleSummary:
    calls = CustomCallWork(hidden=1, hidden_bytes=10**7, hidden_flops=hidden_flops)
    return replace(summary("solver"), calls=calls)


def test_a_call_that_cannot_be_counted_competes_with_a_range() -> None:
    guess = guess_main(rank_modules([trainer("a"), solver(10**13)]))
    assert guess is not None
    assert guess.tie
    assert guess.otherwise is not None
    assert "custom calls" in guess.condition
    small = guess_main(rank_modules([trainer("a"), solver(10**6)]))
    assert small is not None
    assert small.sureness == "clear"


def test_the_most_work_is_not_stated_as_fact_where_some_is_not_counted() -> None:
    words = rank_modules([trainer("a"), solver(10**6)]).modules[0].evidence[0].words
    assert "1 custom call cannot be counted" in words
    assert "estimate" in words


def test_steps_that_wait_for_one_another_count_on_an_accelerator() -> None:
    steps = replace(summary("steps"), calls=CustomCallWork(steps=1000.0))
    on_gpu = replace(steps, origin=Origin("gpu", "jax"))
    rival = replace(summary("rival"), final=ModuleFigures(flops=10**6, bytes_accessed=10**6))
    assert rank_modules([rival, on_gpu]).modules[0].summary is on_gpu
    assert rank_modules([rival, steps]).modules[0].summary is rival


def test_no_guess_is_clear_where_another_program_does_as_much() -> None:
    other = replace(summary("b"), final=trainer("b").final)
    guess = guess_main(rank_modules([trainer("a"), other]))
    assert guess is not None
    assert guess.sureness == "likely"


def test_what_a_trace_measured_takes_the_place_of_estimates() -> None:
    small = replace(summary("b"), runs=ModuleRuns(400, 9000.0))
    guess = guess_main(rank_modules([replace(trainer("a"), runs=ModuleRuns(1, 100.0)), small]))
    assert guess is not None
    assert guess.best.summary.display_name == "b"
    assert "ran 400 times" in guess.best.evidence[0].words


def test_the_time_of_a_cut_trace_decides_nothing() -> None:
    cut = replace(trainer("a"), runs=ModuleRuns(1, None))
    small = replace(summary("b"), runs=ModuleRuns(400, 9000.0))
    guess = guess_main(rank_modules([cut, small]))
    assert guess is not None
    assert guess.best.summary.display_name == "a", "by the estimates: it ran longer than was seen"
    assert all(
        evidence.share == 0 for evidence in guess.best.evidence if "watched" in evidence.words
    )


def compilations() -> list[ModuleSummary]:
    """Return a function for two shapes, of which the smaller shows a state, and a rival."""
    features = Features(content="f", places=("f.py:1", "f.py:2"))
    small, large = replace(trainer("jit_f"), features=features), summary("jit_f", features=features)
    large = replace(
        large, files=ModuleFiles("large", "jit_f", None, "large", None, (), ()), final=small.final
    )
    small = replace(small, final=ModuleFigures(10, flops=10**6, bytes_accessed=10**6))
    return [small, large, summary("jit_g", final=large.final, matrix_flops=2 * 10**9)]


def test_what_any_compilation_of_a_function_shows_counts_for_it() -> None:
    small, large, rival = compilations()
    assert rank_modules([large, rival]).modules[0].summary is rival
    best, *_ = rank_modules([small, large, rival]).modules
    assert best.summary.display_name == "jit_f"
    assert any("as its compilation" in evidence.remark for evidence in best.evidence)
    assert best.score == sum(evidence.points for evidence in best.evidence)
    guess = guess_main(rank_modules([small, large, rival]))
    assert guess is not None
    assert [one.summary.display_name for one in guess.runners_up] == ["jit_g"]


def test_compilations_of_other_functions_of_a_name_do_not_count() -> None:
    small, large, rival = compilations()
    other = replace(small, features=replace(small.features, content="o", places=("o.py:1",)))
    ranked = rank_modules([other, large, rival]).modules
    assert all(not candidate.others for candidate in ranked)


def test_a_clear_case_is_sure_and_no_modules_give_no_guess() -> None:
    guess = guess_main(rank_modules([trainer("a"), summary("b")]))
    assert guess is not None
    assert guess.sureness == "clear"
    assert guess.confidence > 0.9
    assert guess_main(rank_modules([])) is None


LABELLED = {
    "jax-gpt2-allpasses": "jit_train_step",
    "jax-cpu-mlp": "jit_train_step",
    "scan_small_text": "jit_simulate",
    "anonymous": "jit__lambda",
    "mlp_big_init": "jit_train_step",
    "diffusion": "jit_sample",
}


@pytest.mark.parametrize(("name", "main"), LABELLED.items())
def test_known_programs_are_found(name: str, main: str, dumps: Path) -> None:
    dump = dumps / name / name
    if not dump.is_dir():
        pytest.skip(f"{dump} is not there")
    report = read_report(dump, BuildOptions(jobs=2))
    assert report.main is not None
    assert report.main.name == main


def test_a_share_of_the_work_names_the_module_with_the_most() -> None:
    larger = replace(trainer("jit_a"), final=ModuleFigures(10, flops=10**9, bytes_accessed=10**9))
    rivals = rank_modules([trainer("jit_step"), larger]).modules
    work = [piece.words for module in rivals for piece in module.evidence if "work" in piece.words]
    assert work == [
        "does the most work of all modules",
        "does 12% of the work of a, the most of all modules",
    ]


def test_what_another_module_has_more_of_comes_after_the_other_reasons() -> None:
    larger = replace(trainer("jit_a"), final=ModuleFigures(10, flops=10**9, bytes_accessed=10**9))
    rivals = rank_modules([trainer("jit_step"), larger]).modules
    (step,) = (module for module in rivals if module.summary.display_name == "jit_step")
    seconds = [piece.is_second for piece in step.evidence]
    assert any(seconds)
    assert seconds == sorted(seconds)


def test_helper_modules_are_no_programs_whose_arguments_count() -> None:
    helper = summary("jit_f", features=Features(operations=(("convert", 1),)))
    program = trainer("jit_step")
    relations = Relations.of([helper, program])
    assert measure_arguments(helper, relations) == 0
    assert measure_arguments(program, relations) == 6 * MEGABYTE
