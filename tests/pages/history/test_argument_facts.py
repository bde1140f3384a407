"""What the panel of an argument shows, on programs with donated and sharded arguments."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.analyzed import analyze_named

from xlareport.analysis.cost.donation import DonationRow
from xlareport.analysis.modules.signature import Argument, Signature
from xlareport.pages.history.argument_facts import argument_facts

ARGUMENT = Argument(
    number=0,
    instruction="param",
    label="p",
    shape="f32[4,2]",
    bytes=32,
    donated=False,
    sharding="",
)


def titles(argument: Argument) -> dict[str, str]:
    """Return the sentences on one argument of a module without memory report, by title."""
    facts = argument_facts(Signature((argument,), (), 1), None, None)
    return {title: sentence for _, (title, sentence, _, _) in facts}


def test_without_a_memory_report_nothing_is_said_of_outputs() -> None:
    assert titles(ARGUMENT) == {
        "Argument": "Number 0 of 1, counted from 0; 32 B.",
        "Donation": "Not donated.",
    }


def test_an_unknown_size_is_not_shown_as_none() -> None:
    assert titles(replace(ARGUMENT, bytes=None))["Argument"].endswith("its size is not known.")


@pytest.mark.parametrize(
    ("aliased", "part"), [(True, "input_output_alias"), (False, "buffer_donor")]
)
def test_donated_arguments_say_where_the_header_has_them(part: str, *, aliased: bool) -> None:
    donated = replace(ARGUMENT, donated=True, aliased=aliased)
    assert part in titles(donated)["Donation"]


def test_a_donated_argument_names_the_output(unpacked: Callable[[str], Path]) -> None:
    analyzed = analyze_named(unpacked("gpu-h100x2-train"), "train").analysis
    assert analyzed.cost is not None
    row = DonationRow(0, "p", 32, (12,), donated=True)
    memory = replace(analyzed.cost.memory, donations=(row,))
    donated = replace(ARGUMENT, donated=True, aliased=True)
    facts = argument_facts(Signature((donated,), (), 1), memory, None)
    (said,) = [sentence for _, (title, sentence, *_) in facts if title == "Donation"]
    assert said.startswith("Donated: output 12 is written into its buffer")


def test_a_sharded_argument_has_both_sizes_and_its_sharding(
    unpacked: Callable[[str], Path],
) -> None:
    analyzed = analyze_named(unpacked("gpu-h100x2-train"), "train").analysis
    assert analyzed.shardings is not None
    assert analyzed.cost is not None
    facts = list(
        argument_facts(analyzed.summary.signature, analyzed.cost.memory, analyzed.shardings)
    )
    argument = analyzed.summary.signature.arguments[0]
    value = analyzed.shardings.parameters[0]
    said = {
        title: sentence for name, (title, sentence, *_) in facts if name == argument.instruction
    }
    assert "on each device" in said["Argument"]
    assert value.sharding in said["Sharding"]
    assert said["Donation"].startswith(("Donated", "Not donated"))
    assert {name for name, _ in facts} == {
        each.instruction for each in analyzed.summary.signature.arguments
    }
