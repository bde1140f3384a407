"""What the forward pass keeps for the backward pass, by op_names."""

from collections.abc import Callable, Iterable, Mapping

from xlareport.analysis.cost.activations import Activation, find_activations, sum_by_layer
from xlareport.analysis.cost.lifetimes import End, Lifetime
from xlareport.analysis.cost.occupancy import BufferKey
from xlareport.analysis.cost.value_sources import ValueSources
from xlareport.hlo.model import HloModule

STEP = """ENTRY e {
  x = f32[4] parameter(0)
  kept = f32[4] tanh(x), metadata={op_name="jit(f)/jvp(layer_1)/mlp/tanh"}
  passed = f32[4] cosine(kept), metadata={op_name="jit(f)/jvp(layer_1)/cos"}
  loss = f32[4] negate(passed), metadata={op_name="jit(f)/jvp(head)/neg"}
  again = f32[4] sine(x), metadata={op_name="jit(f)/transpose(jvp(layer_1))/rematted_computation/s"}
  ROOT gradient = f32[4] add(kept, again), metadata={op_name="jit(f)/transpose(jvp(layer_1))/add"}
}"""


def life(last_use: str) -> Lifetime:
    return Lifetime(0, 1, 5, End.USE, last_use, None, None)


def activations_of(
    values: Iterable[tuple[BufferKey, int]], lives: Mapping[BufferKey, Lifetime], module: HloModule
) -> tuple[Activation, ...]:
    return find_activations(values, lives, ValueSources(module))


def test_defined_forward_and_last_used_backward(module_of: Callable[[str], HloModule]) -> None:
    lives = {
        ("x", ()): life("again"),
        ("kept", ()): life("gradient"),
        ("passed", ()): life("loss"),
        ("again", ()): life("gradient"),
        ("of another module", ()): life("gradient"),
    }
    values = [(key, 16) for key in (*lives, ("loss", ()))]
    activations = activations_of(values, lives, module_of(STEP))
    assert activations == (Activation(("kept", ()), 16, "layer_1"),)


GATHERED = """gather {
  p = f32[8] parameter(0)
  ROOT c = f32[8] copy(p)
}

ENTRY e {
  x = f32[4] parameter(0)
  made = f32[4] tanh(x), metadata={op_name="jit(f)/jvp(layer_1)/concatenate"}
  again = f32[8] all-gather(made), metadata={op_name="jit(f)/transpose(jvp(l))/dot"}
  kept = f32[8] fusion(again), calls=gather, metadata={op_name="jit(f)/transpose(jvp(l))/dot"}
  loss = f32[8] negate(kept), metadata={op_name="jit(f)/transpose(jvp(layer_1))/neg"}
  ROOT gradient = f32[8] add(kept, loss), metadata={op_name="jit(f)/transpose(jvp(layer_1))/add"}
}"""


def test_a_copy_named_after_the_backward_op_that_uses_it(
    module_of: Callable[[str], HloModule],
) -> None:
    lives = {("kept", ()): life("gradient"), ("loss", ()): life("gradient")}
    activations = activations_of([(key, 32) for key in lives], lives, module_of(GATHERED))
    assert activations == (Activation(("kept", ()), 32, "layer_1"),)


LATE = """ENTRY e {
  x = f32[4] parameter(0)
  made = f32[4] tanh(x), metadata={op_name="jit(f)/jvp(layer_1)/concatenate"}
  zeros = f32[8] broadcast(x), metadata={op_name="jit(f)/transpose(jvp(layer_1))/zeros"}
  early = f32[8] all-gather(made), metadata={op_name="jit(f)/transpose(jvp(layer_1))/dot"}
  loss = f32[8] negate(early), metadata={op_name="jit(f)/transpose(jvp(head))/neg"}
  late = f32[8] all-gather(made), metadata={op_name="jit(f)/transpose(jvp(layer_1))/dot"}
  ROOT gradient = f32[8] add(late, loss), metadata={op_name="jit(f)/transpose(jvp(layer_1))/add"}
}"""


def test_what_the_backward_pass_gathers_is_no_activation(
    module_of: Callable[[str], HloModule],
) -> None:
    keys = [("made", ()), ("early", ()), ("late", ())]
    lives = {key: life("gradient") for key in keys}
    activations = activations_of([(key, 32) for key in keys], lives, module_of(LATE))
    assert [activation.key for activation in activations] == keys[:2]


PREFETCHED = """ENTRY e {
  x = f32[4] parameter(0)
  kept = f32[4] tanh(x), metadata={op_name="jit(f)/jvp(layer_1)/tanh"}
  begun = (f32[4], f32[4]{0:S(1)}, u32[]) copy-start(kept)
  near = f32[4]{0:S(1)} copy-done(begun)
  joined = f32[4]{0:S(1)} custom-call(near), custom_call_target="ConcatBitcast"
  ROOT gradient = f32[4] add(joined, x), metadata={op_name="jit(f)/transpose(jvp(layer_1))/add"}
}"""


def test_a_prefetch_stands_for_what_reads_the_value(
    module_of: Callable[[str], HloModule],
) -> None:
    lives = {("kept", ()): life("begun")}
    (kept,) = activations_of([(("kept", ()), 16)], lives, module_of(PREFETCHED))
    assert kept.layer == "layer_1"
    unnamed = PREFETCHED.replace(
        'custom-call(near), custom_call_target="ConcatBitcast"', "tanh(near)"
    )
    assert activations_of([(("kept", ()), 16)], lives, module_of(unnamed)) == (kept,)
    to_host = PREFETCHED.replace("S(1)", "S(5)")
    assert not activations_of([(("kept", ()), 16)], lives, module_of(to_host))


def test_an_input_in_another_type_is_no_activation(module_of: Callable[[str], HloModule]) -> None:
    cast = STEP.replace("f32[4] tanh(x)", "f32[4] convert(x)")
    assert not activations_of(
        [(("kept", ()), 16)], {("kept", ()): life("gradient")}, module_of(cast)
    )


def test_layers_with_the_most_bytes_first() -> None:
    sizes = [("a", 1), ("b", 5), ("a", 2)]
    activations = [Activation(("x", ()), size, layer) for layer, size in sizes]
    assert sum_by_layer(activations) == (("b", 5), ("a", 3))


CAST = """pool {
  p = f32[4] parameter(0)
  most = f32[4] tanh(p), metadata={op_name="jit(f)/jvp(stem)/reduce_window_max"}
  ROOT c = bf16[4] convert(most)
}

ENTRY e {
  x = f32[4] parameter(0)
  kept = bf16[4] fusion(x), kind=kLoop, calls=pool
  ROOT gradient = f32[4] sine(kept), metadata={op_name="jit(f)/transpose(jvp(stem))/conv"}
}"""


def test_a_fusion_that_ends_in_a_cast_without_op_name(
    module_of: Callable[[str], HloModule],
) -> None:
    lives = {("kept", ()): life("gradient")}
    activations = activations_of([(("kept", ()), 8)], lives, module_of(CAST))
    assert activations == (Activation(("kept", ()), 8, "stem"),)
