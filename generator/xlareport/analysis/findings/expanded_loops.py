"""Gathers and scatters that the compiler turned into loops over single elements."""

from collections.abc import Iterator

from xlareport.analysis.findings.finding import Case, Finding

LEAST_TRIPS = 8
_NAMES = ("scatter", "gather", "select_and_scatter")


def expanded_loops(case: Case) -> Iterator[Finding]:
    """Report loops that carry the name of a gather or scatter of the framework."""
    for computation, instruction, _ in case.scheduled():
        scope = instruction.metadata.op_name.partition("[")[0]
        last = scope.rpartition("/")[2]
        trips = case.cost.trip_counts.get((computation.name, instruction.name))
        if instruction.opcode != "while" or trips is None or not last.startswith(_NAMES):
            continue
        if trips.count is not None and trips.count < LEAST_TRIPS:
            continue
        times = "an unknown number of" if trips.count is None else str(trips.count)
        yield Finding(
            rule="expanded-loops",
            title=f"A {last} that became a loop",
            places=((computation.name, instruction.name),),
            evidence=f"`{instruction.name}` stands for `{scope}` and runs {times} times.",
            suggestion=(
                "Say what is true of the indices (unique_indices, indices_are_sorted), or write "
                "it as a dense operation: a one-hot product, a segment sum over sorted keys."
            ),
            grade="matched",
            weight=0.0,
        )
