"""Options of `build` on devices and sources."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner, Result
from tests.parts import part

from xlareport.cli.build import command

Unpack = Callable[[str], Path]
TABLE = """[board]
name = "my board"
aliases = ["sm_9.0a"]
matrix_flops = { f32 = 1e12 }
bandwidth = 1e11
source = "measured"
"""


def build(dump: Path, out: Path, *options: str) -> Result:
    arguments = [str(dump), "--out", str(out), "--no-html", "--quiet", "--jobs", "1", *options]
    return CliRunner().invoke(command, [*arguments, "--pictures", "none"])


def costs(out: Path) -> list[dict[str, object]]:
    report = json.loads((out / "site_src" / "report.json").read_text("utf-8"))
    return [module["expense"] for module in report["modules"] if module["expense"]]


def test_a_device_of_the_users_own(unpacked: Unpack, tmp_path: Path) -> None:
    table = tmp_path / "devices.toml"
    table.write_text(TABLE, "utf-8")
    done = build(unpacked("jax-cpu-train"), tmp_path / "a", "--devices", str(table))
    assert done.exit_code == 0
    assert {cost["device"] for cost in costs(tmp_path / "a")} == {"a default CPU model"}
    options = ("--devices", str(table), "--device", "board")
    assert build(unpacked("jax-cpu-train"), tmp_path / "b", *options).exit_code == 0
    assert {cost["device"] for cost in costs(tmp_path / "b")} == {"my board"}
    assert {cost["device_grade"] for cost in costs(tmp_path / "b")} == {"chosen"}


def test_faults_in_the_table_or_the_name_are_wrong_usage(unpacked: Unpack, tmp_path: Path) -> None:
    table = tmp_path / "devices.toml"
    table.write_text("[board]\nname = 'x'\n", "utf-8")
    done = build(unpacked("jax-cpu-train"), tmp_path / "a", "--devices", str(table))
    assert (done.exit_code, "board" in done.output) == (2, True)
    done = build(unpacked("jax-cpu-train"), tmp_path / "a", "--device", "abacus")
    assert (done.exit_code, "nvidia-h100" in done.output) == (2, True)
    assert not (tmp_path / "a" / "site_src").exists()


def test_sources_are_shown_only_where_asked_for(unpacked: Unpack, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    program = tmp_path / "jax_train.py"
    program.write_text("\n".join(f"line_{number} = 'here'" for number in range(1, 400)), "utf-8")
    for path in unpacked("jax-cpu-train").glob("module_0002.jit_train_step.*optimizations.txt"):
        text = path.read_text("utf-8").replace("/home/user/jax_train.py", str(program))
        (dump / path.name).write_text(text, "utf-8")
    assert str(program) in text
    for out, options in (("without", ()), ("with", ("--with-source",))):
        assert build(dump, tmp_path / out, *options).exit_code == 0
        page = part(tmp_path / out / "site_src", "m/module_0002.jit_train_step.html?source")
        assert ("here&#39;" in page) == bool(options)


def test_a_marker_that_no_module_contains_is_told(unpacked: Unpack, tmp_path: Path) -> None:
    done = build(unpacked("jax-cpu-train"), tmp_path / "a", "--marker", "not_to_be_found")
    assert done.exit_code == 0
    assert "--marker 'not_to_be_found' is in no module, or in several" in done.output
    assert "--marker" not in build(unpacked("jax-cpu-train"), tmp_path / "b").output
