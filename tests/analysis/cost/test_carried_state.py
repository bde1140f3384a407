"""Asynchronous collectives in pieces, one fusion for each piece."""

from collections.abc import Callable
from typing import TypeAlias

from xlareport.analysis.cost.work import ModuleCost

GATHER = (
    "all-gather(p), dimensions={0}, channel_id=1, use_global_device_ids=true, "
    'replica_groups={{0,1}}, frontend_attributes={chain_id="0"}'
)
STATE = "f32[16], f32[32], u32[]"
TEXT = f"""begin {{
  p = f32[16] parameter(0)
  g = f32[32] {GATHER}
  ROOT c = ({STATE}) custom-call(g), custom_call_target="AsyncCollectiveStart"
}}

go_on {{
  p = f32[16] parameter(0)
  q = f32[32] parameter(1)
  s = u32[] parameter(2)
  w = f32[100] parameter(3)
  t = f32[100] tanh(w)
  g = f32[32] {GATHER}
  ROOT r = (f32[100], {STATE}, f32[32]) tuple(t, p, q, s, g)
}}

finish {{
  p = f32[16] parameter(0)
  q = f32[32] parameter(1)
  g = f32[32] {GATHER}
  s = u32[] parameter(2)
  ROOT c = f32[32] custom-call(p, q, g, s), custom_call_target="AsyncCollectiveDone"
}}

ENTRY e {{
  a = f32[16] parameter(0)
  w = f32[100] parameter(1)
  b = ({STATE}) fusion(a), kind=kCustom, calls=begin, \
output_to_operand_aliasing={{{{0}}: (0, {{}})}}
  bp = f32[16] get-tuple-element(b), index=0
  bq = f32[32] get-tuple-element(b), index=1
  bs = u32[] get-tuple-element(b), index=2
  m = (f32[100], {STATE}, f32[32]) fusion(bp, bq, bs, w), kind=kOutput, calls=go_on, \
output_to_operand_aliasing={{{{1}}: (0, {{}}), {{2}}: (1, {{}}), {{3}}: (2, {{}})}}
  mp = f32[16] get-tuple-element(m), index=1
  mq = f32[32] get-tuple-element(m), index=4
  ms = u32[] get-tuple-element(m), index=3
  ROOT d = f32[32] fusion(mp, mq, ms), kind=kCustom, calls=finish, \
output_to_operand_aliasing={{{{}}: (1, {{}})}}
}}"""
Count: TypeAlias = Callable[[str], ModuleCost]


def test_a_collective_in_pieces_reads_and_writes_once(count: Count) -> None:
    cost = count(TEXT)
    each = {name: cost.instructions["e", name] for name in "bmd"}
    assert (each["b"].bytes_read, each["b"].bytes_written) == (64, 128 + 4)
    assert (each["m"].bytes_read, each["m"].bytes_written) == (400, 400)
    assert (each["d"].bytes_read, each["d"].bytes_written) == (4, 0), "a semaphore"


def test_what_a_piece_itself_reads_counts(count: Count) -> None:
    reading = TEXT.replace("t = f32[100] tanh(w)", "t = f32[100] pad(q, s), padding=0_68")
    piece = count(reading).instructions["e", "m"]
    assert piece.bytes_read == 128 + 4


def test_other_fusions_count_all_they_are_given(count: Count) -> None:
    plain = TEXT.replace(', frontend_attributes={chain_id="0"}', "")
    piece = count(plain).instructions["e", "m"]
    assert (piece.bytes_read or 0) > 400
