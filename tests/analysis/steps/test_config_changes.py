"""The fields of a backend config that differ."""

import json
from collections.abc import Callable

import pytest

from xlareport.analysis.steps.config_changes import config_change
from xlareport.hlo.model import HloModule, Instruction

Read = Callable[[str], HloModule]


def configured(read: Read, config: object) -> Instruction:
    text = config if isinstance(config, str) else json.dumps(config, separators=(",", ":"))
    attribute = f", backend_config={text}" if text else ""
    module = read(f"ENTRY %main (x: f32[]) -> f32[] {{\n  %x = f32[] parameter(0)\n"
                  f"  ROOT %a = f32[] tanh(%x){attribute}\n}}")  # fmt: skip
    return module.computations[0].by_name["a"]


EIGHTS = "b 8, c 8, d 8, e 8, f"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("", {"a": 1}, "set a to 1"),
        ("", {"a": 1, "b": [], "c": {"lists": []}}, "set a to 1"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "changed b from 2 to 3"),
        ({"a": {"b": "x"}}, {"a": {"b": "x", "c": [1]}}, "set c to [1]"),
        ("", {"a": {"tiles": [{"sizes": ["1", 16]}], "n": 2}}, "set a with tiles [[1,16]] and n 2"),
        ("", {"a": {"init": "0", "step": "1"}}, "set a with init 0 and step 1"),
        ("", {"a": [{"other": 1}]}, "set a"),
        ({"a": {"b": "x"}}, {"a": {}}, "cleared b"),
        ({"a": 1}, {"a": "y" * 90}, "changed a from 1"),
        (
            "",
            {"a": {"b": False, "c": "DEFAULT", "d": "MODE_INVALID", "e": "ONE_SHOT", "f": "3"}},
            'set a with e "ONE_SHOT" and f 3',
        ),
        ("", {"a": {"e": "ONE", "f": "-1"}}, 'set a with e "ONE" and f -1'),
        ("", {"a": dict.fromkeys("bcdefghi", "8")}, f"set a with {EIGHTS} 8, g 8 and 2 more"),
        ("", {"kernel": {"strategy": "E" * 40}}, f'set kernel with strategy "{"E" * 40}"'),
        ("", {"a": {"b": 0, "c": {"d": "INVALID"}}}, "set a with b 0"),
        ("", {"a": {"b": False, "c": {"d": "INVALID"}}}, "set a to defaults"),
        ("", {"a": {"b": {"c": 1}}}, "set a"),
        ("", {"a": "0", "b": {"c": False}, "d": 2}, 'set d to 2, set a to "0", set b to defaults'),
        ("", {"a": []}, "set empty fields"),
        ({"a": 1, "b": 2}, {"a": "1", "b": 3}, "changed b from 2 to 3"),
        ({"a": {"b": 1}}, {"a": {"b": "1"}, "c": {"lists": []}}, "set empty fields"),
        ({"a": {"b": 1}}, {"a": {"b": "1"}}, "wrote the same values in another form"),
        ({"a": True}, {"a": "True"}, 'changed a from true to "True"'),
        ("", dict.fromkeys("abcdef", 1), "set a to 1, set b to 1, set c to 1, set d to 1, 2 more"),
    ],
)
def test_fields_that_differ(read: Read, before: object, after: object, words: str) -> None:
    change = config_change(configured(read, before), configured(read, after))
    assert str(change) == f"backend_config: {words}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "{a}"),
        ("[1]", {"a": 1}),
        ({"a": 1}, ""),
        ("", "[" * 5000 + "]" * 5000),
    ],
)
def test_what_has_no_fields_that_differ(read: Read, before: object, after: object) -> None:
    assert config_change(configured(read, before), configured(read, after)) is None


@pytest.mark.parametrize(
    ("after", "only"),
    [
        ({"a": "0", "b": {"c": False}, "d": "MODE_INVALID", "e": 0.0, "f": False}, True),
        ({"a": [], "b": {"lists": []}}, True),
        ({"a": "0", "b": {"c": 1}}, False),
        ({"a": {"b": {"c": 1}}}, False),
        ({"offload_id": "0"}, False),
        ({"operation_queue_id": "0", "force_earliest_schedule": False}, True),
    ],
)
def test_defaults_that_were_set_are_known(read: Read, after: object, only: bool) -> None:  # noqa: FBT001 - a case
    change = config_change(configured(read, ""), configured(read, after))
    assert change is not None
    assert change.sets_defaults is only
