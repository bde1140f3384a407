"""Every parser of bytes that others wrote, with pieces of the files that it is for.

`tests/properties/test_parsers.py` puts them to anything, and sees that none is left out.
"""

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from xlareport.analysis.profile.times import sum_times
from xlareport.readers.autotune_results import read_autotune_results
from xlareport.readers.buffer_assignment import read_buffer_assignment, read_buffer_assignment_proto
from xlareport.readers.buffer_values import read_buffer_values
from xlareport.readers.debug_options import read_debug_options, read_flagfile
from xlareport.readers.device_words import read_device_words
from xlareport.readers.elf import read_sections
from xlareport.readers.fusion_decisions import read_fusion_decisions
from xlareport.readers.gpu_objects import read_gpu_object
from xlareport.readers.kernels import llvm_kernels, object_kernels, ptx_kernels
from xlareport.readers.launches import read_launch
from xlareport.readers.live_range import read_live_range
from xlareport.readers.memory_report import read_memory_report, read_memory_report_proto
from xlareport.readers.message_pack import read_message_pack
from xlareport.readers.mosaic import read_mosaic
from xlareport.readers.partitioner_log import read_partitioner_log
from xlareport.readers.pass_metadata import ModuleMetadata, read_pass_metadata
from xlareport.readers.ptx import read_ptx
from xlareport.readers.ptxas_output import read_ptxas_output
from xlareport.readers.replay_result import read_replay_result
from xlareport.readers.shardy import read_shardy
from xlareport.readers.spill_log import read_spill_log
from xlareport.readers.stablehlo import read_stablehlo
from xlareport.readers.table_protos import message_class
from xlareport.readers.textproto import read_textproto
from xlareport.readers.tf_graph import read_tf_graph, read_tf_log
from xlareport.readers.thunks import read_thunk_metadata, read_thunk_sequence
from xlareport.readers.trace_events import trace_events
from xlareport.readers.xplane import xplane_events
from xlareport.runtime.errors import Problem

PATH = "a file"
REPLAY = b"""{"module": "m", "jaxlib": "0.12", "tolerance": 1e-5, "verdict": "v",
"first": {"stage": "0001", "confirmed": true},
"stages": [{"stage": "0001", "ran": true, "reason": "", "max_relative_error": 0.5, "max_ulp": 3}]}
"""
DATA = Path(__file__).parents[1] / "data"
Told = tuple[Any, Sequence[Problem]]


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser, a good file of it, and how to ask whether it found what stands there."""

    module: str
    """Below `xlareport.readers`."""
    read: Callable[[bytes], Told]
    whole: bytes
    """A good file, of which something is found."""
    pieces: Sequence[bytes] = field(default=())
    """Others than lines of the good file."""
    cases: Sequence[bytes] = field(default=())
    """Whole files that once were a fault."""
    says: bool = True
    """A file of nothing that it knows is a problem: not where files may have nothing to tell."""

    @property
    def name(self) -> str:
        return f"{self.module}.{getattr(self.read, '__name__', '')}"


def plain(read: Callable[[bytes], Any]) -> Callable[[bytes], Told]:
    """Return a reader that has no problems as one that has."""

    def reading(data: bytes) -> Told:
        return read(data), ()

    reading.__name__ = read.__name__
    return reading


def of_text(read: Callable[[str], Any]) -> Callable[[bytes], Told]:
    """Return a reader of a text as one of bytes."""

    def reading(data: bytes) -> Told:
        return read(data.decode("utf-8", "replace")), ()

    reading.__name__ = read.__name__
    return reading


def told(read: Callable[[bytes, str], tuple[Any, Any]]) -> Callable[[bytes], Told]:
    """Return a reader that knows its path."""

    def reading(data: bytes) -> Told:
        return read(data, PATH)

    reading.__name__ = read.__name__
    return reading


def events(read: Callable[..., Any]) -> Callable[[bytes], Told]:
    """Return a reader of events as one of a whole file, which also adds up their times."""

    def reading(data: bytes) -> Told:
        problems: list[Problem] = []
        found = list(read(BytesIO(data), PATH, problems))
        sum_times(found)
        return found, problems

    reading.__name__ = read.__name__
    return reading


def passes(data: bytes) -> Told:
    """Read what ran, with its nest and its times."""
    parsed, problems = read_pass_metadata(data, PATH)
    if isinstance(parsed, ModuleMetadata):
        assert len(parsed.timed()) == len(parsed.runs)
        assert parsed.span is None or isinstance(parsed.span, int)
    return parsed, problems


def _space() -> bytes:
    """Return a profile of one event."""
    line = message_class("xplane", "XLine")(id=1, timestamp_ns=1)
    line.events.add(metadata_id=1, offset_ps=1, duration_ps=1)
    plane = message_class("xplane", "XPlane")()
    for key, name in enumerate(("hlo_op", "hlo_module"), 1):
        plane.stat_metadata.add(key=key).value.name = name
        made = plane.event_metadata[0] if plane.event_metadata else plane.event_metadata.add(key=1)
        made.value.stats.add(metadata_id=key, str_value=name)
    plane.lines.append(line.SerializeToString())
    space = message_class("xplane", "XSpace")()
    space.planes.append(plane.SerializeToString())
    return bytes(space.SerializeToString())


def _usage() -> bytes:
    report = message_class("memory_report", "MemoryUsageReportProto")()
    report.spaces.add(color=1, total_bytes=8)
    return bytes(report.SerializeToString())


def _assignment() -> bytes:
    proto = message_class("buffer_assignment", "HloProto")()
    proto.buffer_assignment.buffer_allocations.add(index=0, size=8)
    return bytes(proto.SerializeToString())


def _trace() -> bytes:
    event = {"ph": "X", "ts": 1, "dur": 1, "pid": 1, "tid": 1, "args": {"hlo_module": "m"}}
    event["args"] = {"hlo_module": "m(1)", "hlo_op": "add.1", "run_id": "7"}
    return json.dumps({"traceEvents": [event]}).encode()


ASSIGNMENT = b"""BufferAssignment:
allocation 0: size 256, color 1, page 0, parameter 2, shape |f32[8,8]| at ShapeIndex {0}:
 value: <42 a{1} (phi) @0> (size=256,offset=0): f32[8,8]{1,0}
allocation 1: 0x7fba, size 24, maybe-live-out:
  2 add.5 @0, positions:
 [0,24]: f32[2,3]{1,0}
"""
LIVE = b"""HloLiveRange (max 4):
  InstructionSequence:
    0:x
  BufferLiveRange:
    x{0,}:0-4
  Live ranges at 2 (peak):
    x{}: 8 bytes (cumulative: 8 bytes)
  Stack trace breakdown for peak usage: 8 bytes
    main (100.0%, total: 8 bytes, current: 0 bytes, remaining: 8 bytes)
     \xe2\x94\x94\xe2\x94\x80 f (1.0%, total: 8 bytes, current: 8 bytes, remaining: 0 bytes)
"""
VALUES = b"""Used values:
<42 a{1} (phi) @0>
 positions:
  a {1}
 uses:
  x, operand 0 {1,2}
 from instruction: %x = f32[] parameter(0)<42 a @0>
"""
MEMORY = b"""Memory Space: default (color=0)
Total bytes: 71144 (69.5KiB)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
    16.0KiB(100%);    16.0KiB;            0;                3; f32[16,64]
  The rest 3 values
"""
OPTIONS = b"""xla_dump_to: "x\\n\\x41\\101"
xla_gpu_x {
  a: 1
}
"""
DECISIONS = b"""fusion_steps {
  fusion {
    fusion_name: "f"
    producer_name: "a"
    consumer_name: "b"
    us_fused: 1e-3
  }
}
"""
PASSES = b"""canonical_module_id: 1
pass_metadata {
  pass_id: 1
  pass_name: "a"
  module_changed: true
  start_timestamp_usec: 1795255005024562
  end_timestamp_usec: 1795255005026022
  dump_filenames: "/x/y"
}
"""
STABLEHLO = b"""module @m {
%0 = stablehlo.add %a, %a : tensor<f32> loc(#loc2)
}
#loc1 = loc("f.py":1:2 to :3)
#loc2 = loc("g"(#loc1))
#loc3 = loc(callsite(#loc1 at #loc3))
"""
GRAPH = b"""node {
  name: "a"
  op: "_XlaRun"
  input: "b:1"
  attr {
    key: "_XlaCluster"
    value {
      s: "cluster_0"
    }
  }
}
library {
  function {
    signature {
      name: "f"
    }
  }
}
"""
THUNKS = b"""000: kKernel [source | next=001 (1)] add.1 grid: [1, 1, 1] threads: [64, 1, 1]
001: kWhile [prev=000 (1) | sink] w
 body:
  001: kCopy [source | sink] x
kGemm %dot
Dependencies:
 a depends on b
"""
NOTES = b"""thunk_metadata {
  thunk_info {
    thunk_id: 1
    profile_annotation: "add.1"
  }
  thunk_kind: "kKernel"
}
"""
MOSAIC = b"""func.func @k(%arg0: i32) attributes {iteration_bounds = array<i64: 4, 2>, \
scalar_prefetch = 1 : i64, window_params = [{transform_indices = @t, \
window_bounds = array<i64: 8, 4>}]} {
func.func @t(%arg0: i32) -> (i32, i32) {
    return {a = 1} %arg0, %arg1 : i32, i32
"""
LLVM = b"""define ptx_kernel void @add_1(ptr %a) #0 {
define internal void @"x y"(ptr %a) {
!0 = !{ptr @"add", !"kernel", i32 1}
"""
PTX = b".version 8.0\n.visible .entry add_1(\n.param .u64 a\n)\n"
PTXAS = (
    b"ptxas info    : Compiling entry function 'add_1' for 'sm_90'\n"
    b"    944 bytes stack frame, 2112 bytes spill stores, 2192 bytes spill loads\n"
    b"ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem\n"
)
SHARDY = b"""  sdy.mesh @m = <["x"=2]>
  func.func @main(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<2xf32> {
    %0 = sdy.sharding_constraint %a <@m, [{}]> : tensor<2xf32>
    %1 = a.b %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<2xf32>
"""
PARTITIONER = (
    b"E spmd_partitioner.cc:509] [spmd] Involuntary full rematerialization. The compiled was not "
    b"able to go from sharding {devices=[4,1]0,1,2,3} to {devices=[1,4]0,1,2,3} without doing a "
    b"full rematerialization of the tensor. You probably want to enrich the sharding.\n"
)
SPILLS = (
    b"I0211 1 77 amdgpu_backend.cc:1] Register spilling in kernel 'k_1' (SGPR: 4, VGPR: 9) in m\n"
    b"W ptxas warning : Registers are spilled to local memory in function 'k.1', 8 bytes spill "
    b"stores, 4 bytes spill loads\n"
)
TUNED = (
    b'version: 3\nresults {\n  device: "x"\n  hlo: "f32[] dot(\\n)"\n  result {\n    run_time {\n'
    b"      nanos: 17\n    }\n    triton {\n      block_m: 64\n    }\n  }\n}\n"
)
LAUNCH = b"k grid: [3072, 2, 1] threads: [64, 1, 1]  shared_memory: 768 bytes"
AMD = (DATA / "rocm-made/module_0003.jit_sums.hsaco").read_bytes()
LOG = b"x Found uncompilable node a/b (op Print): it has side effects\n"
DEVICE = b'platform_version: "TFRT TPU v5"\ndevice_description_str: "a\\"b"\ndevice_kind: "x"\n'

TRACES = (
    gzip.compress(_trace()),
    gzip.compress(_trace())[:-9],
    _trace().replace(b'"add.1"', b"[" * 50_000 + b"]" * 50_000),
    _trace().replace(b'"add.1"', b"9" * 5_000),
    _trace().replace(b'"pid": 1', b'"pid": ' + b"9" * 5_000),
    _trace().replace(b'"ts": 1', b'"ts": 1e999'),
    _trace().replace(b'"m(1)"', b'"\\ud800"'),
)
SPACES = (
    b"\x0a\x03\x12\x01\xff",  # a plane whose name is no text
    b"\x0a\x02\x1a\x05",
    b"\x0a\x00" * 5_000,
    b"\x0a" + b"\xff" * 20,
)
PARSERS = (
    Parser("buffer_assignment", told(read_buffer_assignment), ASSIGNMENT),
    Parser("buffer_assignment", told(read_buffer_assignment_proto), _assignment(), says=False),
    Parser("buffer_values", told(read_buffer_values), VALUES, says=False),
    Parser("debug_options", told(read_debug_options), OPTIONS, (b"a {\n", b"}\n", b"a: '\\\n")),
    Parser("debug_options", told(read_flagfile), b"--a=1\n--b\n", (b"--", b"--a=\\")),
    Parser("device_words", told(read_device_words), DEVICE, says=False),
    Parser("fusion_decisions", told(read_fusion_decisions), DECISIONS),
    Parser("kernels", plain(llvm_kernels), LLVM, says=False),
    Parser("kernels", plain(ptx_kernels), PTX, says=False),
    Parser("elf", plain(read_sections), AMD, says=False),
    Parser("gpu_objects", plain(read_gpu_object), AMD, says=False),
    Parser("launches", of_text(read_launch), LAUNCH, says=False),
    Parser(
        "message_pack",
        plain(read_message_pack),
        b"\x81\xa1a\x92\x01\xa1x",
        (b"\x91", b"\xdf"),
        says=False,
    ),
    Parser("ptx", plain(read_ptx), PTX, says=False),
    Parser("ptxas_output", of_text(read_ptxas_output), PTXAS, says=False),
    Parser("live_range", told(read_live_range), LIVE, says=False),
    Parser("memory_report", told(read_memory_report), MEMORY),
    Parser("memory_report", told(read_memory_report_proto), _usage(), says=False),
    Parser(
        "mosaic", plain(read_mosaic), MOSAIC, cases=(MOSAIC.replace(b"4,", b"--4,"),), says=False
    ),
    Parser("kernels", plain(object_kernels), b"\x7fELF\x02\x01" + bytes(200), says=False),
    Parser(
        "shardy",
        told(read_shardy),
        SHARDY,
        (b"sdy.sharding = #sdy.sharding", b"%0 = "),
        says=False,
    ),
    Parser("partitioner_log", plain(read_partitioner_log), PARTITIONER, says=False),
    Parser("autotune_results", told(read_autotune_results), TUNED, (b"a {\n", b"}\n")),
    Parser("spill_log", plain(read_spill_log), SPILLS, says=False),
    Parser("pass_metadata", passes, PASSES),
    Parser(
        "stablehlo", told(read_stablehlo), STABLEHLO, (b"#loc1 = loc(#loc1#loc2)\n",), says=False
    ),
    Parser("replay_result", told(read_replay_result), REPLAY),
    Parser("textproto", told(read_textproto), DECISIONS, (b"a {\n", b"}\n")),
    Parser("tf_graph", told(read_tf_graph), GRAPH),
    Parser("tf_graph", plain(read_tf_log), LOG, says=False),
    Parser("thunks", told(read_thunk_sequence), THUNKS, (b"No thunks\n", b"Total order:\n")),
    Parser("thunks", told(read_thunk_metadata), NOTES),
    Parser("trace_events", events(trace_events), _trace(), cases=TRACES),
    Parser("xplane", events(xplane_events), _space(), cases=SPACES, says=False),
)
