import pytest

from xlareport.analysis.tpu.scalar_operations import Value, compute


@pytest.mark.parametrize(
    ("opcode", "values", "result"),
    [
        ("sadd.s32", [4294967295, 1], 0),
        ("ssub.s32", [0, 1], -1),
        ("smul.u32", [3, 5], 15),
        ("sshll.u32", [1, 31], -(1 << 31)),
        ("sshll.u32", [1, 40], 0),
        ("sshrl.u32", [-1, 28], 15),
        ("sshra.s32", [-8, 1], -4),
        ("sand.u32", [6, 3], 2),
        ("scmp.lt.s32.totalorder", [-1, 0], True),
        ("scmp.lt.u32.totalorder", [-1, 0], False),
        ("scmp.lt.f32.totalorder", [0, 1], None),
        ("pnand", [True, None], None),
        ("pnand", [False, None], True),
        ("por", [None, True], True),
        ("sadd.s32", [None, 1], None),
        ("sadd.s32", [1], None),
        ("snew.s32", [1, 2], None),
    ],
)
def test_results(opcode: str, values: list[Value], result: Value) -> None:
    assert compute(opcode, values) == result
