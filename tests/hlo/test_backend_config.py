import pytest
from tests.modules import parse_module

from xlareport.hlo.backend_config import read_backend_config


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (', backend_config={"a":1}', {"a": 1}),
        (r', backend_config="{\"a\":1}"', {"a": 1}),
        (', backend_config="__onednn"', None),
        ("", None),
        (f', backend_config={{"a":"{"x" * 200_000}"}}', None),
    ],
)
def test_values_raw_and_in_quotes(written: str, value: object) -> None:
    text = f"HloModule m\n\nENTRY %main {{\n  ROOT %a = f32[] constant(1){written}\n}}\n"
    module = parse_module(text)
    assert read_backend_config(module.computations[0].instructions[0]) == value
