import re
from collections.abc import Callable, Sequence

from tests.modules import parse_module

from xlareport.analysis.matching.search.pairing import Pairing, Place, Relation
from xlareport.analysis.matching.search.result import Matching
from xlareport.analysis.steps.changes import changes
from xlareport.analysis.steps.kinds import Kind
from xlareport.analysis.steps.step import ModuleSize, StepChange, figures_of, step
from xlareport.hlo.model import HloModule
from xlareport.hlo.text import TextReader
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]

BEFORE = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %divide.4 = f32[8]{0} divide(%a, %b), metadata={op_name="jit(f)/jvp(layer_3)/mlp/div"}
  %idle.1 = f32[8]{0} tanh(%a)
  ROOT %out = f32[8]{0} negate(%divide.4)
}
"""
AFTER = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %multiply.9 = f32[8]{0} multiply(%a, %b), metadata={op_name="jit(f)/jvp(layer_3)/mlp/div"}
  ROOT %out = f32[8]{0} negate(%multiply.9)
}
"""


def kinds(change: StepChange) -> set[Kind]:
    return {one.kind for one in change.changes}


def test_the_same_snapshot_twice(read: Read) -> None:
    change = step(read(BEFORE), read(BEFORE), "`algsimp`")
    assert change.identical
    assert change.changes == ()
    assert change.headline == "`algsimp` did not change the module."
    assert change.before == change.after == ModuleSize(instructions=5, computations=1, fusions=0)


def test_the_headline_names_an_instruction_before_and_after_with_its_scope(read: Read) -> None:
    change = step(read(BEFORE), read(AFTER), "`algsimp`")
    assert change.headline == (
        "`algsimp` replaced 1 divide with a multiply and removed 1 dead tanh; "
        "`%divide.4` in `main` (`layer_3/mlp`) became `%multiply.9`."
    )
    assert change.account == (
        "Removed 1 dead tanh: the tanh `%idle.1` in `main` was removed: it had no users.",
    )


def test_nothing_is_known_of_the_pass(read: Read) -> None:
    change = step(read(BEFORE), read(AFTER))
    assert change.headline.startswith("Passes between the two snapshots replaced")


def test_added_removed_and_modified_are_told_apart(read: Read) -> None:
    change = step(read(BEFORE), read(AFTER))
    assert [one.kind for one in change.removed] == [Kind.DEAD]
    assert [one.kind for one in change.modified] == [Kind.REPLACED]
    assert change.added == ()
    assert change.opcode_delta == (("divide", 1, 0), ("multiply", 0, 1), ("tanh", 1, 0))
    back = step(read(AFTER), read(BEFORE))
    assert [one.kind for one in back.added] == [Kind.UNUSED]


def test_numbers_that_shifted_are_counted_and_no_change(read: Read) -> None:
    change = step(read(BEFORE), read(BEFORE.replace("divide.4", "divide.7")))
    assert change.renumbered == 1
    assert change.changes == ()
    assert "only changed the numbers in the names of 1 instruction" in change.headline


def test_a_computation_that_only_got_another_name(read: Read) -> None:
    def reduced(name: str) -> str:
        return (
            f"%{name} (x: f32[], y: f32[]) -> f32[] {{\n  %x = f32[] parameter(0)\n"
            "  %y = f32[] parameter(1)\n  ROOT %s = f32[] add(%x, %y)\n}\n\n"
            "ENTRY %main (a: f32[8], z: f32[]) -> f32[] {\n  %a = f32[8]{0} parameter(0)\n"
            "  %z = f32[] parameter(1)\n"
            f"  ROOT %r = f32[] reduce(%a, %z), dimensions={{0}}, to_apply=%{name}\n}}"
        )

    change = step(read(reduced("region")), read(reduced("sum")), "`rename`")
    assert change.changes == ()
    assert change.headline == "`rename` only renamed 1 computation."


def test_a_name_that_changed_is_a_change(read: Read) -> None:
    change = step(read(BEFORE), read(BEFORE.replace("divide.4", "quotient")))
    assert kinds(change) == {Kind.RENAMED}
    assert change.renumbered == 0


def test_what_changed_in_a_line_is_named(read: Read) -> None:
    after = BEFORE.replace("%out = f32[8]{0}", "%out = f32[8]{0:T(256)}").replace(
        "negate(%divide.4)", "negate(%divide.4), sharding={replicated}"
    )
    change = step(read(BEFORE), read(after))
    [one] = change.modified
    assert one.kinds == (Kind.LAYOUT, Kind.SHARDING)
    assert [*map(str, one.details)] == ["{0} → {0:T(256)}", "sharding: none → {replicated}"]


def test_another_element_type_is_a_change_of_numbers(read: Read) -> None:
    after = BEFORE.replace("%idle.1 = f32[8]", "%idle.1 = bf16[8]")
    [one] = step(read(BEFORE), read(after)).modified
    assert one.kind is Kind.TYPE


def test_the_order_counts_in_a_scheduled_module(read: Read) -> None:
    lines = BEFORE.strip().splitlines()
    lines[3], lines[4] = lines[4], lines[3]
    moved = "\n".join(lines)
    assert step(read(BEFORE), read(moved)).changes == ()
    reader = TextReader()
    texts = (BEFORE.strip(), moved)
    scheduled = [
        reader.read(f"HloModule m, is_scheduled=true\n\n{text}\n".encode(), "m") for text in texts
    ]
    assert scheduled[0] is not None
    assert scheduled[1] is not None
    [moved] = step(scheduled[0], scheduled[1]).changes
    assert moved.kind is Kind.REORDERED
    assert moved.details[0] in ("from position 2 to 3", "from position 3 to 2")  # from 0
    assert step(read(BEFORE), scheduled[1]).changes == ()


def test_what_moved_past_others_is_reordered_though_it_is_at_the_same_position() -> None:
    order = "k = s32[] constant(7)|a = f32[8] negate(p)|c = s32[] constant(2)|b = f32[8] abs(a)"
    lines = order.split("|")

    def scheduled(lines: Sequence[str]) -> HloModule:
        body = "\n  ".join(["p = f32[8] parameter(0)", *lines])
        root = "ROOT t = (f32[8], s32[], s32[]) tuple(b, c, k)"
        header = "HloModule m, is_scheduled=true\n\nENTRY e {"
        return parse_module(f"{header}\n  {body}\n  {root}\n}}\n")

    later = [lines[1], lines[3], lines[2], lines[0]]
    moved = step(scheduled(lines), scheduled(later)).changes
    details = {row.before.instruction: str(row.details[0]) for row in moved if row.before}
    assert details == {"c": "behind %b", "k": "from position 1 to 4"}


def test_repeated_changes_are_counted_once_by_layer(read: Read) -> None:
    def layers(opcode: str) -> str:
        lines = "\n".join(
            f'  %t.{n} = f32[8]{{0}} {opcode}(%a), metadata={{op_name="jit(f)/layer_{n}/mlp/tanh"}}'
            for n in range(4)
        )
        read = ", ".join(f"%t.{n}" for n in range(4))
        shape = ", ".join(["f32[8]{0}"] * 4)
        return (
            "ENTRY %main (a: f32[8]) -> f32[8] {\n  %a = f32[8]{0} parameter(0)\n"
            f"{lines}\n  ROOT %out = ({shape}) tuple({read})\n}}"
        )

    change = step(read(layers("tanh")), read(layers("sine")))
    [group] = change.groups
    assert (group.count, group.per_layer, group.layers) == (4, 1, 4)
    assert group.scope == "layer_*/mlp"
    assert group.repetition == "one of 4, one per layer"


def test_figures(read: Read) -> None:
    assert figures_of(read(AFTER)) == ModuleSize(instructions=4, computations=1, fusions=0)


FUSED = """
%fused (p: f32[8], q: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %d = f32[8]{0} divide(%p, %q)
  ROOT %s = f32[8]{0} sine(%d)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %fusion = f32[8]{0} fusion(%a, %b), kind=kLoop, calls=%fused
  ROOT %out = f32[8]{0} negate(%fusion)
}
"""
UNFUSED = """
ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %d = f32[8]{0} divide(%a, %b)
  %s = f32[8]{0} sine(%d)
  ROOT %out = f32[8]{0} negate(%s)
}
"""


CALLED = """
%inner (p: f32[8], q: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %d = f32[8]{0} divide(%p, %q)
  ROOT %s = f32[8]{0} sine(%d)
}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %call = f32[8]{0} call(%a, %b), to_apply=%inner
  ROOT %out = f32[8]{0} negate(%call)
}
"""


def test_a_fusion_of_an_inlined_call_is_told_where_it_stands(read: Read) -> None:
    change = step(read(CALLED), read(FUSED), "`fusion`")
    [fusion] = [one for one in change.changes if one.kind is Kind.FUSED]
    assert fusion.scope == "main"


def test_a_fusion_is_told_with_what_it_took_in_and_what_follows_is_no_news(read: Read) -> None:
    change = step(read(UNFUSED), read(FUSED), "`fusion`")
    assert change.headline == (
        "`fusion` created 1 fusion from 2 instructions; `%fusion` in `main` fuses `%d` and `%s`."
    )
    assert change.account == ()
    assert kinds(change) == {Kind.FUSED, Kind.MOVED, Kind.PARAMETER, Kind.REWIRED}
    [fusion] = [one for one in change.changes if one.kind is Kind.FUSED]
    assert [place.instruction for place in fusion.members] == ["d", "s"]


def test_a_reader_of_what_was_fused_or_inlined_reads_the_same_value(read: Read) -> None:
    for before, after in ((UNFUSED, FUSED), (FUSED, UNFUSED)):
        change = step(read(before), read(after))
        assert [one.after for one in change.modified if one.kind is Kind.OPERANDS] == []
        [one] = [one for one in change.modified if one.kind is Kind.REWIRED]
        assert one.after is not None
        assert one.after.instruction == "out"


def test_a_step_that_rewrites_the_module_says_so(read: Read) -> None:
    def rows(shape: str) -> str:
        lines = "\n".join(f"  %t.{n} = {shape}{{0}} tanh(%t.{n - 1})" for n in range(1, 40))
        return (
            f"ENTRY %main (a: {shape}) -> {shape} {{\n  %t.0 = {shape}{{0}} parameter(0)\n{lines}\n"
            f"  ROOT %out = {shape}{{0}} sine(%t.39)\n}}"
        )

    change = step(read(rows("f32[8]")), read(rows("f32[4]")))
    assert "Module-wide change: 41 of 41 instructions." in change.account


def test_what_reads_another_value_under_another_number_only_is_not_rewritten(read: Read) -> None:
    before = BEFORE.replace("negate(%divide.4)", "negate(%t.1)").replace(
        "  ROOT", "  %t.1 = f32[8]{0} tanh(%divide.4)\n  ROOT"
    )
    after = before.replace("divide(%a, %b)", "divide(%b, %a)").replace("t.1", "t.2")
    change = step(read(before), read(after))
    assert change.renumbered == 1
    assert not any(place and place.instruction == "t.1" for place in _before(change))


def _before(change: StepChange) -> list[Place | None]:
    return [one.before for one in change.changes]


LOOP = """
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %v = f32[8]{0} get-tuple-element(%p), index=1
  %k = f32[8]{0} constant({1, 2, 3, 4, 5, 6, 7, 8})
  %c = s32[] constant(1)
  %j = s32[] add(%i, %c)
  %w = f32[8]{0} multiply(%v, %k)
  ROOT %r = (s32[], f32[8]{0}) tuple(%j, %w)
}

%cond (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}) parameter(0)
  %h = s32[] get-tuple-element(%q), index=0
  %n = s32[] constant(4)
  ROOT %l = pred[] compare(%h, %n), direction=LT
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %z = s32[] constant(0)
  %t = (s32[], f32[8]{0}) tuple(%z, %a)
  %while = (s32[], f32[8]{0}) while(%t), condition=%cond, body=%body
  ROOT %out = f32[8]{0} get-tuple-element(%while), index=1
}
"""
REDUCED = LOOP.replace(
    "  %w = f32[8]{0} multiply(%v, %k)\n",
    "  %g = f32[8]{0} all-reduce(%v), replica_groups={}, to_apply=%add\n"
    "  %w = f32[8]{0} multiply(%g, %k)\n",
)
HOISTED = LOOP.replace(
    "  %t = (", "  %g = f32[8]{0} all-reduce(%a), replica_groups={}, to_apply=%add\n  %t = ("
).replace("tuple(%z, %a)", "tuple(%z, %g)")


def test_what_moved_out_of_a_loop_or_into_it(read: Read) -> None:
    out = step(read(REDUCED), read(HOISTED), "`code-motion`")
    assert "moved 1 all-reduce out of loops" in out.headline
    assert "`%g` in `body` moved out of the loop `%while`" in out.headline
    back = step(read(HOISTED), read(REDUCED), "`code-motion`")
    assert "moved 1 all-reduce into loops" in back.headline


def test_dead_code_is_dead_with_all_that_only_it_read(read: Read) -> None:
    before = BEFORE.replace("tanh(%a)", "tanh(%lost)").replace(
        "  %idle", "  %lost = f32[8]{0} cosine(%b)\n  %idle"
    )
    change = step(read(before), read(BEFORE.replace("  %idle.1 = f32[8]{0} tanh(%a)\n", "")))
    assert [one.kind for one in change.removed] == [Kind.DEAD, Kind.DEAD]
    assert "removed 1 dead cosine and 1 dead tanh" in change.headline
    assert "%lost` in `main` was removed: only dead instructions used it" in " ".join(
        (change.headline, *change.account)
    )


def test_uncalled_computations_are_counted(read: Read) -> None:
    change = step(read(REDUCED), read(LOOP.replace(LOOP[: LOOP.index("%body")], "")), "`dce`")
    assert [one.kind for one in change.removed].count(Kind.UNCALLED) == 0
    cleaned = step(read(LOOP), read(LOOP.replace(LOOP[: LOOP.index("%body")], "")), "`dce`")
    assert cleaned.headline == (
        "`dce` removed 1 dead computation of 3 instructions; `%add` had no live callers."
    )
    assert cleaned.account == ()


def test_what_is_constant_now_was_folded(read: Read) -> None:
    before = BEFORE.replace("divide(%a, %b)", "divide(%a, %k)").replace(
        "  %divide", "  %one = f32[] constant(1)\n  %k = f32[8]{0} broadcast(%one)\n  %divide"
    )
    after = BEFORE.replace("divide(%a, %b)", "divide(%a, %k)").replace(
        "  %divide", "  %k = f32[8]{0} constant({1, 1, 1, 1, 1, 1, 1, 1})\n  %divide"
    )
    change = step(read(before), read(after), "`constant_folding`")
    assert change.headline.startswith("`constant_folding` folded 1 broadcast into a constant")


def test_copies_are_told_and_not_who_reads_them(read: Read) -> None:
    after = BEFORE.replace("  %idle", "  %copy = f32[8]{0} copy(%a)\n  %idle").replace(
        "divide(%a, %b)", "divide(%copy, %b)"
    )
    change = step(read(BEFORE), read(after), "`copy-insertion`")
    assert change.headline.startswith("`copy-insertion` added 1 copy; `%copy` in `main` was added")
    assert change.account == ()


def test_parameters_of_what_was_inlined_are_no_news(read: Read) -> None:
    change = step(read(CALLED), read(UNFUSED), "`call-inliner`")
    assert change.headline.startswith("`call-inliner` inlined 1 call into 2 instructions;")
    assert change.account == ()
    assert Kind.ARGUMENT in kinds(change)


NESTED = """
%inner (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %s = f32[8]{0} sine(%p)
  ROOT %t = f32[8]{0} tanh(%s)
}

%outer (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %again = f32[8]{0} call(%q), to_apply=%inner
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %call = f32[8]{0} call(%a), to_apply=%outer
  ROOT %out = f32[8]{0} negate(%call)
}
"""
FLAT = """
ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %s = f32[8]{0} sine(%a)
  %t = f32[8]{0} tanh(%s)
  ROOT %out = f32[8]{0} negate(%t)
}
"""


def test_a_call_to_what_only_calls_is_inlined_all_the_way(read: Read) -> None:
    change = step(read(NESTED), read(FLAT), "`call-inliner`")
    assert change.headline.startswith("`call-inliner` inlined 2 calls into 2 instructions;")
    assert Kind.REMOVED not in kinds(change)


def test_what_was_a_part_of_a_constant_expression_was_folded_too(read: Read) -> None:
    chain = (
        "  %one = f32[] constant(1)\n  %two = f32[] add(%one, %one)\n"
        "  %four = f32[] multiply(%two, %two)\n  %k = f32[8]{0} broadcast(%four), dimensions={}\n"
    )
    before = BEFORE.replace("divide(%a, %b)", "divide(%a, %k)").replace(
        "  %divide", f"{chain}  %divide"
    )
    constant = "  %four.1 = f32[] constant(4)\n  %k = f32[8]{0} broadcast(%four.1), dimensions={}\n"
    after = before.replace(chain, constant)
    change = step(read(before), read(after), "`constant_folding`")
    assert "folded 1 add and 1 multiply into constants" in change.headline
    assert Kind.FOLDED in {one.kind for one in change.removed}


def test_what_was_bypassed_is_not_folded(read: Read) -> None:
    chain = (
        "  %one = f32[1]{0} constant({1})\n  %r = f32[] reshape(%one)\n"
        "  %s = f32[1]{0} reshape(%r)\n  %k = f32[8]{0} broadcast(%s), dimensions={0}\n"
    )
    before = BEFORE.replace("divide(%a, %b)", "divide(%a, %k)").replace(
        "  %divide", f"{chain}  %divide"
    )
    shorter = "  %one = f32[1]{0} constant({1})\n  %k = f32[8]{0} broadcast(%one), dimensions={0}\n"
    change = step(read(before), read(before.replace(chain, shorter)))
    assert Kind.FOLDED not in kinds(change)


def test_what_is_computed_at_run_time_is_not_folded(read: Read) -> None:
    before = BEFORE.replace("negate(%divide.4)", "minimum(%divide.4, %a)")
    after = AFTER.replace(
        "%multiply.9 = f32[8]{0} multiply(%a, %b)",
        "%k = f32[8]{0} constant({1, 2, 3, 4, 5, 6, 7, 8})",
    ).replace("negate(%multiply.9)", "minimum(%k, %a)")
    assert Kind.FOLDED not in kinds(step(read(before), read(after)))


def test_a_library_call_may_leave_the_original_without_users(read: Read) -> None:
    dot = "dot(%a, %b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    before = BEFORE.replace("divide(%a, %b)", dot)
    after = before.replace("negate(%divide.4)", "negate(%gemm)").replace(
        "  ROOT",
        '  %gemm = f32[8]{0} custom-call(%a, %b), custom_call_target="__cublas$gemm"\n  ROOT',
    )
    change = step(read(before), read(after), "`gemm-rewriter`")
    assert Kind.CLONED not in kinds(change)
    assert change.headline.startswith(
        "`gemm-rewriter` replaced 1 dot with a `__cublas$gemm` custom-call and left 1 dot without"
    )


SUM = """
%{name} (x: f32[], y: f32[]) -> f32[] {{
  %x{mark} = f32[] parameter(0)
  %y{mark} = f32[] parameter(1)
  ROOT %sum{mark} = f32[] add(%x{mark}, %y{mark})
}}
"""
TWO_SUMS = """
ENTRY %main (a: f32[8], b: f32[8]) -> (f32[], f32[]) {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %zero = f32[] constant(0)
  %first = f32[] reduce(%a, %zero), dimensions={{0}}, to_apply=%{name}
  %second = f32[] reduce(%b, %zero), dimensions={{0}}, to_apply=%{name}
  ROOT %out = (f32[], f32[]) tuple(%first, %second)
}}
"""


def test_what_stands_where_it_stood_did_not_move_into_its_copy(read: Read) -> None:
    first = SUM.format(name="region", mark="")
    copy = SUM.format(name="region.clone", mark=".1").replace(
        "parameter(0)", "parameter(0), sharding={replicated}"
    )
    before = read(first + TWO_SUMS.format(name="region"))
    after = read(first + copy + TWO_SUMS.format(name="region.clone"))
    change = step(before, after)
    assert Kind.MOVED not in kinds(change)
    assert Kind.COPIED in kinds(change)


_APART = """
HloModule m
ENTRY %main (a: f32[2]) -> f32[8] {
  %a = f32[2]{0} parameter(0)
  %start = (f32[2]{0}, f32[8]{0}) all-gather-start(%a), channel_id=1, dimensions={0}
  ROOT %done = f32[8]{0} all-gather-done(%start), metadata={op_name="f"}
}
"""


def test_a_start_and_a_done_that_became_one_are_told_once(read: Read) -> None:
    lines = [line for line in _APART.splitlines() if "%start =" not in line]
    whole = "all-gather(%a), channel_id=1, dimensions={0}"
    text = (
        "\n".join(lines).replace("all-gather-done(%start)", whole).replace("%done", "%all-gather")
    )
    change = step(read(_APART), read(text), "`merger`")
    assert change.headline == (
        "`merger` made 1 all-gather synchronous; the all-gather-start `%start` in `main` and its "
        "done became `%all-gather`."
    )
    assert not change.account


_BRANCHED = """
%one (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %sine.1 = f32[4]{0} sine(%x)
}

%two (y: f32[4]) -> f32[4] {
  %y = f32[4]{0} parameter(0)
  ROOT %cosine.1 = f32[4]{0} cosine(%y)
}

ENTRY %main (p: pred[], a: f32[4]) -> (f32[4], f32[4]) {
  %p = pred[] parameter(0)
  %a = f32[4]{0} parameter(1)
  %cond.1 = f32[4]{0} conditional(%p, %a, %a), BRANCHES
  %sort.1 = f32[4]{0} subtract(%cond.1, %a)
  ROOT %out = (f32[4]{0}, f32[4]{0}) tuple(%sort.1, %cond.1)
}
"""
_IN_TUPLES = """
%one (x: (f32[4])) -> (f32[4]) {
  %x = (f32[4]{0}) parameter(0)
  %get.1 = f32[4]{0} get-tuple-element(%x), index=0
  %sine.1 = f32[4]{0} sine(%get.1)
  ROOT %tuple.1 = (f32[4]{0}) tuple(%sine.1)
}

%two (y: (f32[4])) -> (f32[4]) {
  %y = (f32[4]{0}) parameter(0)
  %get.2 = f32[4]{0} get-tuple-element(%y), index=0
  %cosine.1 = f32[4]{0} cosine(%get.2)
  ROOT %tuple.2 = (f32[4]{0}) tuple(%cosine.1)
}

ENTRY %main (p: pred[], a: f32[4]) -> (f32[4], f32[4]) {
  %p = pred[] parameter(0)
  %a = f32[4]{0} parameter(1)
  %tuple.3 = (f32[4]{0}) tuple(%a)
  %tuple.4 = (f32[4]{0}) tuple(%a)
  %cond.2 = (f32[4]{0}) conditional(%p, %tuple.3, %tuple.4), BRANCHES
  %get.3 = f32[4]{0} get-tuple-element(%cond.2), index=0
  %sort.1 = f32[4]{0} subtract(%get.3, %a)
  ROOT %out = (f32[4]{0}, f32[4]{0}) tuple(%sort.1, %get.3)
}
"""


def test_what_reads_the_one_element_of_a_tuple_now_is_not_rebuilt(read: Read) -> None:
    branches = "true_computation=%one, false_computation=%two"
    short = re.sub(r"  %get\.\d = .*\n", "", _IN_TUPLES)  # as newer texts write it
    for number, source in enumerate(("x", "y", "cond.2"), 1):
        short = short.replace(f"%get.{number}", f"%{source}#0")
    texts = [text.replace("BRANCHES", branches) for text in (_BRANCHED, short)]
    made = step(*map(read, texts), "`conditional-canonicalizer`")
    told = {change.before.instruction: change.kind for change in made.changes if change.before}
    assert told["cond.1"] is Kind.SHAPE
    for name in ("sort.1", "sine.1", "cosine.1"):
        assert told.get(name) in (None, Kind.REWIRED, Kind.REDIRECTED), name


_PRODUCT = """
ENTRY %main (a: bf16[8,4], w: bf16[8,6]) -> bf16[4,6] {
  %a = bf16[8,4]{1,0} parameter(0)
  %w = bf16[8,6]{1,0} parameter(1)
LINES}
"""
_DOT = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"


def test_a_dot_that_reads_its_operands_in_the_other_order_has_no_other_layout(read: Read) -> None:
    before = f"  ROOT %dot.1 = bf16[4,6]{{1,0}} dot(%a, %w), {_DOT}\n"
    after = f"  %dot.2 = bf16[6,4]{{0,1}} dot(%w, %a), {_DOT}\n"
    after += "  ROOT %bitcast.1 = bf16[4,6]{1,0} bitcast(%dot.2)\n"
    texts = [_PRODUCT.replace("LINES", lines) for lines in (before, after)]
    made = step(*map(read, texts), "`algsimp`")
    assert "swapped the operands of 1 dot" in made.headline
    [turned] = [change for change in made.changes if change.kind is Kind.TURNED]
    assert str(turned.details[0]) == "bf16[4,6]{1,0} → bf16[6,4]{0,1}"


def test_so_does_a_convolution_which_says_what_its_dimensions_are_now(read: Read) -> None:
    """What `convolution-normalizer` does on TPUs: what was the kernel is the input now."""
    line = "  ROOT %conv.1 = bf16[4,6]{1,0} convolution(%a, %w), dim_labels=fb_io->bf\n"
    turned = line.replace("(%a, %w)", "(%w, %a)").replace("fb_io->bf", "fb_io->fb")
    made = step(*(read(_PRODUCT.replace("LINES", lines)) for lines in (line, turned)), "`pass`")
    assert "swapped the operands of 1 convolution" in made.headline
    assert "the result has the same shape; dim_labels: fb_io->bf → fb_io->fb" in made.headline


def test_a_square_result_of_swapped_operands_has_the_same_shape(read: Read) -> None:
    square = _PRODUCT.replace("bf16[8,6]", "bf16[8,4]").replace("bf16[4,6]", "bf16[4,4]")
    before = f"  ROOT %dot.1 = bf16[4,4]{{1,0}} dot(%a, %w), {_DOT}\n"
    after = f"  %dot.2 = bf16[4,4]{{1,0}} dot(%w, %a), {_DOT}\n"
    after += "  ROOT %t.1 = bf16[4,4]{1,0} transpose(%dot.2), dimensions={1,0}\n"
    made = step(*(read(square.replace("LINES", lines)) for lines in (before, after)), "`algsimp`")
    assert "reads its operands in the other order: the result has the same shape" in made.headline


def test_the_dimensions_of_a_dot_are_told_where_a_transpose_was_folded_into_it(read: Read) -> None:
    """That it reads what the transpose read is no more than a consequence."""
    before = "  %transpose.1 = bf16[6,8]{1,0} transpose(%w), dimensions={1,0}\n"
    before += "  ROOT %dot.1 = bf16[4,6]{1,0} dot(%a, %transpose.1), "
    before += "lhs_contracting_dims={0}, rhs_contracting_dims={1}\n"
    after = f"  ROOT %dot.1 = bf16[4,6]{{1,0}} dot(%a, %w), {_DOT}\n"
    texts = [_PRODUCT.replace("LINES", lines) for lines in (before, after)]
    made = step(*map(read, texts), "`transpose-folding`")
    assert "changed attributes of 1 dot" in made.headline
    assert "folded 1 transpose into a dot" in made.headline


def test_what_does_the_work_of_a_rebuilt_instruction_once_more_is_its_clone(read: Read) -> None:
    lines = "ENTRY %main (x: f32[8]) -> f32[8] {{\n  %x = f32[8]{{0}} parameter(0)\n{}}}\n"
    before = read(lines.format("  ROOT %a = f32[8]{0} sine(%x)\n"))
    twice = "  %b = f32[4,2]{1,0} sine(%x)\n  ROOT %c = f32[2,4]{1,0} sine(%x)\n"
    after = read(lines.format(twice))
    places = Place("main", "a"), Place("main", "b"), Place("main", "c")
    for module, other, old, new, kind in (
        (before, after, places[:1], places[1:], Kind.CLONED),
        (after, before, places[1:], places[:1], Kind.MERGED),
    ):
        pairing = Pairing(old, new, Grade.MATCHED, "for a test", Relation.REPLACED)
        told = [*changes(Matching(module, other, {"main": "main"}, (pairing,)))]
        assert [change.kind for change in told] == [Kind.SHAPE, kind]


def test_a_change_of_kind_names_the_configuration_that_came_with_it(read: Read) -> None:
    before = """
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %sine.1 = f32[8]{0} sine(%p)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %f = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
}
"""
    config = ', backend_config={"fusion_backend_config":{"kind":"__triton"}}'
    after = before.replace("kind=kLoop, calls=%fused", f"kind=kCustom, calls=%fused{config}")
    assert "kind: kLoop → kCustom; backend_config" in step(read(before), read(after), "r").headline


def test_a_sort_that_changes_shape_is_told_with_its_other_attributes(read: Read) -> None:
    before = """
%less (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %lt = pred[] compare(%a, %b), direction=LT
}

ENTRY %main (x: f32[8,1]) -> f32[8,1] {
  %x = f32[8,1]{1,0} parameter(0)
  ROOT %sort = f32[8,1]{1,0} sort(%x), dimensions={0}, is_stable=true, to_apply=%less
}
"""
    after = before.replace("f32[8,1]{1,0} sort", "f32[8]{0} sort").replace("is_stable=true, ", "")
    headline = step(read(before), read(after), "expander").headline
    assert "`f32[8,1]{1,0}` → `f32[8]{0}`; is_stable: true → none" in headline


_REDUCERS = """
HloModule m
%kept (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %r = f32[] add(%p, %q)
}
ENTRY %main (a: f32[8], z: f32[]) -> f32[] {
  %a = f32[8]{0} parameter(0)
  %z = f32[] parameter(1)
  %sum = f32[8]{0} add(%a, %a)
  ROOT %s = f32[] reduce(%sum, %z), dimensions={0}, to_apply=%kept
}
"""


def test_opcodes_are_counted_in_the_whole_module(read: Read) -> None:
    change = step(read(_REDUCERS), read(_REDUCERS.replace("add(%a, %a)", "multiply(%a, %a)")))
    assert ("add", 2, 1) in change.opcode_delta
    assert ("multiply", 0, 1) in change.opcode_delta


def test_the_order_that_scheduling_gives_is_the_schedule() -> None:
    reader = TextReader()
    lines = BEFORE.strip().splitlines()
    lines[3], lines[4] = lines[4], lines[3]
    before = reader.read(f"HloModule m\n\n{BEFORE.strip()}\n".encode(), "m")
    text = "\n".join(lines)
    after = reader.read(f"HloModule m, is_scheduled=true\n\n{text}\n".encode(), "m")
    assert before is not None
    assert after is not None
    assert step(before, after).headline.endswith(" scheduled the module.")


_APPLIED = """
HloModule m
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %both = f32[] add(%x, %y)
}
ENTRY %main (a: f32[8]) -> f32[] {
  %a = f32[8]{0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %total = f32[] reduce(%a, %zero), dimensions={0}, to_apply=%sum
}
"""


def test_a_computation_whose_original_is_still_there_was_not_renamed(read: Read) -> None:
    body = _APPLIED[_APPLIED.index("%sum") : _APPLIED.index("ENTRY")]
    clone = body.replace("%sum", "%sum.clone")
    after = _APPLIED.replace("to_apply=%sum", "to_apply=%sum.clone")
    renamed = step(read(_APPLIED), read(after.replace(body, clone)))
    assert "renamed 1 computation" in renamed.headline
    cloned = step(read(_APPLIED), read(after.replace(body, body + clone)))
    assert "renamed" not in " ".join((cloned.headline, *cloned.account))


_CALLED = """
HloModule m
%where (p: pred[8], x: f32[8]) -> f32[8] {
  %p = pred[8]{0} parameter(0)
  %x = f32[8]{0} parameter(1)
  %zero = f32[] constant(0)
  %zeros = f32[8]{0} broadcast(%zero), dimensions={}
  ROOT %chosen = f32[8]{0} select(%p, %x, %zeros)
}
ENTRY %main (m: pred[8], a: f32[8]) -> f32[8] {
  %m = pred[8]{0} parameter(0)
  %a = f32[8]{0} parameter(1)
  ROOT %call = f32[8]{0} call(%m, %a), to_apply=%where
}
"""


def test_a_computation_is_not_renamed_to_what_a_fusion_holds(read: Read) -> None:
    fused = _CALLED.replace("where", "fused").replace(
        "call(%m, %a), to_apply=", "fusion(%m, %a), kind=kLoop, calls="
    )
    change = step(read(_CALLED), read(fused))
    assert "renamed" not in " ".join((change.headline, *change.account))
