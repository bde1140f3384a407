"""Labels in which values go both ways are split into stretches; what is between them joins one."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from xlareport.hlo.model import HloModule
from xlareport.pictures.boxless_instructions import Folding
from xlareport.pictures.value_flow import (
    ValueFlow,
    components,
    find_cycles,
    in_order,
    join,
    quotient,
    split,
)

FlowOf = Callable[[str], ValueFlow]


@pytest.fixture
def flow_of(module_of: Callable[[str], HloModule]) -> FlowOf:
    """Return a function that reads `b=a c=a,b`: each instruction with what it uses."""

    def read(words: str) -> ValueFlow:
        lines = ["  x = f32[8] parameter(0)"]
        for word in words.split():
            name, _, used = word.partition("=")
            lines.append(f"  {name} = f32[8] custom-call({used or 'x'})")
        module = module_of("\n".join(["ENTRY e {", *lines, "}"]))
        assert module.entry is not None
        return ValueFlow(Folding(module.entry, inputs=False))

    return read


def names(flow: ValueFlow) -> list[str]:
    return [name for name in flow.places if name != "x"]


def stretches(flow: ValueFlow, label: Mapping[str, str]) -> Mapping[str, str]:
    found = split(names(flow), label, flow)
    return {name: f"{one.label}{one.number}" for name, one in found.items()}


def test_inputs_are_no_sources_and_uses_from_below_do_not_count(flow_of: FlowOf) -> None:
    flow = flow_of("a=x,b b=a")
    assert [flow.sources(name) for name in "ab"] == [(), ("a",)]


def test_elements_of_tuples_and_what_is_waited_for_are_sources(
    module_of: Callable[[str], HloModule],
) -> None:
    module = module_of(
        "ENTRY e {\n  t = (f32[8], f32[8]) custom-call()\n"
        "  g = f32[8] get-tuple-element(t), index=1\n  b = f32[8] abs(g)\n"
        "  c = f32[8] custom-call(), control-predecessors={b}\n}"
    )
    assert module.entry is not None
    flow = ValueFlow(Folding(module.entry, inputs=False))
    assert (flow.sources("b"), flow.sources("c")) == (("t",), ("b",))


def test_labels_without_a_cycle_stay_whole(flow_of: FlowOf) -> None:
    found = stretches(flow_of("a b=a c=b"), {"a": "F", "b": "F", "c": "B"})
    assert found == {"a": "F1", "b": "F1", "c": "B1"}


def test_a_label_before_and_after_another_is_split(flow_of: FlowOf) -> None:
    flow = flow_of("a b=a c=b d=c")
    assert stretches(flow, {"a": "F", "b": "F", "c": "B", "d": "F"}) == {
        "a": "F1",
        "b": "F1",
        "c": "B1",
        "d": "F2",
    }


def test_stretches_have_no_cycle(flow_of: FlowOf) -> None:
    words = ["a0", *(f"a{n}=a{n * 7 % 5 % n},a{n - 1}" for n in range(1, 60))]
    flow = flow_of(" ".join(words))
    found = split(names(flow), {f"a{n}": f"L{n * n % 7}" for n in range(60)}, flow)
    assert len({*found.values()}) > 7
    assert not find_cycles(quotient(names(flow), found, flow))


def joined(flow: ValueFlow, label: Mapping[str, str]) -> Mapping[str, str]:
    return join(names(flow), label.get, lambda word: word[0], flow)


def test_what_stands_between_labels_of_one_family_joins_the_last_it_uses(flow_of: FlowOf) -> None:
    flow = flow_of("a b=a c=b d=c")
    label = {"a": "h0", "c": "h1"}
    assert joined(flow, label) == {"a": "h0", "b": "h0", "c": "h1"}


def test_what_uses_no_label_joins_its_first_user(flow_of: FlowOf) -> None:
    flow = flow_of("a s=k b=a")
    assert joined(flow, {"a": "h0", "b": "h1"}) == {"a": "h0", "b": "h1"}


EDGES: Sequence[tuple[Mapping[str, str], list[list[str]]]] = (
    ({"a": "b", "b": "c", "c": ""}, [["a"], ["b"], ["c"]]),
    ({"a": "b", "b": "a", "c": "a"}, [["c"], ["a", "b"]]),
)


@pytest.mark.parametrize(("edges", "expected"), EDGES)
def test_components_come_before_what_uses_them(
    edges: Mapping[str, str], expected: list[list[str]]
) -> None:
    assert [sorted(component) for component in components(edges)] == expected


def test_what_has_no_order_stands_in_that_of_the_file() -> None:
    places = [5, 3, 4, 0]
    assert in_order(4, places.__getitem__, {0: [3], 2: [1]}) == [2, 1, 0, 3]
