"""Programs that are run so that XLA dumps: with a stand-in for XLA, and with JAX where it is."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from xlareport.captures.run import Plan, find_dump, levels, plan_capture, run_program
from xlareport.runtime.errors import UnwritableFileError

ROOT = Path(__file__).parents[1]
DUMPS = """
import json, os, sys
from pathlib import Path

def compile_something():
    flags = dict(one.partition("=")[::2] for one in os.environ["XLA_FLAGS"].split())
    folder = Path(flags["--xla_dump_to"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"module_0000.jit_f.{os.getpid()}.debug_options").write_text("")

"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program that stands for one that uses XLA."""
    path = tmp_path / "program.py"
    path.write_text(
        DUMPS + "compile_something()\n"
        "print(json.dumps({**os.environ, 'SAID': sys.stdin.readline()}))\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    return path


def capture(
    out: Path, *command: str | Path, env: dict[str, str] | None = None, level: str = "quick"
) -> "subprocess.CompletedProcess[str]":
    """Run the command as a person does."""
    ours = [sys.executable, "-m", "xlareport", "capture", "--level", level, "--out", str(out)]
    return subprocess.run(
        [*ours, "--", *map(str, command)],
        input="hello\n",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "generator"), **(env or {})},
    )


def flags(plan: Plan) -> list[str]:
    return plan.environment["XLA_FLAGS"].split()


def test_input_output_and_exit_code_are_the_programs_own(program: Path, tmp_path: Path) -> None:
    done = capture(tmp_path / "out", sys.executable, program, "7")
    assert done.returncode == 7
    seen = json.loads(done.stdout)
    assert seen["SAID"] == "hello\n"
    assert "On disk this took" in done.stderr
    assert f"Open {tmp_path / 'out/report/site/index.html'}" in done.stderr
    assert (tmp_path / "out/report/site/index.html").exists()


def test_the_hidden_sitecustomize_is_imported_too(program: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import os\nos.environ['OWN'] = 'yes'\n")
    paths = os.pathsep.join([str(ROOT / "generator"), str(own)])
    done = capture(tmp_path / "out", sys.executable, program, "0", env={"PYTHONPATH": paths})
    assert json.loads(done.stdout)["OWN"] == "yes"
    assert "Error" not in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_each_process_has_a_folder_of_its_own(tmp_path: Path) -> None:
    program = tmp_path / "forks.py"
    program.write_text(
        DUMPS + "import subprocess\n"
        "child = os.fork()\n"
        "compile_something()\n"
        "if child:\n    os.waitpid(child, 0)\n"
        f"    subprocess.run([sys.executable, '-c', {DUMPS + 'compile_something()'!r}])\n"
    )
    plan = plan_capture("quick", tmp_path / "dump", os.environ)
    assert run_program([sys.executable, str(program)], plan) == 0
    dump = find_dump(plan)
    assert dump == tmp_path / "dump"
    folders = {path.parent for path in dump.rglob("*.debug_options")}
    assert len(folders) == 3
    assert all(path.name.split(".")[2] in path.parent.name for path in dump.rglob("module_*"))


def test_the_folder_of_one_process_is_the_dump(tmp_path: Path) -> None:
    plan = plan_capture("quick", tmp_path / "dump", os.environ)
    code = DUMPS + "compile_something()"
    assert run_program([sys.executable, "-c", code], plan) == 0
    dump = find_dump(plan)
    assert dump is not None
    assert dump.parent == tmp_path / "dump"
    assert find_dump(Plan({}, tmp_path / "nowhere", ())) is None


def test_flags_of_the_callers_stay(tmp_path: Path) -> None:
    mine = {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true --xla_dump_hlo_pass_re=fusion"}
    plan = plan_capture("passes", tmp_path / "dump", mine)
    assert flags(plan)[:2] == mine["XLA_FLAGS"].split()
    assert "--xla_dump_hlo_as_text" in flags(plan)
    assert sum(flag.startswith("--xla_dump_hlo_pass_re") for flag in flags(plan)) == 1
    assert plan.notes == ("--xla_dump_hlo_pass_re=fusion stays, as you set it.",)


def test_a_folder_of_the_callers_is_where_the_dump_is(tmp_path: Path) -> None:
    mine = {"XLA_FLAGS": f"--xla_dump_to={tmp_path / 'mine'}"}
    plan = plan_capture("quick", tmp_path / "dump", mine)
    assert plan.folder == tmp_path / "mine"
    assert "PYTHONPATH" not in plan.environment
    assert any("stays, as you set it" in note for note in plan.notes)


def test_a_folder_of_the_callers_that_cannot_hold_the_dump_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder, words in ((tmp_path / "file" / "x", "silently dump nothing"), ("-", "output")):
        plan = plan_capture("quick", tmp_path / "dump", {"XLA_FLAGS": f"--xla_dump_to={folder}"})
        assert words in plan.notes[-1]


def test_flags_in_a_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "flags").write_text("--xla_a=1\n--xla_b=2\n")
    plan = plan_capture("quick", tmp_path / "dump", {"XLA_FLAGS": str(tmp_path / "flags")})
    assert flags(plan)[:2] == ["--xla_a=1", "--xla_b=2"]


def test_what_keeps_a_dump_small_is_named(tmp_path: Path) -> None:
    mine = {
        "XLA_FLAGS": "--xla_dump_hlo_module_re=jit_f",
        "JAX_ENABLE_COMPILATION_CACHE": "true",
    }
    notes = " ".join(plan_capture("quick", tmp_path / "dump", mine).notes)
    assert "--xla_dump_hlo_module_re=jit_f keeps files out" in notes
    assert "what JAX finds in its cache is not compiled" in notes


def test_only_flags_that_the_xla_knows_are_set(tmp_path: Path) -> None:
    old = plan_capture("full", tmp_path / "old", {}, era="2024-01")
    new = plan_capture("full", tmp_path / "new", {}, era="2026-10")
    assert not any("emitter" in flag for flag in flags(old))
    assert any("emitter" in flag for flag in flags(new))


@pytest.mark.parametrize("level", levels())
def test_programs_of_pytorch_xla_name_their_source_lines(level: str, tmp_path: Path) -> None:
    own = plan_capture(level, tmp_path / "dump", {}).environment
    assert (own["XLA_IR_DEBUG"], own["XLA_HLO_DEBUG"]) == ("1", "1")
    mine = plan_capture(level, tmp_path / "kept", {"XLA_HLO_DEBUG": "0"})
    assert mine.environment["XLA_HLO_DEBUG"] == "0"
    assert "XLA_HLO_DEBUG stays 0, as you set it." in mine.notes


def test_a_folder_that_is_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnwritableFileError, match="not empty"):
        plan_capture("quick", tmp_path, {})


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    done = capture(tmp_path / "out", "no-such-program")
    assert done.returncode == 2
    assert "no-such-program could not be started" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_dump_is_explained(tmp_path: Path) -> None:
    done = capture(tmp_path / "out", sys.executable, "-c", "print(1)")
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "XLA dumped nothing" in done.stderr


WAITS = textwrap.dedent(
    """
    compile_something()
    import time
    print("waiting", flush=True)
    time.sleep(100)
    """
)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 128 + signal.SIGINT), (signal.SIGTERM, 128 + 15)]
)
def test_a_program_that_is_interrupted_has_its_report(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    ended, said = interrupted(tmp_path / "out", number, sys.executable, DUMPS + WAITS)
    assert ended == code
    assert "Open " in said
    assert (tmp_path / "out/report/site/index.html").exists()


def interrupted(out: Path, number: int, python: str, program: str) -> tuple[int, str]:
    """Capture a program and interrupt it when it says that it waits; return how it ended."""
    ours = [sys.executable, "-m", "xlareport", "capture", "--level", "quick", "--out", str(out)]
    running = subprocess.Popen(
        [*ours, "--", python, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "generator"), "JAX_PLATFORMS": "cpu"},
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    if number == signal.SIGINT:
        os.killpg(running.pid, number)
    else:
        running.send_signal(number)
    _, said = running.communicate()
    return running.returncode, said


JAX = os.environ.get("XLAREPORT_JAX_PYTHON", "")
FORKS = """
import multiprocessing as mp
def work(n):
    import jax
    print(jax.jit(lambda x: x * n)(1.0))
if __name__ == "__main__":
    them = [mp.get_context({way!r}).Process(target=work, args=(n,)) for n in (1, 2)]
    [one.start() for one in them]
    [one.join() for one in them]
"""
PROGRAMS = {
    "succeeds": ("import jax\njax.jit(lambda x: x + 1)(1.0)\n", 0, 1),
    "raises": ("import jax\njax.jit(lambda x: x + 1)(1.0)\nraise ValueError\n", 1, 1),
    "forks": (FORKS.format(way="fork"), 0, 2),
    "spawns": (FORKS.format(way="spawn"), 0, 2),
}


@pytest.mark.skipif(not JAX, reason="XLAREPORT_JAX_PYTHON names no Python with JAX")
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(tmp_path: Path, name: str) -> None:
    text, code, processes = PROGRAMS[name]
    (tmp_path / "program.py").write_text(text)
    done = capture(tmp_path / "out", JAX, tmp_path / "program.py", env={"JAX_PLATFORMS": "cpu"})
    assert done.returncode == code
    folders = {path.parent for path in (tmp_path / "out/dump").rglob("*after_optimizations.txt")}
    assert len(folders) == processes
    assert "the main program is jit__lambda" in done.stderr


@pytest.mark.skipif(not JAX, reason="XLAREPORT_JAX_PYTHON names no Python with JAX")
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
def test_a_program_of_jax_that_is_interrupted(tmp_path: Path) -> None:
    program = "import jax, time\njax.jit(lambda x: x + 1)(1.0)\n"
    program += "print('waiting', flush=True)\ntime.sleep(100)\n"
    code, said = interrupted(tmp_path / "out", signal.SIGINT, JAX, program)
    assert code == 128 + signal.SIGINT
    assert "KeyboardInterrupt" in said
    assert "the main program is jit__lambda" in said


@pytest.mark.skipif(not JAX, reason="XLAREPORT_JAX_PYTHON names no Python with JAX")
def test_a_program_of_jax_that_is_in_its_cache_and_has_flags(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        f"import jax\njax.config.update('jax_compilation_cache_dir', {str(tmp_path / 'c')!r})\n"
        "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.0)\n"
        "jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\n"
        "jax.jit(lambda x: x + 1)(1.0)\n"
    )
    env = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}
    subprocess.run([JAX, tmp_path / "program.py"], env={**os.environ, **env}, check=True)
    assert any((tmp_path / "c").iterdir())
    done = capture(tmp_path / "out", JAX, tmp_path / "program.py", env=env, level="passes")
    assert done.returncode == 0
    dumped = list((tmp_path / "out/dump").rglob("*.txt"))
    assert any("before_optimizations" in path.name for path in dumped), "it was compiled"
    options = next((tmp_path / "out/dump").rglob("*debug_options")).read_text()
    assert "xla_cpu_enable_fast_math: true" in options
