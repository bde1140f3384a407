"""The step that partitioned a program, and the counterparts of its instructions."""

import pytest
from msgspec.structs import replace
from tests.modules import parse_module

from xlareport.analysis.collectives.partitioning import (
    REPLICATED,
    Moved,
    PartitioningStep,
    chain_back,
    consumer_of,
)
from xlareport.analysis.matching.match import match
from xlareport.analysis.shardings.partitioning import Partitioning
from xlareport.hlo.model import Computation
from xlareport.knowledge.grades import Grade

DIMS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
BEFORE = """HloModule m

ENTRY e {
  x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}
  w = f32[4,4] parameter(1)
  d = f32[8,4] dot(x, w), DIMS, sharding={devices=[2,1]<=[2]}, metadata={op_name="f/dot"}
  n = f32[8,4] negate(d), metadata={op_name="f/act"}
  s = f32[8,4] add(n, n), metadata={op_name="f/act"}
  ROOT t = (f32[8,4]) tuple(s)
}
"""
AFTER = """HloModule m

ENTRY e {
  x = f32[4,4] parameter(0)
  w = f32[4,4] parameter(1)
  d = f32[4,4] dot(x, w), DIMS, metadata={op_name="f/dot"}
  c = f32[4,4] copy(d), metadata={op_name="f/dot"}
  g = f32[8,4] all-gather(c), dimensions={0}, replica_groups={{0,1}}, metadata={op_name="f/dot"}
  r = f32[8,4] reshape(g)
  n = f32[8,4] negate(r), metadata={op_name="f/act"}
  s = f32[8,4] add(n, n), metadata={op_name="f/act"}
  ROOT t = (f32[8,4]) tuple(s)
}
"""


@pytest.fixture(scope="module")
def step() -> PartitioningStep:
    before, after = (parse_module(text.replace("DIMS", DIMS)) for text in (BEFORE, AFTER))
    return PartitioningStep(Partitioning(before, after), match(before, after))


def entries(step: PartitioningStep) -> tuple[Computation, Computation]:
    before, after = step.before.entry, step.after.entry
    assert before is not None
    assert after is not None
    return before, after


def test_without_a_sharding_a_value_is_replicated_once_propagation_is_done(
    step: PartitioningStep,
) -> None:
    before, _ = entries(step)
    propagated = replace(step, partitioning=replace(step.partitioning, is_propagated=True))
    assert step.sharding(before.by_name["d"]) == "{devices=[2,1]<=[2]}"
    assert step.sharding(before.by_name["w"]) == ""
    assert propagated.sharding(before.by_name["w"]) == REPLICATED
    assert propagated.sharding(before.by_name["t"]) == ""  # a tuple is no value


def test_only_operands_of_known_sharding_are_named(step: PartitioningStep) -> None:
    before, _ = entries(step)
    values = step.operands(before, before.by_name["d"])
    assert [(value.instruction, value.sharding) for value in values] == [
        ("x", "{devices=[2,1]<=[2]}")
    ]


def test_an_op_of_several_instructions_is_a_guess(step: PartitioningStep) -> None:
    alone, several = step.by_op_name("f/dot"), step.by_op_name("f/act")
    assert alone is not None
    assert several is not None
    assert (alone.instruction.name, alone.grade) == ("d", Grade.MATCHED)
    assert (several.instruction.name, several.grade) == ("n", Grade.GUESSED)
    wanted = step.by_op_name("f/act", ["add"])
    assert wanted is not None
    assert (wanted.instruction.name, wanted.grade) == ("s", Grade.MATCHED)
    assert step.by_op_name("g") is step.by_op_name("") is None


def test_what_no_instruction_of_the_op_was_is_inserted(step: PartitioningStep) -> None:
    _, after = entries(step)
    assert step.is_inserted(after.by_name["g"])
    assert not step.is_inserted(after.by_name["d"])
    assert not step.is_inserted(after.by_name["r"])  # without op_name nothing is known


def test_parameters_correspond_by_their_numbers(step: PartitioningStep) -> None:
    before, after = entries(step)
    counterpart = step.counterpart(after, after.by_name["w"])
    assert counterpart is not None
    assert (counterpart.instruction, counterpart.grade) == (before.by_name["w"], Grade.EXACT)


def test_others_correspond_by_the_matching(step: PartitioningStep) -> None:
    before, after = entries(step)
    counterpart = step.counterpart(after, after.by_name["d"])
    assert counterpart is not None
    assert counterpart.instruction is before.by_name["d"]
    assert step.counterpart(after, after.by_name["g"]) is None
    gather = after.by_name["g"]
    chain = tuple(chain_back(after, gather))
    assert not step.is_without_counterpart(Moved(after, gather, chain))
    assert step.is_without_counterpart(Moved(after, gather, ()))


def test_moves_of_data_are_followed_in_both_directions(step: PartitioningStep) -> None:
    _, after = entries(step)
    assert [line.name for line in chain_back(after, after.by_name["g"])] == ["c", "d"]
    consumer = consumer_of(after, after.by_name["c"])
    assert consumer is after.by_name["n"]
    assert consumer_of(after, after.by_name["t"]) is None
