"""A combiner that joins what others need makes a chain of collectives longer."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.collectives.find import find_collectives
from xlareport.analysis.findings.combined_chains import (
    count_combined,
    find_combiner,
    find_combiners,
    longest_chain,
)
from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.rules import find_findings

MakeCase: TypeAlias = Callable[..., Case]
PAIRS = 17
HEAD = """HloModule m, is_scheduled=true, num_partitions=4

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
"""
GROUPS = "replica_groups=[1,4]<=[4], use_global_device_ids=true, to_apply=add"
ARGUMENTS = [f"  a{n} = f32[64] parameter({n})" for n in range(PAIRS)]
SUMS = ", ".join(f"s{n}" for n in range(PAIRS))
ROOT = f"  ROOT t = ({', '.join(['f32[64]'] * PAIRS)}) tuple({SUMS})\n}}\n"


def reduction(name: str, channel: int, operand: str) -> str:
    return f"  {name} = f32[64] all-reduce({operand}), channel_id={channel}, {GROUPS}"


def separate() -> str:
    """Return pairs of reductions, of which the second needs the first."""
    lines = [
        line
        for n in range(PAIRS)
        for line in (
            reduction(f"r{n}", 2 * n + 1, f"a{n}"),
            f"  n{n} = f32[64] negate(r{n})",
            reduction(f"s{n}", 2 * n + 2, f"n{n}"),
        )
    ]
    return "\n".join([HEAD, *ARGUMENTS, *lines, ROOT])


def combined() -> str:
    """Return the same with each second reduction in one with the first of the next pair."""
    lines, pair = [reduction("r0", 1, "a0")], "(f32[64], f32[64])"
    for n in range(PAIRS - 1):
        lines += [
            f"  n{n} = f32[64] negate(r{n})",
            f"  c{n} = {pair} all-reduce(n{n}, a{n + 1}), channel_id={2 * n + 2}, {GROUPS}",
            f"  s{n} = f32[64] get-tuple-element(c{n}), index=0",
            f"  r{n + 1} = f32[64] get-tuple-element(c{n}), index=1",
        ]
    last = PAIRS - 1
    lines += [f"  n{last} = f32[64] negate(r{last})", reduction(f"s{last}", 2 * PAIRS, f"n{last}")]
    return "\n".join([HEAD, *ARGUMENTS, *lines, ROOT])


def snapshot(text: str, after: str, number: int) -> Any:
    stage = SimpleNamespace(name="pass", after=after, sequence=number, key=f"{number:04d}")
    return SimpleNamespace(hlo=parse_module(text), stage=stage)


def test_only_a_combiner_that_leaves_fewer_collectives_counts() -> None:
    before = snapshot(separate(), "dce", 6)
    after = snapshot(combined(), "gpu-all-reduce-combiner", 7)
    (combiner,) = find_combiners([before, after])
    assert (combiner.name, combiner.number) == ("gpu-all-reduce-combiner", "0007")
    assert combiner.kind == "all-reduce"
    assert not find_combiners([before, snapshot(separate(), "gpu-all-reduce-combiner", 7)])
    assert not find_combiners([before, snapshot(combined(), "dce", 7)])


def test_a_collective_is_of_the_last_combiner_that_gave_it_operands() -> None:
    texts = (separate(), combined(), combined())
    names = ("dce", "gpu-all-reduce-combiner", "gpu-all-reduce-combiner")
    numbered = enumerate(zip(texts, names, strict=True), 6)
    steps = find_combiners([snapshot(*pair, number) for number, pair in numbered])
    module = parse_module(combined())
    collectives = {line.instruction: line for line in find_collectives(module)}
    combiner = find_combiner(steps, module, collectives["c0"])
    assert combiner is not None
    assert combiner.number == "0007"
    assert find_combiner(steps, module, collectives["r0"]) is None
    assert find_combiner((), module, collectives["c0"]) is None


def test_operands_are_those_after_the_combiner_though_a_later_pass_leaves_one() -> None:
    snapshots = [
        snapshot(separate(), "dce", 6),
        snapshot(combined(), "gpu-all-reduce-combiner", 7),
    ]
    later = parse_module(separate())  # as after all-reduce-contiguous: a single operand
    (collective,) = (line for line in find_collectives(later) if line.instruction == "s0")
    combiner = find_combiner(find_combiners(snapshots), later, collective)
    assert combiner is not None
    assert count_combined(combiner, later, collective) == 2


@pytest.mark.parametrize(("text", "length"), [(separate(), 2), (combined(), PAIRS + 1)])
def test_the_longest_chain(text: str, length: int) -> None:
    entry = parse_module(text).entry
    assert entry is not None
    reductions = [line.name for line in entry.instructions if line.opcode == "all-reduce"]
    assert len(longest_chain(entry, frozenset(reductions))) == length


def test_the_finding_names_the_combiner_and_its_option(case_of: MakeCase) -> None:
    case = case_of(combined())
    snapshots = [
        snapshot(separate(), "dce", 6),
        snapshot(combined(), "gpu-all-reduce-combiner", 7),
    ]
    (plain,) = chains(case)
    assert "Shard over fewer devices" in plain.suggestion
    (finding,) = chains(replace(case, combiners=find_combiners(snapshots)))
    assert finding.title == "Chain of small all-reduces, combined"
    assert (
        "gpu-all-reduce-combiner (step 0007) made the chain longer: the longest of this "
        "computation had 2 before it and has 18 after it."
    ) in finding.evidence
    assert "a lower --xla_gpu_all_reduce_combine_threshold_bytes" in finding.suggestion
    assert "larger batch" not in finding.suggestion


def chains(case: Case) -> list[Any]:
    return [finding for finding in find_findings(case) if finding.rule == "chained-collectives"]


def chain_of(opcode: str, attributes: str) -> str:
    """Return 16 collectives, each of the one before, with their argument."""
    lines = ["  v0 = f32[64] get-tuple-element(s), index=0"]
    groups = "replica_groups=[1,4]<=[4]"
    lines += [
        f"  v{n} = f32[64] {opcode}(v{n - 1}), channel_id={100 + n}, {groups}{attributes}"
        for n in range(1, PAIRS)
    ]
    return "\n".join(lines)


def test_chains_of_two_kinds_have_a_common_title(case_of: MakeCase) -> None:
    loops = [
        f"{kind} {{\n  s = (f32[64]) parameter(0)\n{chain_of(opcode, attributes)}\n"
        f"  ROOT t = (f32[64]) tuple(v{PAIRS - 1})\n}}\n"
        for kind, opcode, attributes in (
            ("first", "all-reduce", ", use_global_device_ids=true, to_apply=add"),
            ("second", "all-to-all", ", dimensions={0}"),
        )
    ]
    more = "\n".join(
        [*loops, "cond {\n  s = (f32[64]) parameter(0)\n  ROOT p = pred[] constant(true)\n}\n"]
    )
    entry = (
        "  a = f32[64] parameter(0)\n  i = (f32[64]) tuple(a)\n"
        "  w = (f32[64]) while(i), condition=cond, body=first\n"
        "  ROOT x = (f32[64]) while(w), condition=cond, body=second\n}\n"
    )
    (finding,) = chains(case_of(HEAD.replace("ENTRY", f"{more}\nENTRY") + entry))
    assert finding.title == "Chain of small collectives"
    assert "1 more occurrence" in finding.evidence
