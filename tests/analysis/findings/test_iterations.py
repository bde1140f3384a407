from collections.abc import Callable

from tests.analysis.findings.texts import having

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.iterations import describe_iterations

LOOP = having("serial-loops").replace("12544", "200")


def test_what_an_iteration_of_the_outermost_loop_runs_is_told(
    case_of: Callable[[str], Case],
) -> None:
    case = case_of(LOOP)
    words = describe_iterations(case, {"body": 800, "e": 5}, 2e-6)
    assert words == " Each of the 200 iterations of `w` has 4 of them: 8 µs."
    assert describe_iterations(case, {"body": 5, "e": 800}, 2e-6) == "", "most are in no loop"
    assert describe_iterations(case, {"body": 100}, 2e-6) == "", "fewer than iterations"


def test_a_loop_of_unknown_trip_count_is_counted_once(case_of: Callable[[str], Case]) -> None:
    text = LOOP.replace("constant(200)", "parameter(1)")
    words = describe_iterations(case_of(text), {"body": 7}, 1e-6)
    assert words == " An iteration of `w` has 7 of them: 7 µs."
