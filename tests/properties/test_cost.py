"""Whatever a module says, it can be counted: nothing in it stops the analysis."""

from hypothesis import given
from hypothesis import strategies as st
from tests.modules import parse_module
from tests.walks import examples

from xlareport.analysis.collectives.collective_figures import measure_collectives
from xlareport.analysis.collectives.schedule import Schedule
from xlareport.analysis.cost.donation import find_donations
from xlareport.analysis.cost.memory_estimate import estimate_peak
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.rules import find_findings
from xlareport.knowledge.devices import nominal_device

OPCODES = st.sampled_from(
    [
        "add",
        "dot",
        "fusion",
        "while",
        "call",
        "conditional",
        "slice",
        "dynamic-update-slice",
        "sort",
        "convolution",
        "reduce",
        "gather",
        "scatter",
        "tuple",
        "get-tuple-element",
        "custom-call",
        "all-gather",
        "all-reduce-start",
        "async-start",
        "copy-start",
        "copy-done",
        "transpose",
        "reduce-window",
        "fft",
        "cholesky",
        "convert",
        "constant",
        "parameter",
        "unheard-of",
    ]
)
SHAPES = st.sampled_from(
    [
        "f32[]",
        "f32[4,8]{1,0}",
        "bf16[8]",
        "(f32[4], (s32[], pred[2]))",
        "()",
        "token[]",
        "f32[?]",
        "s4[3]{0:E(4)}",
        "f32[0,5]",
        "f32[3,5]{1,0:T(8,128)S(1)}",
        "u8[999999999,999999999]",
    ]
)
ATTRIBUTES = st.sampled_from(
    [
        "",
        "dimensions={1,0}",
        "lhs_contracting_dims={1}",
        "calls=a",
        "to_apply=b",
        "index=0",
        "condition=a, body=b",
        "branch_computations={a, b}",
        "kind=kCustom, calls=b",
        "fft_length={8}",
        "window={size=3x2 stride=0x1}, dim_labels=b01f_01io->b01f",
        "replica_groups=[2,4]<=[8]",
        'custom_call_target="__cublas$gemm", backend_config={"a":1}',
        "select=a, scatter=b",
    ]
)
NAMES = st.sampled_from(["p", "q", "r", "s", "p#0", "q#1#0", "missing"])


@st.composite
def lines(draw: st.DrawFn) -> str:
    operands = ", ".join(draw(st.lists(NAMES, max_size=3)))
    opcode = draw(OPCODES)
    inside = "0" if opcode in ("parameter", "constant") else operands
    rest = draw(ATTRIBUTES)
    name = draw(st.sampled_from(["p", "q", "r", "s"]))
    return f"  {name} = {draw(SHAPES)} {opcode}({inside}){', ' if rest else ''}{rest}"


bodies = st.lists(lines(), min_size=1, max_size=6).map("\n".join)


@given(st.tuples(bodies, bodies, bodies), st.sampled_from(["", ", is_scheduled=true"]))
@examples(100)
def test_every_module_can_be_counted(parts: tuple[str, str, str], header: str) -> None:
    text = f"HloModule m{header}\n\n" + "\n\n".join(
        f"{name} {{\n{body}\n}}" for name, body in zip(("a", "b", "ENTRY e"), parts, strict=True)
    )
    module = parse_module(text)
    cost = count_cost(module)
    assert cost.flops is None or cost.flops >= 0
    assert all(instruction.counted >= 0 for instruction in cost.instructions.values())
    for one in measure_collectives(Schedule(module, cost, nominal_device("tpu"))):
        assert one.wire_bytes is None or one.wire_bytes >= 0
        assert one.overlap.work_seconds >= 0
    estimate_peak(module)
    find_donations(module)
    for finding in find_findings(Case(module, cost, nominal_device("tpu"), module)):
        assert finding.places
