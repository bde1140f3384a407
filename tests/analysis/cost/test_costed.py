"""The device of a module, and what was counted for it."""

from pathlib import Path

from xlareport.analysis.cost.costed import cost_module
from xlareport.dump.grouping import group, name_files
from xlareport.dump.source import open_source
from xlareport.program import read_module

MODULE = """HloModule m, is_scheduled=true, num_partitions=2

ENTRY e {
  a = f32[4] parameter(0)
  ROOT g = f32[8] all-gather(a), channel_id=1, dimensions={0}, replica_groups=[1,2]<=[2], \
use_global_device_ids=true
}
"""
TARGET = """tpu_topology_args {
  chips_per_host_bounds { x: 2 y: 1 z: 1 }
  host_bounds { x: 1 y: 1 z: 1 }
}
version: TPU_VERSION_VIPERFISH variant: "lite"
"""
ASSIGNMENT = """device_assignment {
  replica_count: 1
  computation_count: 2
  computation_devices {
    replica_device_ids: 1
  }
  computation_devices {
    replica_device_ids: 0
  }
}
"""


def test_a_slice_of_a_tpu_has_the_places_of_the_programs_devices(tmp_path: Path) -> None:
    name = "module_0000.jit_f.cl_1"
    (tmp_path / f"{name}.after_optimizations.txt").write_text(MODULE)
    (tmp_path / f"{name}.target_arguments.txt").write_text(TARGET)
    (tmp_path / f"{name}.execution_options.txt").write_text(ASSIGNMENT)
    with open_source(tmp_path) as source:
        (files,) = group(name_files(source)).modules
        costed = cost_module(read_module(files), "tpu")
    assert costed is not None
    assert costed.device.key == "tpu-v5e"
    assert costed.device.slice_shape == (2, 1, 1)
    assert costed.device.assignment == (1, 0)
    assert costed.roofline_seconds == costed.seconds == sum(costed.divided.seconds.values())
