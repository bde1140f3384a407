"""The action, the recipes and the workflows of this repository, run step by step."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.walks import LONG_WALKS
from tests.workflows.github import ROOT, Job, NotSupportedError, Service
from tests.workflows.gitlab import GitLab

Unpack = Callable[[str], Path]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the steps are for a shell")
long = pytest.mark.skipif(not LONG_WALKS, reason="minutes: `make workflows` does it")

PROGRAM = """
import os, pathlib, re, sys
if code := os.environ.get("CRASH"):
    sys.exit(int(code))
to = pathlib.Path(re.search(r"--xla_dump_to=(\\S+)", os.environ["XLA_FLAGS"])[1])
to.mkdir(parents=True, exist_ok=True)
for path in pathlib.Path("dump").iterdir():
    (to / path.name).write_text(path.read_text())
"""
PULL_REQUEST = """
jobs:
  check:
    steps:
      - uses: actions/checkout@v1
      - id: report
        uses: OWNER/xlareport@main
        with:
          dump: dump
          base: {base}
          comment: "true"
          fail-on: |
            instructions[rollout] > +5%
            new:all-to-all
      - if: always()
        run: |
          echo "${{{{ steps.report.outputs.code }}}} ${{{{ steps.report.outputs.report }}}}" > said
"""
BUDGETS = '[tool.xlareport.budgets]\nfail-on = ["new:all-to-all"]\n'
STAND_IN = """
site=nightly/site/$NIGHT/site state=nightly/state
mkdir -p "$site" "$state"
touch "$site/index.html" "$state/history.jsonl"
rm -f nightly/summary.md nightly/budgets.xml
[ -z "$CRASH" ] || exit "$CRASH"
grep -v "^$NIGHT$" "$state/history.jsonl" > kept || true
echo "$NIGHT" >> kept
mv kept "$state/history.jsonl"
if grep -q all-to-all dump/*; then
  echo "over budget: new:all-to-all" > nightly/summary.md
  echo "<failure/>" > nightly/budgets.xml
  exit 1
fi
"""
"""What `xlareport nightly` leaves, in no time; the long walk has the command itself."""


def git(folder: Path, *command: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *command], cwd=folder, check=True, stdout=-3)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a change")


def write_command(folder: Path, name: str, body: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def repository(tmp_path: Path, unpacked: Unpack) -> Path:
    """Return a repository of a user: a program, the recipes, and a dump that it leaves."""
    folder = tmp_path / "repository"
    dump = folder / "dump"
    dump.mkdir(parents=True)
    for path in unpacked("jax-cpu-train").glob("module_0006.jit_rollout.*optimizations.txt"):
        (dump / path.name).write_bytes(path.read_bytes())
    (folder / "train.py").write_text(PROGRAM)
    (folder / "requirements.txt").write_text("")
    (folder / "pyproject.toml").write_text(BUDGETS)
    shutil.copytree(ROOT / "recipes", folder / "recipes")
    git(folder, "init", "-q")
    commit(folder)
    return folder


def grow(folder: Path) -> None:
    """Give the program other operations."""
    shutil.copytree(folder / "dump", folder / "before", dirs_exist_ok=True)
    for path in (folder / "dump").iterdir():
        path.write_text(path.read_text().replace(" tanh(", " all-to-all("))
    commit(folder)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return an environment with xlareport, and with a `pip` and a `gh` that write what they do."""
    folder = tmp_path / "bin"
    write_command(folder, "xlareport", f'exec "{sys.executable}" -m xlareport "$@"')
    write_command(
        folder, "python", f'[ "$2" = pip ] && exec pip "$@"; exec "{sys.executable}" "$@"'
    )
    write_command(folder, "pip", f'echo "$@" >> "{tmp_path}/pip"')
    write_command(folder, "gh", f'echo "$@" >> "{tmp_path}/gh"')
    home = tmp_path / "home"
    home.mkdir()
    kept = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "HOME": str(home), "PYTHONPATH": str(ROOT / "generator")}


@pytest.fixture(params=["stand-in", pytest.param("xlareport", marks=long)])
def nightly(request: pytest.FixtureRequest, environ: dict[str, str], tmp_path: Path) -> str:
    """Return which `xlareport` runs at night: a stand-in at once, or the command itself."""
    if request.param == "stand-in":
        write_command(tmp_path / "bin", "xlareport", STAND_IN)
    environ["CRASH"] = ""
    return str(request.param)


@pytest.fixture
def service(repository: Path, environ: dict[str, str], tmp_path: Path) -> Service:
    event = {"pull_request": {"number": 7}}
    github = {"event_name": "pull_request", "event": event, "token": "secret", "run_attempt": "1"}
    return Service(repository, tmp_path / "service", environ, github | {"run_id": "1"})


def outcomes(job: Job) -> dict[str, str]:
    """Return the outcome of each step by its name."""
    return {step.name.split(maxsplit=1)[1]: step.outcome for step in job.steps}


def pull_request(service: Service, folder: Path, base: str) -> Job:
    workflow = folder / "check.yml"
    workflow.write_text(PULL_REQUEST.format(base=base))
    return service.run_job(workflow, "check")


def test_a_pull_request_that_costs_more(service: Service, repository: Path, tmp_path: Path) -> None:
    grow(repository)
    job = pull_request(service, tmp_path, "before")

    steps = ("install", "build", "artifact", "compare", "comment", "verdict")
    assert [outcomes(job)[step] for step in steps] == ["success"] * 5 + ["failure"]
    assert (service.folder / "workspace/said").read_text() == "1 xla-report.zip\n"
    assert (service.folder / "artifacts/xla-report/xla-report.zip").is_file()
    assert "over budget" in job.summary
    assert "pr comment 7 --repo owner/repository" in (tmp_path / "gh").read_text()
    assert str(ROOT) in (tmp_path / "pip").read_text()


@long
def test_a_pull_request_that_changes_nothing(service: Service, tmp_path: Path) -> None:
    job = pull_request(service, tmp_path, "dump")

    assert not job.failed
    assert outcomes(job)["verdict"] == "success"
    assert (service.folder / "workspace/said").read_text() == "0 xla-report.zip\n"
    assert "No differences: " in job.summary


@long
def test_without_a_base_nothing_is_compared(service: Service, tmp_path: Path) -> None:
    job = pull_request(service, tmp_path, '""')

    assert outcomes(job)["build"] == "success"
    skipped = [outcomes(job)[step] for step in ("compare", "comment", "verdict")]
    assert skipped == ["skipped"] * 3
    assert not job.failed


@pytest.mark.usefixtures("nightly")
def test_nights_on_github(service: Service, repository: Path, environ: dict[str, str]) -> None:
    def night(run: int, attempt: int = 1, crash: str = "") -> Job:
        service.github = {"run_id": str(run), "run_attempt": str(attempt)}
        service.environ = {**environ, "NIGHT": f"n{run}", "CRASH": crash}
        return service.run_job(ROOT / "recipes/github-nightly.yml", "report")

    def failed(job: Job) -> list[str]:
        return [name for name, outcome in outcomes(job).items() if outcome == "failure"]

    assert [failed(night(1)), failed(night(2))] == [[], []]
    assert (service.folder / "pages/n2/site/index.html").is_file()
    grow(repository)
    assert failed(night(3, 1, crash="7")) == ["sh recipes/nightly.sh python train.py"]
    red = night(3, 2)
    assert failed(red) == ["sh recipes/nightly.sh python train.py"]
    assert "new:all-to-all" in red.summary
    assert (service.folder / "pages/n3/site/index.html").is_file()
    night(4)  # what the second attempt of the red night left is what the next one reads
    history = service.folder / "caches/xla-4-1/state/history.jsonl"
    assert len(history.read_text().splitlines()) == 4


@pytest.mark.usefixtures("nightly")
def test_nights_on_gitlab(repository: Path, environ: dict[str, str], tmp_path: Path) -> None:
    gitlab = GitLab(repository, tmp_path / "gitlab", environ)

    def night(name: str) -> dict[str, int]:
        gitlab.environ = {**environ, "NIGHT": name}
        return gitlab.run_pipeline(ROOT / "recipes/gitlab-nightly.yml")

    assert [night("n1"), night("n2")] == [{"nightly": 0, "pages": 0}] * 2
    grow(repository)
    assert night("n3") == {"nightly": 1, "pages": 0}
    assert all((gitlab.pages / f"n{number}/site/index.html").is_file() for number in (1, 2, 3))
    assert "<failure" in (gitlab.folder / "reports/nightly/budgets.xml").read_text()


@pytest.mark.parametrize(
    "job",
    [
        {"steps": [{"uses": "actions/cache@v4"}]},
        {"steps": [{"uses": "actions/checkout@v1", "with": {"a": 1}}]},
        {"steps": [{"run": "true", "if": "hashFiles('a')"}]},
        {"steps": [{"run": "echo ${{ secrets.TOKEN }}"}]},
        {"steps": [{"run": "true", "timeout-minutes": 1}]},
        {"steps": [], "container": "alpine"},
    ],
)
def test_what_has_no_stand_in_is_refused(
    job: dict[str, object], environ: dict[str, str], tmp_path: Path
) -> None:
    workflow = tmp_path / "other.yml"
    workflow.write_text(yaml.safe_dump({"jobs": {"job": job}}))
    with pytest.raises(NotSupportedError):
        Service(ROOT, tmp_path / "service", environ).run_job(workflow, "job")


RUN = {
    ("ci.yml", "wheel"): {"python": "3.11", "os": "ubuntu-latest"},
    ("ci.yml", "successor"): {},
    ("docs.yml", "site"): {},
    ("release.yml", "build"): {},
}
"""The jobs of this repository that `make workflows` runs, with the values of their matrix."""
NOT_RUN = {
    ("ci.yml", "test"): "is `make test`, which runs this test",
    ("ci.yml", "musl"): "runs in a container of another C library",
    ("ci.yml", "oldest"): "runs in a container of an older Python",
    ("release.yml", "publish"): "publishes",
}


def test_each_job_is_run_or_has_a_reason() -> None:
    jobs = {
        (path.name, job)
        for path in (ROOT / ".github/workflows").iterdir()
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"]
    }
    assert jobs == RUN.keys() | NOT_RUN.keys()


@pytest.mark.packaging
@long
@pytest.mark.parametrize(("workflow", "job"), RUN)
def test_workflows_of_this_repository(workflow: str, job: str, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(ROOT), str(clone))
    if workflow == "release.yml":  # which refuses the placeholder of the address
        subprocess.run(["make", "owner", "OWNER=somebody"], cwd=clone, check=True, stdout=-3)
        commit(clone)
    home = tmp_path / "home"
    home.mkdir()
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    service = Service(clone, tmp_path / "service", plain | {"HOME": str(home)}, make_python=True)
    service.github = {"ref_name": f"v{version(clone)}"}
    run = service.run_job(clone / f".github/workflows/{workflow}", job, RUN[workflow, job])

    assert [step.name for step in run.steps if step.outcome != "success"] == []


def version(clone: Path) -> str:
    command = [sys.executable, str(clone / "scripts/project_version.py")]
    return subprocess.run(command, check=True, text=True, stdout=-1).stdout.strip()
