"""Collectives that send the same in each iteration of a loop."""

from collections.abc import Callable

from tests.analysis.findings.texts import having

from xlareport.analysis.findings.finding import Case
from xlareport.analysis.findings.invariant_collectives import invariant_collectives

LOOP = having("invariant-collectives")
MakeCase = Callable[[str], Case]


def test_all_iterations_but_the_first_send_again(case_of: MakeCase) -> None:
    (finding,) = invariant_collectives(case_of(LOOP))
    assert finding.places == (("body", "g"),)
    # 7 times three parts of 256 KiB
    assert "at least 5.3 MiB per device are sent again" in finding.evidence
    assert "`g` sends the same in each of 8 iterations of `loop`, from `w`" in finding.evidence
    assert "with_sharding_constraint" in finding.suggestion


OUTER = """outer_body {
  s = (s32[], f32[64,1024], f32[64,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[64,1024] get-tuple-element(s), index=1
  x = f32[64,1024] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  t = (s32[], f32[64,1024], f32[64,1024]) tuple(zero, w, x)
  loop = (s32[], f32[64,1024], f32[64,1024]) while(t), condition=condition, body=body
  y = f32[64,1024] get-tuple-element(loop), index=2
  ROOT r = (s32[], f32[64,1024], f32[64,1024]) tuple(next, w, y)
}

outer_condition {
  s = (s32[], f32[64,1024], f32[64,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY"""


def test_loops_around_that_change_nothing_count_too(case_of: MakeCase) -> None:
    entry = "while(t), condition=outer_condition, body=outer_body"
    head, _, rest = LOOP.partition("ENTRY")
    text = head + OUTER + rest.replace("while(t), condition=condition, body=body", entry)
    text = text.replace("ROOT loop =", "ROOT steps =")
    (finding,) = invariant_collectives(case_of(text))
    # 31 times three parts of 256 KiB
    assert "at least 23.3 MiB per device are sent again" in finding.evidence
    assert "in each of 8 iterations of `loop`, 4 times in `steps`, from `w`" in finding.evidence
    assert finding.suggestion.startswith("Do it once before `steps`, the outer loop, and let")
    changed = text.replace("tuple(next, w, y)\n}\n\nouter", "tuple(next, y, w)\n}\n\nouter")
    assert changed != text
    (finding,) = invariant_collectives(case_of(changed))
    assert "in each of 8 iterations of `loop`, from `w`" in finding.evidence
    assert finding.suggestion.startswith("Do it once before the loop and let")


def test_a_loop_that_sends_once_sends_nothing_again(case_of: MakeCase) -> None:
    assert not list(invariant_collectives(case_of(LOOP.replace("constant(8)", "constant(1)"))))


def test_of_a_loop_of_unknown_trip_count_one_iteration_is_told(case_of: MakeCase) -> None:
    unknown = LOOP.replace("n = s32[] constant(8)", "n = s32[] get-tuple-element(s), index=0")
    (finding,) = invariant_collectives(case_of(unknown))
    assert finding.title == "Loop-invariant collective in a loop of unknown trip count"
    # three parts of 256 KiB
    assert finding.evidence.startswith(
        "`g`: 768 KiB per device are sent again in each iteration but the first, "
    )
    assert "`g` sends the same in each iteration of `loop`, from `w`" in finding.evidence


def test_small_repeats_are_no_finding(case_of: MakeCase) -> None:
    small = LOOP.replace("64,1024", "4,64").replace("256,1024", "16,64").replace("64,256", "4,16")
    assert not list(invariant_collectives(case_of(small)))


def test_a_sum_has_another_remedy(case_of: MakeCase) -> None:
    scalars = "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    add = f"add {{\n{scalars}  ROOT z = f32[] add(a, b)\n}}\n\n"
    text = LOOP.replace("body {", f"{add}body {{", 1)
    text = text.replace(
        "g = f32[256,1024] all-gather(w), channel_id=1, dimensions={0},",
        ("g = f32[64,1024] all-reduce(w), channel_id=1, to_apply=add,"),
    )
    (finding,) = invariant_collectives(case_of(text))
    assert finding.suggestion.endswith("compute the value outside of the loop.")


def test_an_exchange_has_the_sharding_that_the_loop_reads_as_remedy(case_of: MakeCase) -> None:
    text = LOOP.replace(
        "g = f32[256,1024] all-gather(w), channel_id=1, dimensions={0},",
        "g = f32[64,1024] all-to-all(w), channel_id=1, dimensions={0},",
    )
    (finding,) = invariant_collectives(case_of(text))
    assert finding.suggestion.endswith("to the sharding that the loop reads, outside of the loop.")


def test_of_a_combined_collective_the_operands_that_stay_count(case_of: MakeCase) -> None:
    both = "(f32[256,1024], f32[256,1024])"
    combined = LOOP.replace(
        "  g = f32[256,1024] all-gather(w),", f"  h = {both} all-gather(w, x),", 1
    ).replace("  p = f32", "  g = f32[256,1024] get-tuple-element(h), index=0\n  p = f32", 1)
    (finding,) = invariant_collectives(case_of(combined))
    # as above: half of twice the bytes
    assert "at least 5.3 MiB per device are sent again" in finding.evidence
    assert "`h` sends 1 of its 2 operands (`w`, 50% of the bytes) the same" in finding.evidence


def test_an_element_of_a_tuple_in_the_body_stays_if_it_does_itself(case_of: MakeCase) -> None:
    tuples = (
        "  both = (f32[64,1024], f32[64,1024]) tuple(w, x)\n"
        "  element = f32[64,1024] get-tuple-element(both), index=0\n"
    )
    text = LOOP.replace(
        "  g = f32[256,1024] all-gather(w)", f"{tuples}  g = f32[256,1024] all-gather(element)", 1
    )
    assert list(invariant_collectives(case_of(text)))
    other = text.replace("index=0\n  g", "index=1\n  g", 1)
    assert not list(invariant_collectives(case_of(other)))
