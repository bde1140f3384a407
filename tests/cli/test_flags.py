"""What `xlareport flags` prints."""

import json
import shlex
from typing import Any

import pytest
from click.testing import CliRunner, Result

from xlareport.cli.flags import command
from xlareport.knowledge.flags import all_entries


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def variables(*arguments: str) -> dict[str, str]:
    """Return what a shell would set by the printed lines."""
    said = run(*arguments).output.splitlines()
    lines = [shlex.split(line) for line in said if line.startswith("export ")]
    return dict(line[1].split("=", 1) for line in lines)


def record(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("--json", *arguments).output)
    return found


def test_what_is_printed_is_what_a_shell_takes() -> None:
    found = variables("--dir", "my dump", "--want", "code")
    assert "--xla_dump_to=my dump" in found["XLA_FLAGS"]
    assert "--xla_dump_emitter_re=llvm|ptx" in found["XLA_FLAGS"]
    assert record("--dir", "my dump", "--want", "code")["environment"] == found


def test_a_backend_has_its_own_flags_only() -> None:
    tpu = record("--backend", "tpu", "--want", "all")
    libtpu = tpu["environment"]["LIBTPU_INIT_ARGS"].split()
    assert libtpu[:2] == ["--xla_mosaic_dump_to=/tmp/dump", "--xla_jf_dump_to=/tmp/dump"]
    assert libtpu[2].startswith("--xla_jf_dump_llo_pass_label_regex=^(")
    assert "xla_gpu_" not in json.dumps(tpu["environment"])
    assert "xla_dump_module_metadata" not in json.dumps(record("--backend", "cpu"))


@pytest.mark.parametrize(
    ("version", "known", "unknown"),
    [
        ("jax==0.4.30", "xla_dump_module_metadata", "xla_dump_emitter_re"),
        ("2026-09", "xla_dump_emitter_re", "xla_generate_hlo_text_to"),
        ("tensorflow==1.12", "xla_generate_hlo_text_to", "xla_dump_to"),
        ("jax==0.4.18", "JAX_COMPILER_DETAILED_LOGGING_MIN_OPS", "xla_dump_emitter_re"),
    ],
)
def test_each_era_has_its_flags(version: str, known: str, unknown: str) -> None:
    flags = record("--version", version, "--want", "all")["flags"]
    said = " ".join(flag["text"] + flag["variable"] for flag in flags)
    assert known in said
    assert unknown not in said


def test_no_flag_is_printed_that_xla_has_dropped() -> None:
    for frontend in ("jax", "tensorflow", "pytorch_xla", "ipu"):
        flags = record("--frontend", frontend, "--want", "all")["flags"]
        names = [flag["text"].partition("=")[0].lstrip("-") for flag in flags]
        known = [all_entries()[name] for name in names if name in all_entries()]
        assert not [one.name for one in known if one.until]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--version", "3"], "releases are known of jax, tensorflow"),
        (["--want", "milk"], "'milk' is none of modules"),
        (["--backend", "abacus"], "abacus"),
    ],
)
def test_what_is_not_known_is_said(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in done.output
