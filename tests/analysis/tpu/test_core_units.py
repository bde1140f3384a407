from xlareport.analysis.tpu.core_units import (
    LATENCY,
    count_cores,
    find_bottleneck,
    unit_uses,
    with_waste,
)
from xlareport.analysis.tpu.program_record import MatrixWork
from xlareport.knowledge.tpu_cores import cores_like, tpu_cores
from xlareport.readers.llo.utilization import Utilization


def table(*, is_whole: bool = True, **columns: bytes) -> Utilization:
    units = {name.replace("_", ":"): column for name, column in columns.items()}
    return Utilization(tuple(units), dict.fromkeys(units, 2), units, is_whole)


def test_shares_of_the_capacity() -> None:
    uses = unit_uses(table(MXU=b"\2\2\0\0", VLOAD_FILL=b"\2\2\2\2"), None, (1, 3, 1, 1))
    assert (uses["MXU"].used, uses["MXU"].share, uses["MXU"].used_final) == (4, 0.5, None)
    assert uses["MXU"].dynamic_share == 8 / 12
    assert find_bottleneck(uses) == "MXU"


def test_a_bottleneck_needs_a_share() -> None:
    assert find_bottleneck(unit_uses(table(MXU=b"\1\0\0\0"), None, None)) == LATENCY
    assert find_bottleneck(unit_uses(table(is_whole=False, MXU=b"\2"), None, None)) == ""
    assert find_bottleneck({}) == ""


def test_cores_that_share_the_work() -> None:
    core = tpu_cores()["tpu-v5p"]
    half, padded = MatrixWork(50, 100, None, None), MatrixWork(200, 100, None, None)
    assert count_cores([half, padded, None], core) == 2
    assert count_cores([padded], core) == 1
    assert with_waste(padded, 2) == MatrixWork(200, 100, 2, 4.0)
    assert with_waste(half, 1) == half


def test_chips_by_their_units() -> None:
    capacity = {"MXU": 2, "XLU": 2, "VALU": 4, "VSTORE": 2}
    assert [core.name for core in cores_like(capacity)] == ["tpu-v6e", "tpu-7x"]
    assert cores_like({}) == ()
