import json
from collections.abc import Callable

import pytest

from xlareport.analysis.steps.configs import config_change
from xlareport.hlo.model import HloModule, Instruction

Read = Callable[[str], HloModule]


def configured(read: Read, config: object) -> Instruction:
    text = config if isinstance(config, str) else json.dumps(config, separators=(",", ":"))
    attribute = f", backend_config={text}" if text else ""
    module = read(f"ENTRY %main (x: f32[]) -> f32[] {{\n  %x = f32[] parameter(0)\n"
                  f"  ROOT %a = f32[] tanh(%x){attribute}\n}}")  # fmt: skip
    return module.computations[0].by_name["a"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("", {"a": 1}, "set a to 1"),
        ("", {"a": 1, "b": [], "c": {"lists": []}}, "set a to 1"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "changed b from 2 to 3"),
        ({"a": {"b": "x"}}, {"a": {"b": "x", "c": [1]}}, "set c"),
        ({"a": {"b": "x"}}, {"a": {}}, "cleared b"),
        ({"a": 1}, {"a": "y" * 90}, "changed a from 1"),
        (
            "",
            {"a": {"b": False, "c": "DEFAULT", "d": "MODE_INVALID", "e": "ONE_SHOT", "f": "3"}},
            'set a with e "ONE_SHOT"',
        ),
        ("", {"a": {"e": "ONE", "f": "TWO"}}, "set a"),
        ("", dict.fromkeys("abcdef", 1), "set a to 1, set b to 1, set c to 1, set d to 1, 2 more"),
    ],
)
def test_fields_that_differ(read: Read, before: object, after: object, words: str) -> None:
    told = config_change(configured(read, before), configured(read, after))
    assert told == f"backend_config: {words}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", {"a": []}),
        ("", "{a}"),
        ("[1]", {"a": 1}),
        ({"a": 1}, ""),
        ("", "[" * 5000 + "]" * 5000),
    ],
)
def test_what_has_no_fields_that_differ(read: Read, before: object, after: object) -> None:
    assert config_change(configured(read, before), configured(read, after)) == ""
