"""The command line: what it prints, where it writes, how it ends."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xlareport import cli

Unpack = Callable[[str], Path]
Ended = subprocess.CompletedProcess[str]
Run = Callable[..., Ended]


def start(*arguments: str | Path, cwd: Path) -> Ended:
    """Run the command in a process of its own, as users do."""
    source = Path(__file__).parents[2] / "generator"
    return subprocess.run(
        [sys.executable, "-m", "xlareport", *map(str, arguments)],
        cwd=cwd,
        env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command in this process: a start takes half a second."""
    monkeypatch.setattr(cli, "_clean_up_when_ended", lambda: None)
    monkeypatch.setattr(cli, "freeze_objects", lambda: None)

    def run(*arguments: str | Path, cwd: Path) -> Ended:
        command = ["xlareport", *map(str, arguments)]
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as end:
            cli.main()
        return Ended(command, int(end.value.code or 0), *capsys.readouterr())

    return run


def test_build_says_where_to_look_and_what_the_program_is(
    two_modules: Path, tmp_path: Path
) -> None:
    done = start("build", two_modules, "--no-html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    last = done.stdout.splitlines()[-1]
    assert str(tmp_path) in last
    assert "the main program is jit_train_step" in last
    assert (tmp_path / "mkdocs.yml").is_file()


def test_main_prints_the_object_of_the_report(two_modules: Path, tmp_path: Path, run: Run) -> None:
    done = run("main", two_modules, "--json", cwd=tmp_path)
    said = json.loads(done.stdout)
    assert said["name"] == "jit_train_step"
    assert set(said) >= {"module", "name", "confidence", "reasons", "runners_up", "programs"}
    plain = run("main", two_modules, cwd=tmp_path)
    assert said["module"] in plain.stdout


def test_the_list_of_commands_says_what_each_does_and_imports_none() -> None:
    code = (
        "import sys, click.testing, xlareport.cli as cli\n"
        "text = click.testing.CliRunner().invoke(cli.xlareport, ['--help']).output\n"
        "assert not [name for name in sys.modules if name.startswith('xlareport.analysis')]\n"
        "for name in cli.xlareport.list_commands(None):\n"
        "    words = cli.xlareport.get_command(None, name).get_short_help_str(200)\n"
        "    assert f'  {name} ' in text, name\n"
        "    assert words.rstrip('.') in ' '.join(text.split()), (name, words)\n"
    )
    source = Path(__file__).parents[2] / "generator"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(source)})


def test_names_of_tensorflow_are_told_as_people_gave_them(
    unpacked: Unpack, tmp_path: Path, run: Run
) -> None:
    done = run("main", unpacked("tf-add-multiply"), cwd=tmp_path)
    assert done.stdout.splitlines()[1] in {"  the function multiply", "  the function add"}
    done = run("main", unpacked("tf-add-multiply"), "--json", cwd=tmp_path)
    said = json.loads(done.stdout)
    assert said["function"] in {"multiply", "add"}
    assert len(said["name"]) > 100


def test_input_that_cannot_be_read_ends_with_3(tmp_path: Path) -> None:
    done = start("build", tmp_path / "nothing", cwd=tmp_path)
    assert done.returncode == 3
    assert "does not exist" in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_usage_ends_with_2(unpacked: Unpack, tmp_path: Path, run: Run) -> None:
    assert run("build", cwd=tmp_path).returncode == 2
    bad_marker = run("main", unpacked("jax-cpu-train"), "--marker", "(", cwd=tmp_path)
    assert bad_marker.returncode == 2
    assert "not a regular expression" in bad_marker.stderr
    other_marker = run("main", unpacked("jax-cpu-train"), "--marker", "absent", cwd=tmp_path)
    assert other_marker.returncode == 1
    assert "--marker 'absent' is in no module" in other_marker.stderr


def test_somebody_elses_mkdocs_yml_is_left_alone(
    unpacked: Unpack, tmp_path: Path, run: Run
) -> None:
    (tmp_path / "mkdocs.yml").write_text("site_name: mine\n")
    done = run("build", unpacked("jax-cpu-train"), "--no-html", cwd=tmp_path)
    assert done.returncode == 2
    assert "--out" in done.stderr
    made = {path.name for path in tmp_path.iterdir()} - {"build"}  # what coverage writes there
    assert made == {"mkdocs.yml"}


def test_a_report_is_never_written_into_the_dump(
    unpacked: Unpack, tmp_path: Path, run: Run
) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    (text,) = unpacked("jax-cpu-train").glob("*jit_train_step.before_optimizations.txt")
    (dump / text.name).write_bytes(text.read_bytes())
    done = run("build", ".", cwd=dump)
    assert done.returncode == 2
    assert "--out" in done.stderr
    assert [path.name for path in dump.iterdir()] == [text.name]


def test_strict_makes_a_problem_a_breach(unpacked: Unpack, tmp_path: Path, run: Run) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    (text,) = unpacked("jax-cpu-train").glob("*jit_train_step.before_optimizations.txt")
    (dump / text.name).write_bytes(text.read_bytes()[:-300])
    out = tmp_path / "out"
    plain = run("build", dump, "--out", out, "--no-html", cwd=tmp_path)
    assert plain.returncode == 0
    assert "Could not read" in plain.stderr
    assert run("build", dump, "--out", out, "--no-html", "--strict", cwd=tmp_path).returncode == 1


def test_help_names_every_command(tmp_path: Path) -> None:
    said = start("--help", cwd=tmp_path).stdout
    assert all(name in said for name in ("build", "explain", "main"))


def test_output_goes_to_this_machine_only(tmp_path: Path, run: Run) -> None:
    done = run("build", tmp_path, "--out", "gs://bucket/report", cwd=tmp_path)

    assert done.returncode == 2
    assert "output is written to this machine" in " ".join(done.stderr.split())
    assert not (tmp_path / "gs:").exists()


def test_a_dump_without_modules_says_what_it_holds_and_what_is_missing(
    tmp_path: Path, run: Run
) -> None:
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump/module.mlir").write_text("module @jit_f {}\n")
    arguments = ("build", "dump", "--out", "out", "--no-html", "--quiet", "--strict")
    done = run(*arguments, cwd=tmp_path)

    assert "1 file of StableHLO or MLIR" in done.stderr
    assert done.returncode == 1


def test_ptxas_runs_only_when_asked(unpacked: Unpack, tmp_path: Path, run: Run) -> None:
    """`--ptxas` takes no path but behind `=`; its messages are kept below the output folder."""
    kernels, calls = tmp_path / "kernels", tmp_path / "calls"
    kernels.mkdir()
    for path in (unpacked("gpu-kernels") / "sm_90").glob("module_0665.*"):
        shutil.copy(path, kernels)
    made = tmp_path / "ptxas"
    version = "Cuda compilation tools, release 12.9, V12.9.86"
    made.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(calls)!r}, 'a').write('x')\n"
        f"print({version!r}) if '--version' in sys.argv else sys.exit(1)\n"
    )
    made.chmod(0o755)
    plain = run("build", kernels, "--no-html", "--pictures", "none", cwd=tmp_path)
    assert plain.returncode == 0
    assert not calls.exists()
    asked = ("build", f"--ptxas={made}", kernels, "--no-html", "--pictures", "none")
    assert run(*asked, cwd=tmp_path).returncode == 0
    assert len(calls.read_text()) > 1
    assert list((tmp_path / ".cache/xlareport/ptxas").iterdir())
    missing = run("build", f"--ptxas={tmp_path / 'none'}", kernels, cwd=tmp_path)
    assert missing.returncode == 2
    assert "does not run" in missing.stderr
    bare = run("build", "--ptxas", kernels, "--no-html", "--pictures", "none", cwd=tmp_path)
    assert bare.returncode == 0 or "no ptxas: pip install" in bare.stderr


_HEAVY = (
    "xlareport.analysis.module",
    "xlareport.report",
    "networkx",
    "google.protobuf",
    "jinja2",
    "mkdocs",
)


def test_commands_import_what_they_need_when_they_run() -> None:
    program = (
        "import sys, xlareport.cli as cli\n"
        "for name in cli._COMMANDS: cli.xlareport.get_command(None, name)\n"
        "print(*sys.modules)"
    )
    end = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    imported = end.stdout.split()
    assert "xlareport.cli.build" in imported
    assert [name for name in imported if name.startswith(_HEAVY)] == []
