"""XLA's estimates beside the roofline time: over all runs, and without making the total up."""

from types import SimpleNamespace
from typing import Any

from xlareport.analysis.kernels.estimates import XlaEstimate
from xlareport.analysis.kernels.kernel import kernel_record
from xlareport.analysis.kernels.kernel_resources import KernelEvidence
from xlareport.analysis.kernels.record import ModuleKernels
from xlareport.pages.cost.tables import estimate_columns
from xlareport.pages.tables import tabulate

KERNEL = kernel_record(KernelEvidence("k", named=1), [("main", "a", "exact")], None, ())


def rows(**executions: int | None) -> Any:
    return [
        SimpleNamespace(instruction=name, cost=SimpleNamespace(executions=count))
        for name, count in executions.items()
    ]


def kernels(**estimates: tuple[XlaEstimate, ...]) -> ModuleKernels:
    return ModuleKernels(
        kernels=(KERNEL,),
        device="",
        capability="",
        multiprocessors=None,
        multiprocessors_source="",
        is_hypothetical=False,
        compiler="",
        estimates=estimates,
    )


def test_columns_of_every_model() -> None:
    """The main model stands beside the roofline, the others behind; times are of all runs."""
    own = (XlaEstimate("gpu-cost-model", 0.5, None), XlaEstimate("sol", 0.25, None))
    near, behind = estimate_columns(kernels(a=own))
    assert [column.title for column in near] == ["XLA gpu-cost-model µs", "Launch µs"]
    assert [column.title for column in behind] == ["XLA sol µs"]
    assert tabulate(rows(a=4, b=1), near).rows == [[2.0, 4.0], [None, None]]
    assert tabulate(rows(a=4, b=1), behind).rows == [[1.0], [None]]


def test_without_estimates() -> None:
    """Launches alone; an instruction that runs an unknown number of times has none."""
    near, behind = estimate_columns(kernels())
    assert tabulate(rows(a=None), near).rows == [[None]]
    assert not behind
