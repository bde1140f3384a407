"""Reports of several nights: the trend, links from report to report, and what a night ends with."""

import json
import os
import re
import sys
import threading
from collections.abc import Callable
from functools import partial
from html import unescape
from http.client import HTTPConnection
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from xlareport.nightly import NightOptions, run_night
from xlareport.pages.nightly.index import NightOutcome, Outcome
from xlareport.records.budgets import parse_budget
from xlareport.report import BuildOptions, build
from xlareport.site.night_folders import NightFolders, NightNameError

Unpack = Callable[[str], Path]


def night_options(root: Path, number: int) -> BuildOptions:
    """Return the options of a report of a night, in a folder of its number."""
    history = root / "history"
    return BuildOptions(out=root / str(number), history=history, html=False, pictures="none")


@pytest.fixture(scope="module")
def nights(unpacked: Unpack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build four nights: from the third on the shapes are larger."""
    root = tmp_path_factory.mktemp("public")
    texts = {
        path.name: path.read_text()
        for path in unpacked("jax-cpu-train").glob("module_0006.jit_rollout.*.txt")
    }
    for number in (1, 2, 3, 4):
        dump = root / f"dump-{number}"
        dump.mkdir()
        for name, text in texts.items():
            grown = re.sub(r"(f32\[4,4\])", "f32[8,8]", text) if number > 2 else text
            (dump / name).write_text(grown)
        build(dump, night_options(root, number))
    return root


def test_the_first_night_says_so(nights: Path) -> None:
    assert "First night" in (nights / "1/site_src/trends.md").read_text()


def test_a_step_leads_to_the_report_of_its_night(nights: Path) -> None:
    page = unescape((nights / "4/site_src/trends.md").read_text())

    assert "4 nights from" in page
    assert re.search(r"FLOPs</td><td>.*\(\+\d", page)
    assert 'href="../../3/site/index.html"' in page


def test_the_home_page_leads_there(nights: Path) -> None:
    assert "trends.html" in (nights / "2/site_src/index.md").read_text()


def test_without_a_history_there_is_no_such_page(unpacked: Unpack, tmp_path: Path) -> None:
    build(unpacked("ipu-dot-only"), BuildOptions(out=tmp_path, html=False))

    assert not (tmp_path / "site_src/trends.md").exists()
    assert "trends.html" not in (tmp_path / "site_src/index.md").read_text()


def test_a_module_keeps_its_page_when_its_number_changes(nights: Path) -> None:
    dump, out = nights / "dump-5", nights / "5"
    dump.mkdir()
    for path in (nights / "dump-1").iterdir():
        (dump / path.name.replace("module_0006", "module_0042")).write_bytes(path.read_bytes())
    build(dump, night_options(nights, 5))

    assert (out / "site_src/m/module_0006.jit_rollout.md").is_file()
    assert "module_0042" in (out / "site_src/m/module_0006.jit_rollout.md").read_text()


PROGRAM = """
import os, pathlib, re, sys
if os.environ.get("JAX_ENABLE_COMPILATION_CACHE") != "false":
    sys.exit("the cache is on")
flags = os.environ["XLA_FLAGS"]
to = pathlib.Path(re.search(r"--xla_dump_to=(\\S+)", flags)[1])
to.mkdir(parents=True, exist_ok=True)
kind = sys.argv[1]
for path in pathlib.Path(sys.argv[2]).iterdir():
    text = path.read_text()
    if kind == "regressed":
        text = text.replace(" tanh(", " all-to-all(")
    if kind == "warm" and "after_optimizations.txt" not in path.name:
        continue  # as XLA dumps what JAX takes from its cache, since August 2025
    (to / path.name).write_text(text)
sys.exit(7 if kind == "crashed" else 0)
"""


class Job:
    """A job that runs every night."""

    def __init__(self, root: Path, dump: Path) -> None:
        self.program = root / "train.py"
        self.program.write_text(PROGRAM)
        self.dump = dump
        self.options = NightOptions(
            root=root / "nightly",
            night="n1",
            title="train",
            budgets=tuple(
                map(parse_budget, ("new:all-to-all", "flops[main] > +5%", "peak_bytes[main] > +5%"))
            ),
            level="quick",
            html=False,
        )

    def run(self, night: str, kind: str, **changes: object) -> NightOutcome:
        options = replace(self.options, night=night, **changes)  # type: ignore[arg-type]
        command = (sys.executable, str(self.program), kind, str(self.dump))
        return run_night(command, options, os.environ)

    def nights(self) -> list[str]:
        history = self.options.root / "state/history.jsonl"
        return [json.loads(line)["report"] for line in history.read_text().splitlines()]


@pytest.fixture
def job(tmp_path: Path, unpacked: Unpack) -> Job:
    dump = tmp_path / "dump"
    dump.mkdir()
    for path in unpacked("jax-cpu-train").glob("module_0006.jit_rollout.*.txt"):
        (dump / path.name).write_bytes(path.read_bytes())
    return Job(tmp_path, dump)


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def statuses(folder: Path, *paths: str) -> list[int]:
    """Return what a server answers that publishes a folder as it is."""
    serve = partial(SilentHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        connection = HTTPConnection("127.0.0.1", server.server_port)
        answers = []
        for path in paths:
            connection.request("GET", path)
            answer = connection.getresponse()
            answers.append(answer.status)
            answer.read()
        connection.close()
        server.shutdown()
    return answers


def test_six_nights(job: Job) -> None:
    kinds = {"n1": "same", "n2": "same", "n3": "regressed"}
    codes = [job.run(night, kind).code for night, kind in kinds.items()]
    codes += [job.run("n3", "regressed").code, job.run("n4", "crashed").code]
    counted = job.nights()
    warm = job.run("n5", "warm")

    assert [*codes, warm.code] == [0, 0, 1, 1, 7, 1]
    assert "a compilation cache answered" in warm.sentence
    assert len(counted) == 3  # the night that ran again counts once, the crashed one not at all
    site = job.options.root / "site"
    assert "crashed" in (site / "index.html").read_text()
    assert (site / "latest/index.html").is_file()
    assert statuses(site, "/", "/latest/") == [200, 200]
    outcomes = NightFolders(job.options.root, "n5").read_outcomes()
    assert [outcome.night for outcome in outcomes] == ["n1", "n2", "n3", "n4", "n5"]


def test_accepting_a_night_moves_the_baseline(job: Job) -> None:
    job.run("n1", "same")
    assert job.run("n2", "regressed", accept=True).code == 0
    assert job.run("n3", "regressed").baseline == "n2"
    assert (job.options.root / "state/baseline").read_text() == "n2\n"


def test_a_program_that_dumps_nothing_is_never_green(job: Job) -> None:
    job.run("n1", "same")
    for path in job.dump.iterdir():
        path.unlink()
    outcome = job.run("n2", "same")

    assert outcome.code == 1
    assert "XLA dumped nothing" in outcome.sentence
    assert not (job.options.root / "summary.md").exists()


def test_a_cached_program_is_no_baseline(job: Job) -> None:
    warm = job.run("n1", "warm")

    assert (warm.code, warm.outcome) == (1, Outcome.UNCHECKED)
    assert "a compilation cache answered" in warm.sentence
    assert job.run("n2", "same").outcome == Outcome.BASELINE


def test_old_nights_go_and_the_baseline_stays(job: Job) -> None:
    for night in ("n1", "n2", "n3"):
        job.run(night, "same", keep=1)

    site = job.options.root / "site"
    assert {path.name for path in site.iterdir() if path.is_dir()} == {"n1", "n3", "latest"}
    assert len(job.nights()) == 2


def test_without_budgets_what_the_baseline_has_is_held_against_it(job: Job) -> None:
    job.run("n1", "same", budgets=())
    outcome = job.run("n2", "same", budgets=())

    assert (outcome.code, outcome.sentence) == (0, "3 budgets kept.")


@pytest.mark.parametrize("night", ["../n1", "", "a/b", "-n", "\u202e"])
def test_a_name_that_leads_elsewhere_is_refused(job: Job, night: str) -> None:
    with pytest.raises(NightNameError):
        job.run(night, "same")
