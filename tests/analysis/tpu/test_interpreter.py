from xlareport.analysis.tpu.control import bundles_with_operations, control_actions
from xlareport.analysis.tpu.dynamic_cycles import counted_cycles, recognize_loop
from xlareport.analysis.tpu.interpreter import Execution, Unknown, run_program
from xlareport.readers.llo.bundles import read_bundles

SLOTS = 1


def run(*bundles: str) -> Execution | Unknown:
    text = "".join(f"{place:#5x}   :  {{ {body} }}\n" for place, body in enumerate(bundles))
    listing, problems = read_bundles(text.replace("0x0 ", "  0 ").encode(), "llo.txt")
    assert problems == []
    actions = control_actions(bundles_with_operations(listing.bundles))
    return run_program(actions, len(bundles), SLOTS)


PIPELINED = (
    "%s1_s1 = smov 0",
    "%s2_s1 = sadd.s32 1, %s1_s1  ;;  %p1_p0 = scmp.ge.s32.totalorder %s1_s1, 4",
    "%9 = sbr.rel (%p1_p0) target bundleno = 6 (0x6), region = 1",
    "%v1_v1 = vadd.s32 %v1_v1, %v1_v1",
    "%v2_v1 = vadd.s32 %v1_v1, %v1_v1",
    "%v3_v1 = vadd.s32 %v1_v1, %v1_v1",
    "%p2_p1 = scmp.ge.s32.totalorder %s2_s1, 6 /* loop exit test */",
    "%10 = sbr.rel (!%p2_p1) target bundleno = 1 (0x1), region = 2",
    "%v4_v1 = vadd.s32 %v1_v1, %v1_v1",
    "%v5_v1 = vadd.s32 %v1_v1, %v1_v1",
)


def test_a_pipelined_loop_runs_its_body_less_often_than_its_limit() -> None:
    result = run(*PIPELINED)
    assert isinstance(result, Execution)
    assert result.counts == (1, 6, 6, 6, 4, 4, 6, 6, 6, 1)


def test_the_closed_form_gives_the_same_cycles() -> None:
    text = "".join(f"{place:#5x}   :  {{ {body} }}\n" for place, body in enumerate(PIPELINED))
    listing, _ = read_bundles(text.replace("0x0 ", "  0 ").encode(), "llo.txt")
    loop = recognize_loop(control_actions(bundles_with_operations(listing.bundles)))
    result = run(*PIPELINED)
    assert loop is not None
    assert isinstance(result, Execution)
    assert counted_cycles(loop, len(PIPELINED), 6, 4, SLOTS) == result.cycles


def test_everything_is_read_before_anything_is_written() -> None:
    result = run(
        "%s1_s1 = smov 1",
        "%s2_s1 = smov 0  ;;  %p1_p0 = scmp.eq.s32.totalorder %s1_s1, 1",
        "%9 = sbr.rel (%p1_p0) target bundleno = 5 (0x5), region = 1",
        "%v1_v1 = vadd.s32 %v1_v1, %v1_v1",
        "%v1_v1 = vadd.s32 %v1_v1, %v1_v1",
        "%v1_v1 = vadd.s32 %v1_v1, %v1_v1",
    )
    assert isinstance(result, Execution)
    assert result.counts == (1, 1, 1, 1, 0, 1)


def test_choices_and_spill_slots() -> None:
    result = run(
        "%s1_s1 = smov 7  ;;  %p1_p0 = scmp.eq.s32.totalorder 1, 1",
        "%3 = sst [smem:[#allocation5_spill]] %s1_s1  ;;  %s2_s2 = smov (%p1_p0, %s9_s9), 7",
        "%s1_s1 = smov 0  ;;  %s2_s3 = scalar_select %p1_p0, 7, %s9_s9",
        "%s4_s4 = sld [smem:[#allocation5_spill]]  ;;  %s5_s5 = ssub.s32 %s2_s2, %s2_s3",
        "%p2_p1 = scmp.ne.s32.totalorder %s4_s4, 7  ;;  %p3_p2 = scmp.ne.s32.totalorder %s5_s5, 0",
        "%p4_p3 = por %p2_p1, %p3_p2",
        "%9 = sbr.rel (%p4_p3) target bundleno = 0 (0x0), region = 1",
        "%v1_v1 = vadd.s32 %v1_v1, %v1_v1",
    )
    assert isinstance(result, Execution)
    assert result.counts == (1,) * 8


def test_what_does_not_decide_a_branch_may_be_unknown() -> None:
    result = run(
        "%s1_s1 = sld [smem:[#allocation2]]  ;;  %p1_p1 = scmp.lt.s32.totalorder %s1_s1, 5",
        "%9 = shalt.err (!%p1_p1)",
        "%p2_p0 = pand %p1_p1, %p3_p2  ;;  %p3_p2 = scmp.eq.s32.totalorder 0, 1",
        "%p2_p0 = pand %p1_p1, %p3_p2",
        "%9 = sbr.rel (%p2_p0) target bundleno = 0 (0x0), region = 1",
        "%v1_v1 = vadd.s32 %v1_v1, %v1_v1",
    )
    assert isinstance(result, Execution)
    assert result.cycles == 6


def test_a_branch_on_an_unknown_value() -> None:
    result = run(
        "%s1_s1 = sld [smem:[#allocation2]]",
        "%p1_p1 = scmp.lt.s32.totalorder %s1_s1, 5",
        "%9 = sbr.rel (%p1_p1) target bundleno = 0 (0x0), region = 1",
        "%v1_v1 = vadd.s32 %v1_v1, %v1_v1",
    )
    assert result == Unknown("a branch depends on a value that is not known", 2)


def test_loops_that_never_end_and_targets_that_are_not_there() -> None:
    endless = run("%9 = sbr.rel target bundleno = 0 (0x0), region = 1", "%v = vnop")
    assert endless == Unknown("it runs more scalar operations than are followed")
    for target in ("bundleno = 99 (0x63)", "region = 7"):
        result = run(f"%9 = sbr.rel target {target}", "%v = vnop")
        assert result == Unknown("the target of a branch is not known", 0)


def test_a_branch_in_the_delay_slot_of_another() -> None:
    branch = "%9 = sbr.rel target bundleno = 2 (0x2), region = 1"
    assert run(branch, branch, "%v = vnop") == Unknown(
        "a branch is in the delay slots of another", 1
    )
