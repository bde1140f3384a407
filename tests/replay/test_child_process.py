"""The child process that runs programs, played by a script: its bounds, and how it dies."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from xlareport.replay.child_process import Bounds, Child, ReplayError, RunError, child_process

GREETING = """read request; echo '{"result": {"release": "0.7.0", "known": true}}'"""
ANSWER = """read request; echo '{"result": {"sum": 3}}'"""
Begin = Callable[..., Child]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Return a function: lines of a shell -> a child that runs them in place of an interpreter."""
    begun: list[Child] = []

    def start(*lines: str, seconds: float = 20) -> Child:
        script = tmp_path / "interpreter"
        script.write_text("\n".join(("#!/bin/sh", *lines)) + "\n")
        script.chmod(0o755)
        child = Child(str(script), tmp_path, Bounds(seconds=seconds))
        begun.append(child)
        return child

    yield start
    for child in begun:
        child.restart()


def test_an_answer_is_the_result_of_the_request(begin: Begin) -> None:
    with begin(GREETING, ANSWER, "sleep 60") as child:
        assert child.release == "0.7.0"
        assert child.ask("run") == {"sum": 3}
    assert child.pid == 0


def test_a_request_that_xla_refuses_is_an_error_and_the_child_goes_on(begin: Begin) -> None:
    refused = """read request; echo '{"error": "UNIMPLEMENTED: f8"}'"""
    with begin(GREETING, refused, ANSWER, "sleep 60") as child:
        with pytest.raises(RunError, match="UNIMPLEMENTED: f8"):
            child.ask("run")
        assert child.ask("run") == {"sum": 3}


def test_what_takes_too_long_is_ended_and_another_child_begins(begin: Begin) -> None:
    once = "if [ ! -e begun ]; then touch begun; sleep 60; fi"
    with begin(GREETING, once, ANSWER, "sleep 60", seconds=0.5) as child:
        first = child.pid
        with pytest.raises(RunError, match=r"it took more than 0\.5 s"):
            child.ask("run")
        assert child.pid == 0
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
        assert child.ask("run") == {"sum": 3}


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("exit 3", "the child process ended with code 3"),
        ("kill -SEGV $$", "the child process was ended by SIGSEGV"),
        ("echo plain >&2; echo 'F0000 check failed' >&2; exit 1", "code 1: F0000 check failed"),
        ("echo -n '{\"result\"'; exit 1", "ended with code 1"),  # a line that does not end
    ],
)
def test_a_child_that_dies_says_how(begin: Begin, end: str, words: str) -> None:
    with begin(GREETING, "read request", end) as child, pytest.raises(RunError) as caught:
        child.ask("run")
    assert words in str(caught.value)


def test_an_answer_without_an_end_is_not_read_forever(begin: Begin) -> None:
    endless = "read request; cat /dev/zero"
    with begin(GREETING, endless) as child, pytest.raises(RunError):
        child.ask("run")


@pytest.mark.parametrize(
    ("greeting", "words"),
    [
        ('{"result": {"absent": "No module named jax"}}', "has no jax"),
        ('{"result": {"release": "9.9", "known": false}}', "has jaxlib 9.9"),
        ('{"error": "broken"}', "cannot run programs: broken"),
    ],
)
def test_an_interpreter_that_cannot_run_programs_is_refused(
    begin: Begin, greeting: str, words: str
) -> None:
    child = begin(f"read request; echo '{greeting}'", "sleep 60")
    with pytest.raises(ReplayError, match=words), child:
        pass
    assert child.pid == 0


def test_an_interpreter_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing")
    with pytest.raises(ReplayError, match="cannot be started"), child_process(missing, Bounds()):
        pass


def test_the_child_sees_few_variables(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/elsewhere")
    with begin("env > variables", GREETING, "sleep 60"):
        variables = (tmp_path / "variables").read_text()
    assert "SECRET_TOKEN" not in variables
    assert "XLA_FLAGS=--xla_force_host_platform_device_count=1\n" in variables
    assert "JAX_PLATFORMS=cpu\n" in variables


def test_more_devices_need_another_child_and_fewer_do_not(begin: Begin, tmp_path: Path) -> None:
    with begin("env > variables", GREETING, ANSWER, "sleep 60") as child:
        first = child.pid
        child.use_devices(1)
        assert child.pid == first
        child.use_devices(4)
        child.ask("run")
        assert "device_count=4\n" in (tmp_path / "variables").read_text()
