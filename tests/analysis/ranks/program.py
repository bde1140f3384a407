"""A small program of eight devices as texts, and the folders of ranks that hold it."""

from collections.abc import Callable, Mapping
from pathlib import Path

KEY = "module_0001.jit_step"
STAGES = (
    "before_optimizations",
    "0002.fusion.after_fusion.before_dce",
    "sm_9.0_gpu_after_optimizations",
)
TEXT = """HloModule jit_step, is_scheduled=true, num_partitions=8

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%fused (p: f32[64]) -> f32[64] {
  %p = f32[64]{0} parameter(0)
  ROOT %t = f32[64]{0} tanh(%p)
}

ENTRY %main (x: f32[64]) -> (f32[64], f32[128]) {
  %x = f32[64]{0} parameter(0)
  %rank = s32[] constant(3)
  %call = f32[64]{0} custom-call(%x), CALLBACK
  %fusion.1 = f32[64]{0} fusion(%call), kind=kLoop, calls=%fused
  %reduce = f32[64]{0} all-reduce(%fusion.1), ROWS, metadata={op_name="jit(step)/psum"}
  %gather = f32[128]{0} all-gather(%x), PAIRS, dimensions={0}
  ROOT %out = (f32[64]{0}, f32[128]{0}) tuple(%reduce, %gather)
}
"""
for _name, _attributes in (
    (
        "CALLBACK",
        'custom_call_target="xla_ffi_python_gpu_callback", backend_config={index = 12 : ui64}',
    ),
    ("ROWS", "channel_id=1, replica_groups=[2,4]<=[8], to_apply=%sum"),
    ("PAIRS", "channel_id=2, replica_groups={{0,1},{2,3},{4,5},{6,7}}"),
):
    TEXT = TEXT.replace(_name, _attributes)
Edit = Callable[[str], str]


def replaced(old: str, new: str) -> Edit:
    """Return what puts one text for another, which has to be there."""

    def edit(text: str) -> str:
        assert old in text, old
        return text.replace(old, new)

    return edit


def swapped(text: str) -> str:
    """Return the text with its two collectives in the other order."""
    lines = text.split("\n")
    first, second = (
        next(at for at, line in enumerate(lines) if f"%{name} = " in line)
        for name in ("reduce", "gather")
    )
    lines[first], lines[second] = lines[second], lines[first]
    return "\n".join(lines)


def write_ranks(root: Path, ranks: int, edits: Mapping[int, Mapping[str, Edit]]) -> Path:
    """Write the folders `rank_0`, `rank_1`, ...; `edits` change snapshots of some, by stage."""
    for rank in range(ranks):
        folder = root / f"rank_{rank}"
        folder.mkdir(parents=True)
        for stage in STAGES:
            edit = edits.get(rank, {}).get(stage)
            (folder / f"{KEY}.{stage}.txt").write_text(edit(TEXT) if edit else TEXT)
        (folder / f"{KEY}.debug_options").write_text(f'xla_dump_to: "/dump/rank_{rank}"\n')
    return root
