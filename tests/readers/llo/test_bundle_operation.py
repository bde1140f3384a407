from xlareport.readers.llo.bundle_operation import parse_operations, register, registers


def test_result_predicate_and_operands() -> None:
    (operation,) = parse_operations("{ %s30_s25 = sadd.s32 (!%p5_p3), 1, %s29_s24 /* next */ }")
    assert (operation.result, operation.opcode) == ("s25", "sadd.s32")
    assert (operation.predicate, operation.negated) == ("p3", True)
    assert operation.operands == "1, %s29_s24"
    assert registers(operation.operands) == ("s24",)


def test_a_choice_is_no_predicate() -> None:
    (operation,) = parse_operations("{ %s4_s1 = smov (%p5_p3, %s9_s2), 0 }")
    assert operation.predicate == ""
    assert operation.operands == "(%p5_p3, %s9_s2), 0"


def test_slots_of_spilled_registers() -> None:
    spilled, other = parse_operations(
        "{ %12 = sst [smem:[#allocation21_spill]] %s1_s0  ;;  "
        "%v1_v2 = vld [vmem:[%s1_s0] sm:$0xff] }"
    )
    assert (spilled.is_spill_slot, other.is_spill_slot) == (True, False)


def test_names_without_a_register() -> None:
    assert (register("1554"), register("vm345_vm3"), register("")) == ("", "vm3", "")


def test_an_opcode_can_begin_with_a_digit() -> None:
    (operation,) = parse_operations("{ %s343_s10 = 2pop.sc7b }")
    assert (operation.result, operation.opcode, operation.operands) == ("s10", "2pop.sc7b", "")
