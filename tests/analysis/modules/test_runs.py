"""Programs of several runs in one dump."""

from msgspec.structs import replace
from tests.analysis import texts
from tests.analysis.conftest import Compile

from xlareport.analysis.modules.measures import Relations
from xlareport.analysis.modules.ranking import guess_main, rank_modules
from xlareport.analysis.modules.runs import Run, find_runs
from xlareport.analysis.modules.summary import ModuleSummary

OTHER = """\
  %w = f32[64,64]{1,0} parameter(0)
  %x = f32[64,64]{1,0} parameter(1)
  %y = f32[64,64]{1,0} dot(%w, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %z = f32[64,64]{1,0} tanh(%y)"""


def runs_of(found: list[ModuleSummary], *processes: int | None) -> tuple[Run, ...]:
    keys = (one.files.key for one in found)
    holders = {
        key: () if number is None else (number,)
        for key, number in zip(keys, processes, strict=True)
    }
    return find_runs(Relations.of(found), guess_main(rank_modules(found)), holders)


def compiled_of(compiled: Compile, **programs: str) -> list[ModuleSummary]:
    names = {f"module_{at:04}.{name}": text for at, (name, text) in enumerate(programs.items())}
    return compiled({f"{name}.before_optimizations.txt": text for name, text in names.items()})


def test_each_run_has_its_program(compiled: Compile) -> None:
    found = compiled_of(compiled, jit_init=texts.INIT, jit_step=texts.train(16), jit_serve=OTHER)
    told = runs_of(found, 1, 1, 2)
    assert {run.processes: run.main.best.summary.display_name for run in told} == {
        (1,): "jit_step",
        (2,): "jit_serve",
    }


def test_ranks_of_one_program_are_one_run(compiled: Compile) -> None:
    step, serve = compiled_of(compiled, jit_step=texts.train(16), jit_serve=OTHER)
    again = replace(step, files=replace(step.files, key="again", folder="rank1"))
    assert runs_of([step, again], 1, 2) == ()
    told = runs_of([step, again, replace(serve, files=replace(serve.files, folder="c"))], 1, 2, 3)
    assert sorted(run.processes for run in told) == [(1, 2), (3,)]


def test_one_process_or_unknown_ones_have_no_runs(compiled: Compile) -> None:
    found = compiled_of(compiled, jit_step=texts.train(16), jit_serve=OTHER)
    assert runs_of(found, 1, 1) == ()
    assert runs_of(found, None, None) == ()
    assert find_runs(Relations.of([]), None, {}) == ()
