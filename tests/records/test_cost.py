"""The record of cost, on small real dumps."""

import json

from msgspec import to_builtins
from tests.pages.cost_of_dumps import Unpack, worked_out

from xlareport.analysis.cost.cost_options import CostOptions
from xlareport.knowledge.devices import devices


def test_what_the_report_says_for_scripts(unpacked: Unpack) -> None:
    view, cost = worked_out(unpacked("gpu-h100x2-train"), "jit_train_step", "gpu")
    said = json.loads(json.dumps(to_builtins(view)))["expense"]
    assert (said["device"], said["device_grade"], said["devices"]) == (
        "NVIDIA H100 SXM5",
        "exact",
        2,
    )
    assert said["flops_of_all_devices"] == 2 * (cost.totals.flops or 0)
    space, inside = said["memory"]["spaces"][0], cost.memory.figures.spaces[0].thread_local_bytes
    assert space["reported_bytes"] == space["allocated_bytes"] + inside
    assert inside == 24
    assert space["name"] == cost.memory.space_names[space["number"]] == "device memory"
    assert all(one["why"] for one in said["memory"]["at_peak"])


def test_the_users_device_comes_before_the_table(unpacked: Unpack) -> None:
    chosen = CostOptions(device=devices()["nvidia-h100"])
    _, cost = worked_out(unpacked("jax-cpu-train"), "jit_train_step", "cpu", chosen)
    assert (cost.device.key, cost.device_grade) == ("nvidia-h100", "chosen")
