from collections.abc import Callable
from fractions import Fraction

import pytest

from xlareport.analysis.cost.collectives import Collective, find_collectives
from xlareport.analysis.cost.wire import wire_share
from xlareport.analysis.cost.work import count_cost
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader

ADD = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"


def found_in(entry: str, header: str = ", num_partitions=8") -> tuple[Collective, ...]:
    text = f"HloModule m{header}\n\n{ADD}\nENTRY e {{\n{entry}\n}}\n"
    module = TextReader().read(text.encode(), "m.txt")
    assert module is not None
    return find_collectives(module, count_cost(module))


@pytest.mark.parametrize(
    ("kind", "devices", "share"),
    [
        ("all-gather", 8, Fraction(7, 8)),
        ("all-reduce", 8, Fraction(7, 4)),
        ("reduce-scatter", 2, Fraction(1, 2)),
        ("collective-permute", 2, Fraction(1)),
        ("all-reduce", 1, Fraction(0)),
    ],
)
def test_the_least_on_the_wire(kind: str, devices: int, share: Fraction) -> None:
    assert wire_share(kind, devices) == share


def test_an_all_gather_sends_what_the_others_lack() -> None:
    (only,) = found_in(
        "  a = f32[4] parameter(0)\n  ROOT g = f32[16] all-gather(a), channel_id=1, dimensions={0},"
        " replica_groups=[2,4]<=[8], use_global_device_ids=true,"
        ' frontend_attributes={is_spmd_generated="true"}'
    )
    assert (only.kind, only.group_size, only.data_bytes, only.wire_bytes) == (
        "all-gather",
        4,
        64,
        48,
    )
    assert (only.is_spmd_generated, only.overlaps, only.executions) == (True, None, 1)


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ("channel_id=1, replica_groups={{0}}", 8),
        ("channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true", 4),
        ("replica_groups={{0,1}}", 2),
        ("channel_id=1, replica_groups={}", 16),
        ("replica_groups={}", 2),
        ("channel_id=1, replica_groups=unheard[of]", None),
    ],
)
def test_who_takes_part(attributes: str, size: int | None) -> None:
    (only,) = found_in(
        f"  a = f32[4] parameter(0)\n  ROOT r = f32[4] all-reduce(a), {attributes}, to_apply=add",
        ", replica_count=2, num_partitions=8",
    )
    assert only.group_size == size
    assert (only.wire_bytes is None) == (size is None)


def test_what_runs_meanwhile() -> None:
    (only,) = found_in(
        "  a = f32[4] parameter(0)\n"
        "  s = (f32[4], f32[16]) all-gather-start(a), dimensions={0}, replica_groups={{0,1,2,3}}\n"
        "  b = f32[4] negate(a)\n  c = f32[4] bitcast(b)\n"
        "  d = f32[16] all-gather-done(s)\n  ROOT t = (f32[16], f32[4]) tuple(d, c)"
    )
    assert (only.kind, only.data_bytes, only.overlaps) == ("all-gather", 64, ("b",))


def test_a_real_all_reduce(dumped: Callable[[str, str], HloModule]) -> None:
    module = dumped("tpu-v5e-scan", "1014260217.after_optimizations.txt")
    found = find_collectives(module, count_cost(module))
    assert found
    assert {one.kind for one in found} == {"all-reduce"}
    assert all(one.group_size and one.wire_bytes for one in found)


def test_a_collective_wrapped_twice_and_fed_by_an_update() -> None:
    text = f"""HloModule m, num_partitions=4

inner {{
  p = f32[4] parameter(0)
  ROOT g = f32[16] all-gather(p), dimensions={{0}}, replica_groups={{{{0,1,2,3}}}}
}}

wrapped {{
  p = f32[4] parameter(0)
  ROOT c = f32[16] custom-call(p), custom_call_target="unheard", called_computations={{inner}}
}}

{ADD}
ENTRY e {{
  a = f32[4] parameter(0)
  s = ((), f32[16], u32[]) async-start(), calls=wrapped
  b = f32[4] negate(a)
  u = ((f32[4]), f32[16], u32[]) async-update(s, b)
  c = f32[4] negate(b)
  d = f32[16] async-done(u)
  ROOT t = (f32[16], f32[4]) tuple(d, c)
}}
"""
    module = TextReader().read(text.encode(), "m.txt")
    assert module is not None
    (only,) = find_collectives(module, count_cost(module))
    assert (only.instruction, only.overlaps, only.counted) == ("g", ("c",), 1)
