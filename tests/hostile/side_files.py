"""What lies beside the HLO in a hostile dump: memory, code, thunks, passes, graphs, logs."""

from collections.abc import Iterator

LIVE_RANGE = """\
HloLiveRange (max 3):
  InstructionSequence:
    0:{name}.p
    1:{name}.sine
    2:{name}.all
  BufferLiveRange:
    {name}.p{{}}:0-3
    {name}.sine{{}}:1-3
  Live ranges at 1 (peak):
    {name}.p{{}}: 128 bytes (cumulative: 128 bytes)
    {name}.sine{{}}: 128 bytes (cumulative: 256 bytes)
  Stack trace breakdown for peak usage: 256 bytes
    {attack} (100.0%, total: 256 bytes, current: 0 bytes, remaining: 256 bytes)
     └── {attack} (50.0%, total: 128 bytes, current: 128 bytes, remaining: 128 bytes)
"""
MEMORY = """\
Memory Space: {name} (color=0)
Total bytes: 256 (256B)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
       128B( 50%);       128B;            0;                1; {attack}
       256B(100%);       128B;          128;                1; {attack}
"""
VALUES = """\

Used values:
<0 {name}.p @0>
 positions:
  {name}.p
 uses:
  {name}.sine, operand 0
 from instruction: %{name}.p = f32[8,4]{{1,0}} parameter(0), metadata={{op_name={quoted}}}
<1 {name}.sine @0>
 positions:
  {name}.sine
 uses:
  {name}.all, operand 0
 from instruction: {attack}
"""
DECISIONS = """\
fusion_steps {{
  fusion {{
    fusion_name: {quoted}
    producer_name: {quoted}
    consumer_name: {quoted}
  }}
}}
fusion_steps {{
  producer_ineligible {{
    producer_name: "{name}.sine"
    reason: {quoted}
  }}
}}
"""
NOTES = """\
thunk_metadata {{
  thunk_info {{
    profile_annotation: "{name}.sine"
  }}
  thunk_kind: {quoted}
}}
"""
TUNED = """\
results {{
  device: {quoted}
  hlo: {quoted}
  result {{
    run_time {{ nanos: 5 }}
  }}
}}
"""
PASSES = """\
pass_metadata {{
  pass_id: 1
  pass_name: {quoted}
  pipeline_name: {quoted}
  dump_filenames: {quoted}
  changed: true
  module_changed: true
  start_timestamp_usec: 1795255005024562
  end_timestamp_usec: 1795255005026022
  kv_metrics {{
    key: {quoted}
    value: 7
  }}
}}
"""
TOPOLOGY = """\
platform_name: {quoted}
platform_version: {quoted}
device_description_str: {quoted}
"""
SIDES = {
    "cpu_after_optimizations-live-range.txt": LIVE_RANGE,
    "cpu_after_optimizations-memory-usage-report.txt": MEMORY,
    "cpu_after_optimizations-buffer-assignment-values.txt": VALUES,
    "priority_fusion_dump.txt": DECISIONS,
    "thunk_metadata.txt": NOTES,
    "autotune_results.pbtxt": TUNED,
    "gpu_target_config.pbtxt": TOPOLOGY,
    "tpu_comp_env.txt": "xla_flag: {quoted}\n{name}: {attack}\n",
}
"""By the end of the name of a module's file."""

GRAPH = """\
node {{
  name: {quoted}
  op: "_XlaRun"
  input: {quoted}
  attr {{
    key: "_XlaCluster"
    value {{
      s: {quoted}
    }}
  }}
  experimental_debug_info {{
    original_node_names: {quoted}
  }}
}}
"""
LOG = """\
I tensorflow Found uncompilable node {name} (op {name}): {attack}
*** Begin module_0900.{file}.before_optimizations.txt ***
{hlo}
*** End module_0900.{file}.before_optimizations.txt ***
{attack}
*** Begin {attack} ***
{attack}
"""
MOSAIC = """\
module attributes {{stable_mosaic.version = 15 : i64}} {{ // {attack}
  func.func @kernel(%arg0: i32) attributes {{iteration_bounds = array<i64: 4>, x = {quoted}, \
window_params = [{{transform_indices = @t, window_bounds = array<i64: 8, 4>}}]}} {{
    return
  }}
  func.func @t(%arg0: i32) -> (i32, i32) {{
    return %arg0, %arg0 : i32, i32
  }}
}}
"""


def side_files(prefix: str, number: int, said: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (file name, text) of what goes along with a module."""
    for ending, form in SIDES.items():
        yield f"{prefix}.{ending}", form.format(**said)
    yield f"module_{number:04d}.metadata.textproto", PASSES.format(**said)


def beside(number: int, said: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (file name, text) of what lies beside the modules."""
    yield f"mark_for_compilation_{number}.pbtxt", GRAPH.format(**said)
    yield f"stderr_{number}.log", LOG.format(**said)
    yield (
        f"17952550018373092{number:02d}-0006-mosaic-dump-{said['file']}-post-x.txt",
        MOSAIC.format(**said),
    )
