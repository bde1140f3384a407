"""What follows from the facts about a collective."""

from types import SimpleNamespace

import pytest

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.collective_rows import CollectiveOrigin, CollectiveRow


def row(exposed: float | None, executions: int | None) -> CollectiveRow:
    figures = SimpleNamespace(
        collective="c", executions=executions, overlap=SimpleNamespace(exposed_seconds=exposed)
    )
    return CollectiveRow(figures, "", "", None, None, "", (), "", (), "", "", "")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("exposed", "executions", "seconds"),
    [(0.5, 4, 2.0), (0.0, 4, 0.0), (None, 4, None), (0.5, None, None)],
)
def test_exposed_time_of_a_run_is_known_only_with_the_executions(
    exposed: float | None, executions: int | None, seconds: float | None
) -> None:
    assert row(exposed, executions).exposed_seconds == seconds


def test_a_cause_that_is_not_known_has_no_name() -> None:
    def origin(cause: CauseKind | None) -> CollectiveOrigin:
        return CollectiveOrigin(None, "", None, "", cause, "", "", (), None, "")

    assert origin(CauseKind.RESHARDING).cause_name == CauseKind.RESHARDING.value
    assert origin(None).cause_name is None
