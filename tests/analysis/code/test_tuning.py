"""What the autotuner chose, read off an instruction."""

import json

from xlareport.analysis.code.tuning import read_tuning
from xlareport.hlo.model import Instruction
from xlareport.hlo.text import TextReader


def instruction(config: str) -> Instruction:
    text = f"HloModule m\n\nENTRY e {{\n  ROOT a = f32[] constant(1), backend_config={config}\n}}\n"
    module = TextReader().read(text.encode(), "m.txt")
    assert module is not None
    assert module.entry is not None
    return module.entry.instructions[0]


def test_choices_are_found_at_any_depth_and_the_rest_is_left() -> None:
    gemm = {"block_m": "64", "num_warps": "4"}
    config = {"fusion_backend_config": {"kind": "__triton_gemm", "triton_gemm_config": gemm}}
    found = read_tuning(instruction(json.dumps(config)))
    assert {name: json.loads(value) for name, value in found.items()} == {
        "triton_gemm_config": gemm
    }


def test_what_is_no_json_or_empty_says_nothing() -> None:
    assert read_tuning(instruction("{nonsense}")) == {}
    assert read_tuning(instruction('{"algorithm":{}}')) == {}
