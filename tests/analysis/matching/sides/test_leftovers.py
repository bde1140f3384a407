from collections.abc import Callable

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.sides.leftovers import dead_names, left_over, unread_heavy
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

DOT = "%dot.1 = f32[32,16]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
CALL = '%gemm.1 = f32[32,16]{1,0} custom-call(%x, %w), custom_call_target="__cublas$gemm"'


def module(result: str, *lines: str) -> str:
    body = "\n  ".join(lines)
    return f"""
HloModule step
ENTRY %main (x: f32[32,64], w: f32[64,16]) -> f32[32,16] {{
  %x = f32[32,64]{{1,0}} parameter(0)
  %w = f32[64,16]{{1,0}} parameter(1)
  {body}
  ROOT %tanh.1 = f32[32,16]{{1,0}} tanh(%{result})
}}
"""


def test_a_dot_that_nothing_reads_is_left_over(read: Read) -> None:
    before, after = read(module("dot.1", DOT)), read(module("gemm.1", DOT, CALL))
    lines = left_over(before.computations[0], after.computations[0])
    assert [line.name for line in lines] == ["dot.1"]


def test_what_nothing_read_before_is_not_left_over_now(read: Read) -> None:
    before, after = read(module("x", DOT)), read(module("w", DOT))
    assert [line.name for line in unread_heavy(after.computations[0])] == ["dot.1"]
    assert not left_over(before.computations[0], after.computations[0])


def test_a_library_call_that_nothing_reads_acts_where_it_says_so(read: Read) -> None:
    acting = f"{CALL}, custom_call_has_side_effect=true"
    assert not unread_heavy(read(module("dot.1", DOT, acting)).computations[0])
    (unread,) = unread_heavy(read(module("dot.1", DOT, CALL)).computations[0])
    assert unread.opcode == "custom-call"


def test_what_only_an_unread_library_call_reads_is_dead_too(read: Read) -> None:
    """As the checked indices of a gather that another gather replaced."""
    checked = "%copied = f32[32,64]{1,0} copy(%x)\n  " + CALL.replace("%x", "%copied")
    sliced = "%s = f32[16,16]{1,0} slice(%gemm.1), slice={[0:16], [0:16]}"
    computation = read(module("dot.1", DOT, checked, sliced)).computations[0]
    assert dead_names(computation) == {"copied", "gemm.1", "s"}


def test_the_work_of_a_dot_that_is_left_over_goes_on_in_the_new_one(read: Read) -> None:
    matching = match(read(module("dot.1", DOT)), read(module("gemm.1", DOT, CALL)))
    assert matching.partner_after(Place("main", "dot.1")) == Place("main", "gemm.1")


UNREAD_COPY = (
    "%dot.2 = f32[32,16]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
)
NEW = "%dot.3 = f32[32,16]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def test_a_second_copy_that_nothing_reads_is_new_and_no_other_instruction(read: Read) -> None:
    matching = match(read(module("dot.1", DOT)), read(module("dot.3", UNREAD_COPY, NEW)))
    assert matching.partner_after(Place("main", "dot.1")) == Place("main", "dot.3")
    said = matching.pairing_after(Place("main", "dot.2"))
    assert said is not None
    assert (said.before, said.grade, said.reason) == ((), Grade.EXACT, "it has no users")


def test_what_is_dead_code_does_nothings_work(read: Read) -> None:
    old = '%fill.1 = f32[32,16]{1,0} broadcast(%w), dimensions={1}, metadata={op_name="f"}'
    new = old.replace("fill.1", "fill.2").replace("{1}", "{0}")
    matching = match(read(module("fill.1", old)), read(module("w", new)))
    assert matching.partner_after(Place("main", "fill.1")) is None
    assert matching.partner_before(Place("main", "fill.2")) is None


def test_what_only_dead_code_reads_is_no_other_instruction_either(read: Read) -> None:
    dead = "%abs.2 = f32[32,16]{1,0} abs(%dot.2)"
    matching = match(read(module("dot.1", DOT)), read(module("dot.3", UNREAD_COPY, dead, NEW)))
    assert matching.partner_after(Place("main", "dot.1")) == Place("main", "dot.3")
    said = matching.pairing_after(Place("main", "dot.2"))
    assert said is not None
    assert (said.before, said.reason) == ((), "only dead instructions use it")


_SPARE = """
HloModule step
ENTRY %main (a: u64[4,4]) -> u64[4,4] {
  %a = u64[4,4]{1,0} parameter(0)
  %c = u64[] constant(3)
  %i.1 = u64[4]{0} iota(), iota_dimension=0, metadata={op_name="f/iota"}
  %threes = u64[4]{0} broadcast(%c), dimensions={}, metadata={op_name="f/iota"}
  %mul.1 = u64[4]{0} multiply(%i.1, %threes), metadata={op_name="f/iota"}
  %row.1 = u64[4,4]{1,0} broadcast(%mul.1), dimensions={0}, metadata={op_name="f/iota"}
  DEAD
  COPY
  ROOT %add = u64[4,4]{1,0} add(%row.1, READ), metadata={op_name="f/add"}
}
"""
_DEAD = """%i.2 = u64[4,4]{1,0} iota(), iota_dimension=0, metadata={op_name="f/iota"}
  %mul.2 = u64[4,4]{1,0} multiply(%i.2, %a), metadata={op_name="f/iota"}"""
_COPY = """%i.3 = u64[4]{0} iota(), iota_dimension=0, metadata={op_name="f/iota"}
  %mul.3 = u64[4]{0} multiply(%i.3, %threes), metadata={op_name="f/iota"}
  %row.3 = u64[4,4]{1,0} broadcast(%mul.3), dimensions={0}, metadata={op_name="f/iota"}"""


def test_a_copy_of_other_dimensions_does_not_continue_dead_code(read: Read) -> None:
    before = _SPARE.replace("DEAD", _DEAD).replace("COPY", "").replace("READ", "%row.1")
    after = _SPARE.replace("DEAD", "").replace("COPY", _COPY).replace("READ", "%row.3")
    matching = match(read(before), read(after))
    for name in ("i.2", "mul.2"):
        assert matching.partner_after(Place("main", name)) is None
    for name in ("i", "mul", "row"):
        said = matching.pairing_after(Place("main", f"{name}.3"))
        assert said is not None
        assert (said.before, said.relation) == ((Place("main", f"{name}.1"),), Relation.CLONED)
