"""Warnings of the SPMD partitioner, as releases of XLA have written them."""

from hypothesis import given
from hypothesis import strategies as st
from tests.readers.parsers import Parser, without_problems

from xlareport.readers.partitioner_log import (
    MOST_WARNINGS,
    PartitionerWarning,
    read_partitioner_log,
)

PARTITIONER = (
    b"E spmd_partitioner.cc:509] [spmd] Involuntary full rematerialization. The compiled was not "
    b"able to go from sharding {devices=[4,1]0,1,2,3} to {devices=[1,4]0,1,2,3} without doing a "
    b"full rematerialization of the tensor. You probably want to enrich the sharding.\n"
)
PARSERS = (Parser(without_problems(read_partitioner_log), PARTITIONER, says=False),)
"""For `tests/properties/test_parsers.py`."""


NEW = (
    "W1123 00:05:24.946677   11672 spmd_partitioner.cc:656] [SPMD] Involuntary full "
    "rematerialization. The compiler cannot go from sharding {devices=[2,1,4]<=[4,2]T(1,0)} to "
    "{devices=[1,8,1]<=[8]} efficiently for HLO operation %add.2 = f32[8,16,4]{2,1,0} add(%param, "
    '%param), sharding={devices=[2,1,4]<=[4,2]T(1,0)}, metadata={op_name="jit(f)/add" '
    "stack_frame_id=2}. As the last resort, SPMD will replicate the tensor.\n"
)
OF_2024 = (
    "2024-12-21 17:32:07: E spmd_partitioner.cc:613] [spmd] Involuntary full rematerialization. "
    "The compiler was not able to go from sharding {maximal device=0} to {devices=[4,1]<=[4]} "
    "without doing a full rematerialization of the tensor for HLO operation: %pad = f64[96]{0} "
    "pad(%broadcast.690, %constant), padding=8_7, sharding={maximal device=0}. You probably want "
    "to enrich the sharding annotations to prevent this from happening.\n"
)
OF_2022 = (
    "E spmd_partitioner.cc:509] [spmd] Involuntary full rematerialization. The compiled was not "
    "able to go from sharding {devices=[4,1,1,1]0,1,2,3} to {devices=[2,1,1,2]0,1,2,3} without "
    "doing a full rematerialization of the tensor. You probably want to enrich the sharding.\n"
)


def test_the_texts_of_three_years() -> None:
    log = f"something else\n{NEW}{OF_2024}{OF_2022}".encode()
    assert read_partitioner_log(log) == (
        PartitionerWarning(
            "{devices=[2,1,4]<=[4,2]T(1,0)}",
            "{devices=[1,8,1]<=[8]}",
            "add.2",
            "f32[8,16,4]",
            "jit(f)/add",
        ),
        PartitionerWarning("{maximal device=0}", "{devices=[4,1]<=[4]}", "pad", "f64[96]", ""),
        PartitionerWarning("{devices=[4,1,1,1]0,1,2,3}", "{devices=[2,1,1,2]0,1,2,3}", "", "", ""),
    )


def test_the_same_again_is_counted() -> None:
    (warning,) = read_partitioner_log((NEW * 3).encode())
    assert warning.count == 3


def test_shardings_along_a_mesh() -> None:
    text = NEW.replace("{devices=[1,8,1]<=[8]}", "{mesh['x'=2,'y'=4], [{}, {'x', 'y'}, {}]}")
    (warning,) = read_partitioner_log(text.encode())
    assert warning.to_sharding == "{mesh['x'=2,'y'=4], [{}, {'x', 'y'}, {}]}"


def test_a_log_without_any() -> None:
    assert read_partitioner_log(b"Involuntary full rematerialization\n\xff") == ()


def test_there_is_an_end_to_it() -> None:
    log = "".join(NEW.replace("add.2", f"add.{number}") for number in range(MOST_WARNINGS + 10))
    assert len(read_partitioner_log(log.encode())) == MOST_WARNINGS


@given(st.binary(max_size=100))
def test_any_log_has_an_answer(rest: bytes) -> None:
    read_partitioner_log(NEW.encode()[:150] + rest)
