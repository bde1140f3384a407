"""What became of each line, on a small real dump."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules import parse_module

from xlareport.analysis.cost.fusion_shares import share_fusions
from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.cost_report.source_lines import (
    ReadLines,
    SourceEvidence,
    SourceReport,
    report_source_lines,
)
from xlareport.analysis.source.served_ops import serve_ops
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.devices import nominal_device
from xlareport.readers.stablehlo import read_stablehlo

CPU = nominal_device("cpu")
LINES = [f"line {number}" for number in range(1, 200)]


def read(path: Path) -> HloModule:
    parsed = TextReader().read(path.read_bytes(), path.name)
    assert parsed is not None
    return parsed


def story(evidence: SourceEvidence, lines: ReadLines | None) -> SourceReport:
    cost = count_cost(evidence.final)
    return report_source_lines(evidence, cost, share_fusions(evidence.final, cost, CPU), lines)


@pytest.fixture(scope="module")
def told(unpacked: Callable[[str], Path]) -> SourceReport:
    dump = unpacked("jax-cpu-train")
    (first,) = dump.glob("*jit_train_step.before_optimizations.txt")
    (final,) = dump.glob("*jit_train_step.cpu_after_optimizations.txt")
    (given,) = dump.glob("*jit_train_step/module.mlir")
    operations, _ = read_stablehlo(given.read_bytes(), given.name)
    module = read(final)
    evidence = SourceEvidence(read(first), module, operations, None)
    return story(evidence, lambda _: LINES)


def test_every_line_is_led_from_the_program_to_the_final_module(told: SourceReport) -> None:
    assert told.has_stablehlo
    assert told.lines[0].cost.seconds == max(line.cost.seconds for line in told.lines)
    matrix = next(line for line in told.lines if any(" dot(" in text for text in line.before))
    assert matrix.before_count >= len(matrix.before)
    assert matrix.place.file.endswith("jax_train.py")
    assert any("stablehlo.dot_general" in text for text in matrix.stablehlo)
    assert any(dict(one.operations).get("dot") for one in matrix.became)
    assert matrix.peak_bytes is None, "nothing was said of the peak"


def test_the_lines_add_up_to_the_module(
    told: SourceReport, unpacked: Callable[[str], Path]
) -> None:
    (final,) = unpacked("jax-cpu-train").glob("*jit_train_step.cpu_after_optimizations.txt")
    cost = count_cost(read(final))
    assert sum(line.cost.flops for line in told.lines) + told.unplaced.flops == cost.flops


def test_an_excerpt_is_the_line_with_those_around_it(told: SourceReport) -> None:
    one = told.lines[0]
    assert one.place.line is not None
    numbers = [number for number, _ in one.excerpt]
    assert numbers == list(range(one.place.line - 3, one.place.line + 4))
    assert dict(one.excerpt)[one.place.line] == f"line {one.place.line}"


def test_a_file_that_is_shorter_than_the_line_has_no_excerpt(
    unpacked: Callable[[str], Path],
) -> None:
    (final,) = unpacked("jax-cpu-train").glob("*jit_train_step.cpu_after_optimizations.txt")
    module = read(final)
    evidence = SourceEvidence(None, module, (), ())
    found = story(evidence, lambda _: ["only one"])
    assert all(line.excerpt == () for line in found.lines)
    assert all(line.peak_bytes == 0 for line in found.lines)


FUSED_TWICE = """HloModule m

inner {
  p = f32[4] parameter(0)
  ROOT t = f32[4] tanh(p), metadata={source_file="f.py" source_line=3}
}

outer {
  q = f32[4] parameter(0)
  ROOT i = f32[4] fusion(q), kind=kLoop, calls=inner
}

ENTRY e {
  x = f32[4] parameter(0)
  ROOT o = f32[4] fusion(x), kind=kLoop, calls=outer
}
"""


def test_what_is_fused_twice_is_told_as_the_outermost_fusion() -> None:
    module = parse_module(FUSED_TWICE)
    evidence = SourceEvidence(None, module, (), None)
    (line,) = story(evidence, None).lines
    assert [(one.instruction, one.operations) for one in line.became] == [("o", (("tanh", 1),))]
    assert line.excerpt == ()


SHARED = """HloModule m

large {
  p = f32[4000] parameter(0)
  b = f32[4000] bitcast(p), metadata={source_file="f.py" source_line=3}
  ROOT t = f32[4000] tanh(b), metadata={source_file="f.py" source_line=9}
}

ENTRY e {
  x = f32[4000] parameter(0)
  y = f32[100] parameter(1)
  s = f32[100] sine(y), metadata={source_file="f.py" source_line=3}
  ROOT o = f32[4000] fusion(x), kind=kLoop, calls=large
}
"""


def test_instructions_come_first_in_which_the_line_takes_most_time() -> None:
    """A large fusion may have no more of a line than a bitcast."""
    evidence = SourceEvidence(None, parse_module(SHARED), (), None)
    lines = {line.place.line: line for line in story(evidence, None).lines}
    assert [held.instruction for held in lines[3].became] == ["s", "o"]


FUSION = """HloModule m

fused {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p), metadata={source_file="f.py" source_line=1}
  ROOT b = f32[4] tanh(a), metadata={source_file="f.py" source_line=2}
}

ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] fusion(x), kind=kLoop, calls=fused
}
"""


def test_what_is_fused_counts_to_its_own_line() -> None:
    evidence = SourceEvidence(None, parse_module(FUSION), (), None)
    costs = {line.place.line: line.cost for line in story(evidence, None).lines}
    for number in (1, 2):
        assert costs[number].bytes_accessed == 16, "one reads the parameter, one is the result"
        assert costs[number].seconds == 16 / CPU.bandwidth


COMBINED = """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  p = f32[3000] parameter(0)
  q = f32[1000] parameter(1)
  m = f32[3000] negate(p), metadata={op_name="jit(f)/a/neg" source_file="f.py" source_line=3}
  n = f32[1000] negate(q), metadata={op_name="jit(f)/b/neg" source_file="f.py" source_line=4}
  r = (f32[3000], f32[1000]) all-reduce(m, n), replica_groups={{0,1}}, to_apply=add, \
metadata={op_name="jit(f)/b/neg" source_file="f.py" source_line=4}
  s = f32[3000] get-tuple-element(r), index=0, metadata={op_name="jit(f)/a/neg"}
  ROOT t = f32[1000] get-tuple-element(r), index=1, metadata={op_name="jit(f)/b/neg"}
}"""


def test_a_combined_collective_counts_to_the_lines_of_its_members() -> None:
    module = parse_module(f"HloModule m, num_partitions=2\n\n{COMBINED}\n")
    cost = count_cost(module)
    shares = share_fusions(module, cost, CPU)
    evidence = SourceEvidence(None, module, (), None, serve_ops(module))
    lines = report_source_lines(evidence, cost, shares, None).lines
    sent = {line.place.line: line.cost.bytes_accessed for line in lines}
    assert sent == {3: 2 * 12_000 + 24_000, 4: 2 * 4_000 + 8_000}


def test_members_of_one_op_name_count_to_their_own_lines() -> None:
    """The gradients of all unnamed matmuls have one op_name; on TPUs elements have their lines."""
    first = 'metadata={op_name="jit(f)/a/neg" source_file="f.py" source_line=3}'
    second = 'metadata={op_name="jit(f)/a/neg" source_file="f.py" source_line=4}'
    text = COMBINED.replace("/b/neg", "/a/neg")
    text = text.replace('index=0, metadata={op_name="jit(f)/a/neg"}', f"index=0, {first}")
    text = text.replace('index=1, metadata={op_name="jit(f)/a/neg"}', f"index=1, {second}")
    assert text.count(first) == text.count(second) - 1 == 2
    module = parse_module(f"HloModule m, num_partitions=2\n\n{text}\n")
    evidence = SourceEvidence(None, module, (), None, serve_ops(module))
    costs = {line.place.line: line.cost for line in story(evidence, None).lines}
    assert {line: cost.bytes_accessed for line, cost in costs.items()} == {
        3: 2 * 12_000 + 24_000,
        4: 2 * 4_000 + 8_000,
    }
    assert costs[3].flops == 3 * costs[4].flops == 6_000
    assert costs[3].seconds == pytest.approx(3 * costs[4].seconds)


STACKED = """HloModule m

FileNames
1 "/work/f.py"

FunctionNames
1 "step"
2 "conv"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10}
2 {file_name_id=1 function_name_id=1 line=11}
3 {file_name_id=1 function_name_id=2 line=3}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}
3 {file_location_id=3 parent_frame_id=2}
4 {file_location_id=3 parent_frame_id=3}

ENTRY e {
  p = f32[3000] parameter(0)
  m = f32[3000] negate(p), metadata={op_name="a" stack_frame_id=3}
  n = f32[3000] negate(m), metadata={op_name="b" stack_frame_id=4}
  ROOT r = f32[3000] copy(n), metadata={op_name="b" source_file="/work/f.py" source_line=3}
}
"""


def test_a_line_of_a_helper_has_its_function_and_the_lines_that_call_it() -> None:
    (line,) = story(SourceEvidence(None, parse_module(STACKED), (), None), None).lines
    assert (line.place.short, line.place.function) == ("f.py:3", "conv")
    assert (line.callers, line.call_sites) == (("step",), ("f.py:10", "f.py:11"))
