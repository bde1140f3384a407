"""Which permutes are hops of a collective matmul, and which hops."""

from collections.abc import Callable

import pytest
from tests.analysis.collectives.rings import after

from xlareport.analysis.collectives.windowed_rings import Ring, find_ring
from xlareport.hlo.model import HloModule

ReadText = Callable[[str], HloModule]


def ring_of(module: HloModule, name: str) -> Ring | None:
    return next(
        find_ring(module, computation, computation.by_name[name])
        for computation in module.computations
        if name in computation.by_name
    )


@pytest.mark.parametrize(
    ("name", "trips", "hops", "of_how_many_and_where"),
    [
        ("ahead.1", 1, (1,), (2, 1)),
        ("back.1", 1, (1,), (1, -1)),
        ("ahead.2", 1, (2,), (2, 1)),
        ("back.2", 1, (2,), (1, -1)),  # nothing reads what it sends
        ("back.1", 2, (1, 3), (3, -1)),
        ("sum.1", 1, (1,), (2, -1)),
        ("sum.2", 1, (2,), (2, -1)),
        ("sum.2", 3, (2, 4, 6), (6, -1)),
        ("sum.3", 1, (1,), (2, 1)),
        ("last", 1, (2,), (2, 1)),
        ("last", 3, (4,), (4, 1)),
    ],
)
def test_the_number_of_a_hop(
    name: str,
    trips: int,
    hops: tuple[int, ...],
    of_how_many_and_where: tuple[int, int],
    read_text: ReadText,
) -> None:
    ring = ring_of(read_text(after(trips)), name)
    assert ring is not None
    assert (ring.hops, (ring.count, ring.direction)) == (hops, of_how_many_and_where)
    assert ring.is_scatter is (name[:3] in ("sum", "las"))
    assert ring.is_after is (name == "last")
    assert ring.sends_zero is (name in ("sum.1", "sum.3"))


def test_what_the_program_moves_is_no_hop(read_text: ReadText) -> None:
    assert ring_of(read_text(after()), "other") is None
    module = read_text(after(gathering="_of_mine", scattering="_rs").replace("windowed_", "my_"))
    assert ring_of(module, "back.1") is None
    assert ring_of(module, "ahead.1") is None
    assert ring_of(module, "last") is None


_BRANCHES = """
%sends (p: bf16[256,64]) -> bf16[256,64] {
  %p = bf16[256,64] parameter(0)
  ROOT %hop = bf16[256,64] collective-permute(%p), channel_id=1, \
source_target_pairs={{0,3},{1,0},{2,1},{3,2}}
}

%keeps (q: bf16[256,64]) -> bf16[256,64] {
  ROOT %q = bf16[256,64] parameter(0)
}

%windowed_dot_general_body_ag (s: (bf16[256,64], u32[])) -> (bf16[256,64], u32[]) {
  %s = (bf16[256,64], u32[]) parameter(0)
  %r = bf16[256,64] get-tuple-element(%s), index=0
  %i = u32[] get-tuple-element(%s), index=1
  %one = u32[] constant(1)
  %j = u32[] add(%i, %one)
  %three = u32[] constant(3)
  %more = pred[] compare(%i, %three), direction=LT
  %sent = bf16[256,64] conditional(%more, %r, %r), true_computation=%sends, \
false_computation=%keeps
  ROOT %t = (bf16[256,64], u32[]) tuple(%sent, %j)
}

%cond (s: (bf16[256,64], u32[])) -> pred[] {
  %s = (bf16[256,64], u32[]) parameter(0)
  %i = u32[] get-tuple-element(%s), index=1
  %n = u32[] constant(4)
  ROOT %c = pred[] compare(%i, %n), direction=LT
}

ENTRY %main (w: bf16[256,64]) -> u32[] {
  %w = bf16[256,64] parameter(0)
  %start = u32[] constant(0)
  %g = (bf16[256,64], u32[]) tuple(%w, %start)
  %loop = (bf16[256,64], u32[]) while(%g), condition=%cond, body=%windowed_dot_general_body_ag
  ROOT %n = u32[] get-tuple-element(%loop), index=1
}
"""


def test_a_hop_in_a_branch_of_the_loop(read_text: ReadText) -> None:
    ring = ring_of(read_text(_BRANCHES), "hop")
    assert ring is not None
    assert (ring.hops, ring.count, ring.start and ring.start.name) == ((1, 2, 3, 4), 3, "w")
