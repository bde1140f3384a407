"""XLA's estimates beside the roofline time: over all runs, and without making the total up."""

from xlareport.analysis.kernels.estimates import XlaEstimate
from xlareport.analysis.kernels.kernel import kernel_record
from xlareport.analysis.kernels.record import ModuleKernels
from xlareport.analysis.kernels.resources import KernelEvidence
from xlareport.pages.cost.tables import with_estimates
from xlareport.pages.tables import Column, Table

TABLE = Table(
    (Column("Instruction"), Column("Share"), Column("Roofline"), Column("Bound by")),
    [["a", 0.5, 1.0, "memory"], ["b", 0.5, 1.0, "memory"]],
)
KERNEL = kernel_record(KernelEvidence("k", named=1), [("main", "a", "exact")], None, ())


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
    table = with_estimates(TABLE, kernels(a=own), {"a": 4, "b": 1})
    assert [column.title for column in table.columns] == [
        *("Instruction", "Share", "Roofline", "XLA gpu-cost-model µs", "Launch µs", "Bound by"),
        "XLA sol µs",
    ]
    assert table.rows == [
        ["a", 0.5, 1.0, 2.0, 4.0, "memory", 1.0],
        ["b", 0.5, 1.0, None, None, "memory", None],
    ]


def test_without_estimates() -> None:
    """Launches alone; an instruction that runs an unknown number of times has none."""
    table = with_estimates(TABLE, kernels(), {"a": None})
    assert [row[3] for row in table.rows] == [None, None]
