from xlareport.analysis.steps.description import weight
from xlareport.analysis.steps.groups import grouped
from xlareport.analysis.steps.heaviness import heaviest, heaviness, heaviness_of_change
from xlareport.analysis.steps.step import step
from xlareport.hlo.text import TextReader


def test_what_costs_time_weighs_more_than_what_passes_values_on() -> None:
    assert heaviness("dot") > heaviness("custom-call") > heaviness("add") > heaviness("bitcast")
    assert heaviness("all-reduce-start") == heaviness("all-reduce")
    assert heaviness("all-reduce-done") == heaviness("bitcast")
    assert heaviest(("", "dot")) == heaviness("dot")
    assert heaviest(("", "")) == heaviness("bitcast")


def test_what_only_groups_values_weighs_least() -> None:
    assert heaviness("get-tuple-element") == heaviness("tuple")
    assert heaviness("tuple") < heaviness("parameter")
    assert heaviness_of_change(("custom-call", "tuple")) == heaviness("tuple")


def test_a_custom_call_that_became_a_move_was_only_a_mark() -> None:
    assert heaviness_of_change(("custom-call", "copy")) == heaviness("copy")
    assert heaviness_of_change(("custom-call", "dot")) == heaviness("dot")
    assert heaviness_of_change(("custom-call", "")) == heaviness("custom-call")
    assert heaviness_of_change(("dot", "copy")) == heaviness("dot")


def entry(*lines: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return (
        "ENTRY %main (a: f32[8,8]) -> f32[8,8] {\n  %a = f32[8,8]{1,0} parameter(0)\n"
        f"{body}\n  ROOT %out = f32[8,8]{{1,0}} negate(%a)\n}}"
    )


DIMENSIONS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def test_a_dot_is_named_before_many_reshapes() -> None:
    reader = TextReader()
    dot = f"%dot.1 = f32[8,8]{{1,0}} dot(%a, %a), {DIMENSIONS}"
    plain = [f"%reshape.{n} = f32[64]{{0}} reshape(%a)" for n in range(9)]
    texts = (entry(), entry(dot, *plain))
    modules = [reader.read(f"HloModule m\n\n{text}\n".encode(), "m") for text in texts]
    assert modules[0] is not None
    assert modules[1] is not None
    change = step(modules[1], modules[0], "`dce`")
    assert change.headline.startswith("`dce` removed 1 dead dot and 9 dead reshapes; `%dot.1`")
    assert change.weight == weight(change.groups) > weight(grouped(()))
