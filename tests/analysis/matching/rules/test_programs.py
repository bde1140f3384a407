from collections.abc import Callable, Iterator

import pytest

from xlareport.analysis.matching.match import match
from xlareport.analysis.matching.search.pairing import Place
from xlareport.analysis.matching.search.result import Matching
from xlareport.hlo.model import HloModule
from xlareport.knowledge.grades import Grade

Read = Callable[[str], HloModule]
SHAPE = "f32[8,8]{1,0}"
DIMENSIONS = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"


def training_step(layers: int, *, scoped: bool) -> str:
    """Return a step of so many layers as JAX writes one: numbers in names follow the order."""
    lines: list[str] = []

    def add(name: str, code: str, op_name: str) -> str:
        lines.append(f'  %{name}.{len(lines)} = {SHAPE} {code}, metadata={{op_name="{op_name}"}}')
        return f"%{name}.{len(lines) - 1}"

    def scope(layer: int, wrapper: str) -> str:
        return "jit(step)/" + wrapper.format(f"layer_{layer}" if scoped else "")

    def parameter(label: str) -> str:
        return add("p", f"parameter({len(lines)})", label)

    weights = [parameter(f"w[{layer}]") for layer in range(layers)]
    out, value = parameter("out"), parameter("x")
    values = [value]
    for layer, weight in enumerate(weights):
        path = scope(layer, "jvp({})")
        value = add("dot", f"dot({value}, {weight}), {DIMENSIONS}", f"{path}/dot_general")
        values.append(value := add("tanh", f"tanh({value})", f"{path}/tanh"))
    gradient = add("dot", f"dot({value}, {out}), {DIMENSIONS}", "jit(step)/jvp()/dot_general")
    updates = {}
    for layer in reversed(range(layers)):
        path = scope(layer, "transpose(jvp({}))")
        gradient = add("mul", f"multiply({gradient}, {values[layer + 1]})", f"{path}/mul")
        product = f"dot({values[layer]}, {gradient}), {DIMENSIONS}"
        updates[layer] = add("dot", product, f"{path}/dot_general")
        if layer:
            product = f"dot({gradient}, {weights[layer]}), {DIMENSIONS}"
            gradient = add("dot", product, f"{path}/dot_general")
    results = [
        add("sub", f"subtract({weights[layer]}, {updates[layer]})", "jit(step)/update/sub")
        for layer in range(layers)
    ]
    root = f"  ROOT %tuple = ({', '.join([SHAPE] * layers)}) tuple({', '.join(results)})"
    return "\n".join(["HloModule jit_step", "", "ENTRY %main {", *lines, root, "}", ""])


@pytest.fixture(params=[True, False], ids=["scoped", "unscoped"])
def matching(request: pytest.FixtureRequest, read: Read) -> Matching:
    base, head = (training_step(layers, scoped=request.param) for layers in (2, 3))
    return match(read(base), read(head), same_program=False)


def labels(matching: Matching) -> Iterator[tuple[str, str]]:
    before, after = matching.before.entry, matching.after.entry
    assert before is not None
    assert after is not None
    for line in before.parameters:
        partner = matching.partner_after(Place("main", line.name))
        assert partner is not None
        yield (
            line.metadata.op_name,
            after.by_name[partner.instruction].metadata.op_name,
        )


def test_arguments_are_paired_by_their_labels(matching: Matching) -> None:
    assert len(list(labels(matching))) == 4
    assert all(label == other for label, other in labels(matching))


def test_what_only_a_further_layer_has_is_added(matching: Matching) -> None:
    """Its weight, its two forward and three backward instructions, its update."""
    assert not matching.removed
    assert len(matching.added) == 7


def test_the_instructions_of_old_layers_go_on(matching: Matching) -> None:
    before, after = matching.before.entry, matching.after.entry
    assert before is not None
    assert after is not None
    for line in before.instructions[:-1]:
        partner = matching.partner_after(Place("main", line.name))
        assert partner is not None
        other = after.by_name[partner.instruction]
        assert other.opcode == line.opcode
        assert other.metadata.op_name == line.metadata.op_name
        pairing = matching.pairing_before(Place("main", line.name))
        assert pairing is None or pairing.grade is not Grade.GUESSED


def test_the_same_program_needs_no_names(read: Read) -> None:
    text = training_step(2, scoped=True)
    other = text.replace("%dot.", "%product.").replace("%mul.", "%times.")
    matching = match(read(text), read(other), same_program=False)
    assert not matching.added
    assert not matching.removed
    assert {pairing.grade for pairing in matching.pairings} == {Grade.EXACT}
