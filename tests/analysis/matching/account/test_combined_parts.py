"""What a combined sum over devices is told to combine."""

from collections.abc import Callable

from xlareport.analysis.history.instruction import SnapshotSequence, history
from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

_WHOLE = """HloModule m

ENTRY %main (x: f32[8,4], w: f32[4,6], v: f32[4,2]) -> (f32[8,6], f32[8,2], f32[8,4]) {
  %x = f32[8,4]{1,0} parameter(0)
  %w = f32[4,6]{1,0} parameter(1)
  %v = f32[4,2]{1,0} parameter(2)
  %dot.1 = f32[8,6]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/first/dot_general"}
  %dot.2 = f32[8,2]{1,0} dot(%x, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
metadata={op_name="jit(f)/second/dot_general"}
  ROOT %out = (f32[8,6]{1,0}, f32[8,2]{1,0}, f32[8,4]{1,0}) tuple(%dot.1, %dot.2, %x)
}
"""
_PARTS = """HloModule m

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (x: f32[8,2], w: f32[2,6], v: f32[2,2]) -> (f32[8,6], f32[8,2], f32[8,2]) {
  %x = f32[8,2]{1,0} parameter(0)
  %w = f32[2,6]{1,0} parameter(1)
  %v = f32[2,2]{1,0} parameter(2)
  %convolution.5 = f32[8,6]{1,0} convolution(%x, %w), dim_labels=bf_io->bf, \
metadata={op_name="jit(f)/first/dot_general"}
  %convolution.6 = f32[8,2]{1,0} convolution(%x, %v), dim_labels=bf_io->bf, \
metadata={op_name="jit(f)/second/dot_general"}
  %bitcast.5 = f32[8,6]{1,0} bitcast(%convolution.5)
  %bitcast.6 = f32[8,2]{1,0} bitcast(%convolution.6)
  %all-reduce.1 = (f32[8,6]{1,0}, f32[8,2]{1,0}) all-reduce(%bitcast.5, %bitcast.6), \
to_apply=%sum, metadata={op_name="jit(f)/first/dot_general"}
  %first = f32[8,6]{1,0} get-tuple-element(%all-reduce.1), index=0
  %second = f32[8,2]{1,0} get-tuple-element(%all-reduce.1), index=1
  ROOT %out = (f32[8,6]{1,0}, f32[8,2]{1,0}, f32[8,2]{1,0}) tuple(%first, %second, %x)
}
"""
_SUM = Place("main", "all-reduce.1")


def test_a_combined_sum_names_all_of_which_it_has_partial_results(read: Read) -> None:
    before, after = read(_WHOLE), read(_PARTS)
    added = match(before, after).pairing_after(_SUM)
    assert added is not None
    assert str(added.reason) == "it combines partial results of %convolution.5 and of 1 more"
    first, *_ = history(SnapshotSequence([before, after]), 1, _SUM)
    why = "it combines partial results of 2 instructions; before: %dot.1, %dot.2"
    assert first.why == why


def test_what_has_no_counterpart_is_counted(read: Read) -> None:
    other = _PARTS.replace("bitcast(%convolution.6)", "iota(), iota_dimension=0")
    added = SnapshotSequence([read(_WHOLE), read(other)])
    first, *_ = history(added, 1, _SUM)
    assert first.why == (
        "it combines partial results of %convolution.5 and of 1 more; before: %dot.1"
    )


_JOINED = (
    _PARTS.replace("f32[8,6]{1,0} bitcast", "f32[48]{0} bitcast")
    .replace("f32[8,2]{1,0} bitcast", "f32[16]{0} bitcast")
    .replace(
        "(f32[8,6]{1,0}, f32[8,2]{1,0}) all-reduce(%bitcast.5, %bitcast.6), to_apply=%sum, "
        'metadata={op_name="jit(f)/first/dot_general"}',
        "f32[64]{0} all-reduce(%both), to_apply=%sum",
    )
    .replace(
        "  %all-reduce.1",
        "  %both = f32[64]{0} concatenate(%bitcast.5, %bitcast.6), dimensions={0}\n  %all-reduce.1",
    )
    .replace(
        "%first = f32[8,6]{1,0} get-tuple-element(%all-reduce.1), index=0",
        "%part.1 = f32[48]{0} slice(%all-reduce.1), slice={[0:48]}\n"
        "  %first = f32[8,6]{1,0} bitcast(%part.1)",
    )
    .replace(
        "%second = f32[8,2]{1,0} get-tuple-element(%all-reduce.1), index=1",
        "%part.2 = f32[16]{0} slice(%all-reduce.1), slice={[48:64]}\n"
        "  %second = f32[8,2]{1,0} bitcast(%part.2)",
    )
)


def test_a_combined_sum_of_a_concatenation_names_the_pieces(read: Read) -> None:
    """So are all-reduces combined on GPUs: the one that sends all has no op_name."""
    before, after = read(_WHOLE), read(_JOINED)
    added = match(before, after).pairing_after(_SUM)
    assert added is not None
    assert str(added.reason) == "it combines partial results of %convolution.5 and of 1 more"
    first, *_ = history(SnapshotSequence([before, after]), 1, _SUM)
    why = "it combines partial results of 2 instructions; before: %dot.1, %dot.2"
    assert first.why == why


def test_a_sum_of_one_value_without_op_name_names_none(read: Read) -> None:
    alone = _JOINED.replace("concatenate(%bitcast.5, %bitcast.6)", "concatenate(%bitcast.5)")
    added = match(read(_WHOLE), read(alone)).pairing_after(_SUM)
    assert added is not None
    assert "partial results" not in str(added.reason)


def test_a_sum_of_a_sum_over_other_devices_names_what_both_combine(read: Read) -> None:
    """The SPMD partitioner sums over one axis of the mesh, then over the other."""
    name = 'metadata={op_name="jit(f)/first/dot_general"}'
    twice = _PARTS.replace(
        "  %first =",
        f"  %rows = f32[8,6]{{1,0}} all-reduce(%bitcast.5), to_apply=%sum, {name}\n"
        f"  %all = f32[8,6]{{1,0}} all-reduce(%rows), to_apply=%sum, {name}\n  %first =",
    ).replace("tuple(%first,", "tuple(%all,")
    pairing = match(read(_WHOLE), read(twice)).pairing_after(Place("main", "all"))
    assert pairing is not None
    assert str(pairing.reason) == "it combines partial results of %convolution.5, after %rows"


_GATHERED = """HloModule m

ENTRY %main (table: f32[8,4], rows: s32[2,1]) -> f32[2,4] {
  %table = f32[8,4]{1,0} parameter(0)
  %rows = s32[2,1]{1,0} parameter(1)
  %gather.1 = f32[2,4]{1,0} gather(%table, %rows), offset_dims={1}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}, metadata={op_name="jit(f)/gather"}
  ROOT %out = f32[2,4]{1,0} sine(%gather.1)
}
"""
_MASKED = """HloModule m

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (table: f32[4,4], rows: s32[2,1]) -> f32[2,4] {
  %table = f32[4,4]{1,0} parameter(0)
  %rows = s32[2,1]{1,0} parameter(1)
  %gather.2 = f32[2,4]{1,0} gather(%table, %rows), offset_dims={1}, collapsed_slice_dims={0}, \
start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}, metadata={op_name="jit(f)/gather"}
  %four = s32[] constant(4)
  %bound = s32[2,1]{1,0} broadcast(%four), dimensions={}
  %away = pred[2,1]{1,0} compare(%rows, %bound), direction=GE
  %flat = pred[2]{0} reshape(%away)
  %mask = pred[2,4]{1,0} broadcast(%flat), dimensions={0}
  %zero = f32[] constant(0)
  %zeros = f32[2,4]{1,0} broadcast(%zero), dimensions={}
  %select.1 = f32[2,4]{1,0} select(%mask, %zeros, %gather.2), metadata={op_name="jit(f)/gather"}
  %all-reduce.1 = f32[2,4]{1,0} all-reduce(%select.1), to_apply=%sum, \
metadata={op_name="jit(f)/gather"}
  ROOT %out = f32[2,4]{1,0} sine(%all-reduce.1)
}
"""


def test_a_sum_of_masked_rows_combines_what_each_device_gathers(read: Read) -> None:
    added = match(read(_GATHERED), read(_MASKED)).pairing_after(_SUM)
    assert added is not None
    assert str(added.reason) == "it combines partial results of %gather.2"


def test_the_gathered_rows_may_be_moved_before_they_are_masked(read: Read) -> None:
    moved = _MASKED.replace(
        "  %four", "  %bitcast.2 = f32[2,4]{1,0} bitcast(%gather.2)\n  %four"
    ).replace("%zeros, %gather.2", "%zeros, %bitcast.2")
    added = match(read(_GATHERED), read(moved)).pairing_after(_SUM)
    assert added is not None
    assert str(added.reason) == "it combines partial results of %gather.2"


def test_a_choice_of_two_values_is_no_mask(read: Read) -> None:
    chosen = _MASKED.replace("broadcast(%zero), dimensions={}", "sine(%gather.2)")
    added = match(read(_GATHERED), read(chosen)).pairing_after(_SUM)
    assert added is not None
    assert "partial results" not in str(added.reason)


def test_a_value_that_one_device_lets_through_is_no_partial_result(read: Read) -> None:
    """A sum of what one device has and of zeros sends the value to the others."""
    whole = _GATHERED.replace(
        "ROOT %out = f32[2,4]{1,0} sine(%gather.1)",
        """%neg.1 = f32[2,4]{1,0} \
negate(%gather.1), metadata={op_name="jit(f)/gather"}
  ROOT %out = f32[2,4]{1,0} sine(%neg.1)""",
    )
    sent = _MASKED.replace(
        "  %four",
        """  %neg.2 = f32[2,4]{1,0} negate(%gather.2), \
metadata={op_name="jit(f)/gather"}
  %four""",
    ).replace("select(%mask, %zeros, %gather.2)", "select(%mask, %zeros, %neg.2)")
    added = match(read(whole), read(sent)).pairing_after(_SUM)
    assert added is not None
    assert "partial results" not in str(added.reason)
