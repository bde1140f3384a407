"""`xlareport history`: both ways, as a list and as an account, and what it says to wrong names."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner, Result

from xlareport.cli.history import _no_origin, command
from xlareport.runtime.errors import UnknownNameError

Unpack = Callable[[str], Path]


def history(unpacked: Unpack, *arguments: str) -> Result:
    dump = unpacked("jax-cpu-train")
    return CliRunner().invoke(command, [str(dump), "--jobs", "1", *arguments])


def test_an_instruction_leads_back_to_its_op_and_its_line(unpacked: Unpack) -> None:
    done = history(unpacked, "%ynn_fusion.2", "--module", "jit_train_step", "--json")
    events = json.loads(done.stdout)
    assert [event["event"] for event in events] == [
        "in the input",
        "created",
        "in the last snapshot",
    ]
    first, created, _ = events
    assert (first["op_name"], first["source"]) == (
        "jit(train_step)/jvp(loss)/hidden/dot_general",
        "jax_train.py:27",
    )
    assert (created["stage"], created["confidence"]) == ("0016", "exact")
    assert created["from"] == ["main.2/%dot_general.5"]
    assert {"instruction", "to", "reason"} < set(created)
    told = history(unpacked, "ynn_fusion.2").stdout
    assert "jit(train_step)/jvp(loss)/hidden/dot_general  jax_train.py:27" in told


def test_an_op_leads_forward_to_all_that_does_its_work(unpacked: Unpack) -> None:
    done = history(unpacked, "jit(train_step)/sgd/mul", "--module", "jit_train_step", "--json")
    events = json.loads(done.stdout)
    first = [event for event in events if event["event"] == "in the input"]
    assert {event["source"] for event in first} == {"jax_train.py:41"}
    last = [event["instruction"] for event in events if event["event"] == "in the last snapshot"]
    assert len(first) == len(last) == 4
    fused = [event for event in events if event["event"] == "fused"]
    assert all("into %multiply_subtract_fusion" in event["reason"] for event in fused)


def test_the_end_of_an_op_name_is_enough_where_it_is_the_end_of_one(unpacked: Unpack) -> None:
    told = history(unpacked, "hidden/max", "--module", "jit_train_step").stdout
    assert told.startswith("jit(train_step)/jvp(loss)/hidden/max  in module_0002.jit_train_step")
    several = history(unpacked, "dot_general", "--module", "jit_train_step").exception
    assert isinstance(several, UnknownNameError)
    assert "the end of 4 op_names" in str(several)


def test_what_a_step_made_for_an_op_names_it() -> None:
    assert _no_origin(["", "mlp/dot_general"], is_lost=False).endswith("op_name mlp/dot_general")
    assert _no_origin([""], is_lost=False).endswith("no origin in before_optimizations")
    assert _no_origin(["mlp/dot_general"], is_lost=True).endswith("not known")


def test_what_a_step_made_says_so(unpacked: Unpack) -> None:
    dump = str(unpacked("gpu-h100x2-train"))
    asked = [dump, "--jobs", "1", "bitcast.2", "--module", "jit_train_step"]
    told = CliRunner().invoke(command, asked).stdout
    assert "Compiler-generated, with the op_name jit(train_step)/jvp(loss)/integer_pow:" in told
    assert "  %bitcast is first seen in 0027 hlo_normalization: after reduction-dimension-" in told
    assert "It comes from" not in told
    events = json.loads(CliRunner().invoke(command, [*asked, "--json"]).stdout)
    assert (events[0]["event"], events[0]["stage"], events[0]["from"]) == ("added", "0027", [])


def test_unknown_names_are_told_what_is_near(unpacked: Unpack) -> None:
    near = history(unpacked, "ynn_fusion.22", "--module", "jit_train_step").exception
    assert isinstance(near, UnknownNameError)
    assert "%ynn_fusion.2" in str(near)
    module = history(unpacked, "x", "--module", "jit_nothing").exception
    assert isinstance(module, UnknownNameError)
    assert "module_0002.jit_train_step" in str(module)
    stage = history(unpacked, "x", "--module", "jit_train_step", "--stage", "9").exception
    assert isinstance(stage, UnknownNameError)
    assert stage.exit_code == 2
