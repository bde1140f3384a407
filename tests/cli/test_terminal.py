import json
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.hostile.conftest import ATTACKS, as_file_name
from tests.walks import LONG_WALKS

from xlareport.cli import xlareport
from xlareport.cli.terminal import printable, say_json

TEXT = "HloModule x\n\nENTRY %e (a: f32[]) -> f32[] {\n  ROOT %a = f32[] parameter(0)\n}\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain, with \N{GREEK SMALL LETTER ALPHA}", "plain, with \N{GREEK SMALL LETTER ALPHA}"),
        ("\x1b[2J\a", "\\x1b[2J\\x07"),
        ("::error::x", "\\x3a:error::x"),
        ("  ::add-mask::x", "  \\x3a:add-mask::x"),
        ("std::vector", "std::vector"),
        ("a ##[warning]b", "a ##\\x5bwarning]b"),
    ],
)
def test_what_would_act_is_spelled_out(text: str, written: str) -> None:
    assert printable(text) == written
    assert printable(written) == written


def test_json_gives_no_orders_and_stays_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"a": "##[group]\n::error::\x1b"})
    said = capsys.readouterr().out
    assert "##[" not in said
    assert "\x1b" not in said
    assert json.loads(said) == {"a": "##[group]\n::error::\x1b"}


TRIED = [*ATTACKS.values(), "::error::x", "##[error]x"]
BUILT = TRIED[-1 :: -1 if LONG_WALKS else -3]
"""What whole builds are tried with, each half a second of work: `make walks` builds with all."""


@pytest.mark.parametrize(
    ("command", "attack"),
    [
        *product(("main", "history"), TRIED),
        *product(("build",), BUILT),
    ],
)
def test_no_command_steers_a_terminal_or_a_job(tmp_path: Path, command: str, attack: str) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    name = f"module_0001.{as_file_name(attack)}.before_optimizations.txt"
    (dump / name).write_text(f"{TEXT}{attack}\n", "utf-8", newline="")
    (dump / as_file_name(attack)).symlink_to("nothing")
    arguments = {
        "main": [],
        "build": ["--no-html", "--out", str(tmp_path / "out")],
        "history": ["%a"],
    }
    asked = [command, str(dump), *arguments[command], "--jobs", "1"]
    said = CliRunner().invoke(xlareport, asked, color=True).output
    assert said
    assert all(one.isprintable() or one == "\n" for one in said)
    assert "##[" not in said
    assert not [line for line in said.splitlines() if line.lstrip().startswith("::")]


def test_a_long_name_of_tensorflow_is_that_of_its_function() -> None:
    from xlareport.cli.terminal import short_name

    long = (
        f"a_inference_step_15__XlaMustCompile_true_config_proto_{10**18}_executor_type_{10**18}_.1"
    )
    assert short_name(long) == "step"
    assert short_name("jit_train_step") == "jit_train_step"
    assert short_name("x" * 100) == "x" * 100
