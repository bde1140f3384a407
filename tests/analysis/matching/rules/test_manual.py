import re
from collections.abc import Callable

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.step import step
from xlareport.hlo.model import HloModule

Read = Callable[[str], HloModule]

WHOLE = """
%body.1 (p.1: f32[4], q.1: f32[2]) -> (f32[4], f32[2]) {
  %p.1 = f32[4]{0} parameter(0)
  %q.1 = f32[2]{0} parameter(1)
  %sine.1 = f32[4]{0} sine(%p.1)
  %cosine.1 = f32[2]{0} cosine(%q.1)
  ROOT %tuple.1 = (f32[4]{0}, f32[2]{0}) tuple(%sine.1, %cosine.1)
}

ENTRY %main.1 (a: f32[8], b: f32[4]) -> (f32[8], f32[4]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %in = (f32[4]{0}, f32[2]{0}) custom-call(%a, %b), target="xla.sdy.GlobalToLocalShape"
  %in.0 = f32[4]{0} get-tuple-element(%in), index=0
  %in.1 = f32[2]{0} get-tuple-element(%in), index=1
  %call = (f32[4]{0}, f32[2]{0}) call(%in.0, %in.1), to_apply=%body.1
  %out.0 = f32[4]{0} get-tuple-element(%call), index=0
  %out.1 = f32[2]{0} get-tuple-element(%call), index=1
  %out = (f32[8]{0}, f32[4]{0}) custom-call(%out.0, %out.1), target="xla.sdy.LocalToGlobalShape"
  %out.2 = f32[8]{0} get-tuple-element(%out), index=0
  %out.3 = f32[4]{0} get-tuple-element(%out), index=1
  ROOT %result = (f32[8]{0}, f32[4]{0}) tuple(%out.2, %out.3)
}
""".replace("target=", "custom_call_target=")
PARTS = """
%body.2 (p.2: f32[4], q.2: f32[2]) -> (f32[4], f32[2]) {
  %p.2 = f32[4]{0} parameter(0), sharding={manual}
  %q.2 = f32[2]{0} parameter(1), sharding={manual}
  %sine.2 = f32[4]{0} sine(%p.2), sharding={manual}
  %cosine.2 = f32[2]{0} cosine(%q.2), sharding={manual}
  ROOT %tuple.2 = (f32[4]{0}, f32[2]{0}) tuple(%sine.2, %cosine.2)
}

ENTRY %main.2 (c: f32[8], d: f32[4]) -> (f32[8], f32[4]) {
  %c = f32[8]{0} parameter(0)
  %d = f32[4]{0} parameter(1)
  %copy.0 = f32[8]{0} copy(%c), sharding={devices=[2]<=[2]}
  %map.0 = f32[4]{0} custom-call(%copy.0), target="SPMDFullToShardShape", sharding={manual}
  %copy.1 = f32[4]{0} copy(%d), sharding={devices=[2]<=[2]}
  %map.1 = f32[2]{0} custom-call(%copy.1), target="SPMDFullToShardShape", sharding={manual}
  %call.2 = (f32[4]{0}, f32[2]{0}) call(%map.0, %map.1), to_apply=%body.2
  %got.0 = f32[4]{0} get-tuple-element(%call.2), index=0
  %copy.2 = f32[4]{0} copy(%got.0), sharding={manual}
  %map.2 = f32[8]{0} custom-call(%copy.2), target="SPMDShardToFullShape", SHARDED
  %got.1 = f32[2]{0} get-tuple-element(%call.2), index=1
  %copy.3 = f32[2]{0} copy(%got.1), sharding={manual}
  %map.3 = f32[4]{0} custom-call(%copy.3), target="SPMDShardToFullShape", SHARDED
  ROOT %result.2 = (f32[8]{0}, f32[4]{0}) tuple(%map.2, %map.3)
}
""".replace("target=", "custom_call_target=").replace("SHARDED", "sharding={devices=[2]<=[2]}")


def names(matching: Matching, name: str) -> set[str]:
    pairing = matching.pairing_before(Place("main.1", name))
    assert pairing is not None
    assert pairing.relation is Relation.SPLIT
    return {place.instruction for place in pairing.after}


@pytest.fixture(name="split")
def _split(read: Read) -> Matching:
    return match(read(WHOLE), read(PARTS))


def test_a_call_for_several_arrays_is_split_into_one_for_each(split: Matching) -> None:
    assert names(split, "in") == {"map.0", "map.1", "copy.0", "copy.1"}
    assert names(split, "out") == {"map.2", "map.3", "copy.2", "copy.3"}


def test_what_reads_its_arrays_goes_on(split: Matching) -> None:
    assert split.partner_after(Place("body.1", "sine.1")) == Place("body.2", "sine.2")
    assert split.partner_after(Place("body.1", "cosine.1")) == Place("body.2", "cosine.2")
    assert not any(place.instruction.startswith(("map", "copy")) for place in split.added)


def test_other_arrays_are_no_parts_of_a_call(read: Read) -> None:
    other = PARTS.replace("copy(%d)", "negate(%d)")
    pairing = match(read(WHOLE), read(other)).pairing_before(Place("main.1", "in"))
    assert pairing is None or pairing.relation is not Relation.SPLIT


def partitioned() -> str:
    """Return `PARTS` as the partitioner makes it: a copy for each call, in the shape of a shard."""
    lines = PARTS.replace("main.2", "main.3").replace("body.2", "body.3").splitlines()
    copied = [
        line.split(", custom_call_target")[0].replace("custom-call", "copy")
        + f", sharding={line.rpartition('sharding=')[2]}"
        if "target=" in line
        else line
        for line in lines
    ]
    return "\n".join(copied).replace("%map.", "%copied.").replace("f32[8]", "f32[4]")


CALLS = pytest.mark.parametrize("call", ["map.0", "map.1", "map.2", "map.3"])


@CALLS
def test_the_partitioner_makes_a_copy_of_each_call(read: Read, call: str) -> None:
    matching = match(read(PARTS), read(partitioned()))
    partner = matching.partner_after(Place("main.2", call))
    assert partner == Place("main.3", call.replace("map", "copied"))


@CALLS
def test_the_copies_of_calls_may_have_lost_their_shardings(read: Read, call: str) -> None:
    text = re.sub(r", sharding=\{.*?\}$", "", partitioned(), flags=re.MULTILINE)
    assert "sharding" not in text
    matching = match(read(PARTS), read(text))
    partner = matching.partner_after(Place("main.2", call))
    assert partner == Place("main.3", call.replace("map", "copied"))


def test_calls_in_a_row_are_split_one_after_the_other(read: Read) -> None:
    call = '(f32[4]{0}, f32[2]{0}) custom-call(%out.2, %out.3), custom_call_target="xla.sdy.X"'
    call = call.replace("X", "GlobalToLocalShape")
    whole = WHOLE.replace("  ROOT %result", f"  %next = {call}\n  %result")
    whole = (
        whole.rstrip().removesuffix("}") + "  ROOT %end = (f32[4]{0}, f32[2]{0}) copy(%next)\n}\n"
    )
    parts = PARTS.replace("  ROOT %result.2", "  %result.2").rstrip().removesuffix("}") + (
        '  %map.4 = f32[4]{0} custom-call(%map.2), custom_call_target="SPMDFullToShardShape"\n'
        '  %map.5 = f32[2]{0} custom-call(%map.3), custom_call_target="SPMDFullToShardShape"\n'
        "  ROOT %end.2 = (f32[4]{0}, f32[2]{0}) tuple(%map.4, %map.5)\n}\n"
    )
    assert names(match(read(whole), read(parts)), "next") >= {"map.4", "map.5"}


def test_a_sharding_constraint_before_the_call_goes_on_as_a_copy(read: Read) -> None:
    before = WHOLE.replace(
        "  %in = ", '  %held = f32[4]{0} custom-call(%b), custom_call_target="Sharding"\n  %in = '
    ).replace("custom-call(%a, %b)", "custom-call(%a, %held)")
    after = PARTS.replace("  %copy.1 = ", "  %held.2 = f32[4]{0} copy(%d)\n  %copy.1 = ").replace(
        "copy(%d), sharding", "copy(%held.2), sharding"
    )
    matching = match(read(before), read(after))
    assert names(matching, "in") == {"map.0", "map.1", "copy.0", "copy.1"}
    assert matching.partner_after(Place("main.1", "held")) == Place("main.2", "held.2")


def test_a_reshape_between_constraint_and_call_goes_on(read: Read) -> None:
    held = (
        '  %held = f32[2,2]{1,0} custom-call(%b), custom_call_target="Sharding"\n'
        "  %flat = f32[4]{0} reshape(%held)\n  %in = "
    )
    before = WHOLE.replace("  %in = ", held).replace(
        "custom-call(%a, %b)", "custom-call(%a, %flat)"
    )
    before = before.replace("b: f32[4]", "b: f32[2,2]").replace(
        "%b = f32[4]{0}", "%b = f32[2,2]{1,0}"
    )
    after = PARTS.replace(
        "  %copy.1 = ",
        "  %held.2 = f32[2,2]{1,0} copy(%d)\n  %flat.2 = f32[4]{0} reshape(%held.2)\n  %copy.1 = ",
    ).replace("copy(%d), sharding", "copy(%flat.2), sharding")
    after = after.replace("d: f32[4]", "d: f32[2,2]").replace(
        "%d = f32[4]{0}", "%d = f32[2,2]{1,0}"
    )
    matching = match(read(before), read(after))
    assert names(matching, "in") == {"map.0", "map.1", "copy.0", "copy.1"}
    assert matching.partner_after(Place("main.1", "held")) == Place("main.2", "held.2")
    assert matching.partner_after(Place("main.1", "flat")) == Place("main.2", "flat.2")


def test_a_call_that_lost_its_operand_is_no_part(read: Read) -> None:
    match(read(WHOLE), read(PARTS.replace("custom-call(%copy.0)", "custom-call()")))


def test_calls_that_read_the_same_elements_are_parts_in_the_order_of_these(read: Read) -> None:
    named = ', metadata={op_name="jit(f)/shard_map"}'
    head = "HloModule m\n\nENTRY %main.NUMBER (a: f32[4]) -> (f32[8], f32[8], f32[2]) {\n"
    before = head.replace("NUMBER", "1") + (
        "  %a = f32[4]{0} parameter(0)\n"
        '  %many = (f32[4]{0}, f32[4]{0}, f32[2]{0}) custom-call(%a), custom_call_target="f"\n'
        + "".join(
            f"  %e{n} = f32[{size}]{{0}} get-tuple-element(%many), index={n}\n"
            for n, size in enumerate((4, 4, 2))
        )
        + "  ROOT %out = (f32[8]{0}, f32[8]{0}, f32[2]{0}) custom-call(%e0, %e1, %e2),"
        f' custom_call_target="xla.sdy.LocalToGlobalShape"{named}\n}}\n'
    )
    after = head.replace("NUMBER", "2") + (
        "  %b = f32[4]{0} parameter(0)\n"
        '  %several = (f32[4]{0}, f32[4]{0}, f32[2]{0}) custom-call(%b), custom_call_target="g"\n'
        + "".join(
            f"  %x{n} = f32[{size}]{{0}} get-tuple-element(%several), index={n}\n"
            f"  %y{n} = f32[{size}]{{0}} copy(%x{n}){named}\n"
            f"  %z{n} = f32[{whole}]{{0}} custom-call(%y{n}),"
            f' custom_call_target="SPMDShardToFullShape"{named}\n'
            for n, size, whole in ((0, 4, 8), (2, 2, 2), (1, 4, 8))
        )
        + "  ROOT %t = (f32[8]{0}, f32[8]{0}, f32[2]{0}) tuple(%z0, %z1, %z2)\n}\n"
    )
    pairing = match(read(before), read(after)).pairing_before(Place("main.1", "out"))
    assert pairing is not None
    assert [place.instruction for place in pairing.after[:3]] == ["z0", "z1", "z2"]


def test_the_account_names_the_target_of_the_calls_that_a_call_was_split_into(read: Read) -> None:
    change = step(read(WHOLE), read(PARTS))
    words = " ".join((change.headline, *change.account))
    assert "xla.sdy.GlobalToLocalShape → SPMDFullToShardShape" in words
