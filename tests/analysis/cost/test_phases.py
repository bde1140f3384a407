from collections.abc import Callable

import pytest

from xlareport.analysis.cost.phases import key_by_layer, key_by_phase, layer_of
from xlareport.hlo.model import HloModule

STEP = """fused {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT u = f32[4] subtract(p, q), metadata={op_name="jit(step)/sub"}
}

ENTRY e {
  x = f32[4] parameter(0)
  scaled = f32[4] negate(x), metadata={op_name="jit(step)/mul"}
  y = f32[4] tanh(scaled), metadata={op_name="jit(step)/jvp(layer_1)/tanh"}
  g = f32[4] multiply(y, x), metadata={op_name="jit(step)/transpose(jvp(layer_1))/mul"}
  c = f32[4] copy(g)
  n = f32[4] fusion(x, c), kind=kLoop, calls=fused, metadata={op_name="jit(step)/sub"}
  ROOT r = f32[4] add(n, g), metadata={op_name="jit(step)/add"}
}"""


def phases(module: HloModule) -> dict[str, str]:
    key = key_by_phase(module)
    assert key is not None
    return {
        instruction.name: key(computation, instruction, instruction.metadata.op_name)
        for computation in module.computations
        for instruction in computation.instructions
    }


def test_the_phases_of_a_module_are_worked_out_once(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(STEP)
    assert key_by_phase(module) is key_by_phase(module)


def test_phases_of_a_training_step(module_of: Callable[[str], HloModule]) -> None:
    found = phases(module_of(STEP))
    assert found["y"] == "forward"
    assert found["g"] == "backward"
    assert found["scaled"] == "other"
    assert found["c"] == found["x"] == ""
    assert found["n"] == found["u"] == found["r"] == "optimizer"


@pytest.mark.parametrize(
    ("scope", "phase"),
    [("", "optimizer"), ("ring/while/body/", "other"), ("while/body/", "other")],
)
def test_what_an_update_reads_from_a_scope_or_a_loop_of_its_own_is_no_optimizer(
    scope: str, phase: str, module_of: Callable[[str], HloModule]
) -> None:
    forces = f'f = f32[4] cosine(x), metadata={{op_name="jit(step)/{scope}cos"}}'
    text = STEP.replace("n = f32[4] fusion(x, c)", f"{forces}\n  n = f32[4] fusion(f, c)")
    result = phases(module_of(text))
    assert result["f"] == phase
    assert result["n"] == "optimizer"


def test_a_ring_that_uses_updated_values_is_no_optimizer(
    module_of: Callable[[str], HloModule],
) -> None:
    ring = (
        'p = f32[4] collective-permute(n), metadata={op_name="jit(step)/ring/ppermute"}\n'
        '  f = f32[4] cosine(p), metadata={op_name="jit(step)/ring/while/body/cos"}'
    )
    text = STEP.replace("ROOT r = f32[4] add(n, g)", f"{ring}\n  ROOT r = f32[4] add(f, g)")
    result = phases(module_of(text))
    assert result["f"] == "other"
    assert result["r"] == result["n"] == "optimizer"


def test_a_loop_around_both_passes_and_what_reads_only_zeros_are_no_optimizer(
    module_of: Callable[[str], HloModule],
) -> None:
    body, entry = STEP.split("ENTRY e {")
    step = entry.replace("ROOT r", "r")
    text = f"""{body}cond {{
  i = f32[4] parameter(0)
  ROOT lt = pred[] constant(true), metadata={{op_name="jit(step)/while/cond/lt"}}
}}

body {{{step.rstrip("}")}  ROOT o = f32[4] add(r, x)
}}

ENTRY e {{
  w = f32[4] parameter(0)
  z = f32[4] constant({{0,0,0,0}}), metadata={{op_name="jit(step)/transpose(jvp(layer_1))/fill"}}
  s = f32[4] add(w, z), metadata={{op_name="jit(step)/add"}}
  ROOT l = f32[4] while(s), condition=cond, body=body, metadata={{op_name="jit(step)/while"}}
}}"""
    found = phases(module_of(text))
    assert found["s"] == found["l"] == found["lt"] == "other"
    assert found["n"] == found["r"] == "optimizer"


def test_collectives_of_gradients_are_no_part_of_the_optimizer(
    module_of: Callable[[str], HloModule],
) -> None:
    text = STEP.replace(
        "c = f32[4] copy(g)", 'c = f32[4] all-reduce(g), metadata={op_name="a/psum"}'
    )
    assert phases(module_of(text))["c"] == "collectives outside forward and backward"


def test_a_loop_over_gradients_is_no_part_of_the_optimizer(
    module_of: Callable[[str], HloModule],
) -> None:
    loop = """body {
  b = f32[4] parameter(0)
  ROOT h = f32[4] negate(b), metadata={op_name="jit(step)/while/body/transpose(jvp(layer_1))/neg"}
}

cond {
  b.1 = f32[4] parameter(0)
  ROOT k = pred[] constant(false)
}

"""
    line = 'w = f32[4] while(g), condition=cond, body=body, metadata={op_name="jit(step)/while"}'
    text = (loop + STEP).replace("c = f32[4] copy(g)", f"{line}\n  c = f32[4] copy(w)")
    found = phases(module_of(text))
    assert (found["w"], found["n"]) == ("other", "optimizer")


def test_an_op_of_the_optimizer_that_uses_no_gradient_has_its_phase(
    module_of: Callable[[str], HloModule],
) -> None:
    """A copy of a parameter for the update, as the TPU compiler makes it, reads no gradient."""
    text = STEP.replace("jit(step)/sub", "jit(step)/adam/sub").replace(
        "c = f32[4] copy(g)",
        'k = f32[4] copy(x), metadata={op_name="jit(step)/adam/sub"}\n  c = f32[4] copy(g)',
    )
    assert phases(module_of(text))["k"] == "optimizer"
    zeros = text.replace(
        'copy(x), metadata={op_name="jit(step)/adam/sub"}',
        'copy(x), metadata={op_name="jit(step)/adam/zeros;adam/zeros"}',
    )
    assert phases(module_of(zeros))["k"] == "optimizer"
    assert phases(module_of(STEP))["scaled"] == "other"


def test_what_only_the_update_reads_is_optimizer(
    module_of: Callable[[str], HloModule],
) -> None:
    """`0.9 * m` of Adam uses no gradient, in the kernel of the update or in one of its own."""
    decay = 'd = f32[4] add(p, p), metadata={op_name="jit(step)/mul"}\n  ROOT u'
    own = 'k = f32[4] multiply(x, x), metadata={op_name="jit(step)/mul"}\n  c = f32[4] copy(g)'
    text = STEP.replace("ROOT u", decay).replace("subtract(p, q)", "subtract(d, q)")
    text = text.replace("c = f32[4] copy(g)", own).replace("fusion(x, c)", "fusion(k, c)")
    known = phases(module_of(text))
    assert (known["d"], known["k"], known["scaled"]) == ("optimizer", "optimizer", "other")
    used = phases(module_of(text.replace("tanh(scaled)", "multiply(scaled, k)")))
    assert (used["d"], used["k"]) == ("optimizer", "other")


def test_a_prefetched_slice_for_the_update_is_optimizer(
    module_of: Callable[[str], HloModule],
) -> None:
    """On TPUs it runs asynchronously, without op_name, and works for the op that reads it."""
    sliced = """sliced {
  p.1 = f32[4] parameter(0)
  ROOT part = f32[4] slice(p.1), slice={[0:4]}
}

"""
    lines = """a = ((f32[4]), f32[4], s32[]) async-start(x), calls=sliced
  b = f32[4] async-done(a)
  c = f32[4] copy(g)"""
    text = STEP.replace("c = f32[4] copy(g)", lines).replace("fusion(x, c)", "fusion(b, c)")
    module = module_of(sliced + text)
    key = key_by_phase(module)
    called = module.by_name["sliced"]
    assert key is not None
    assert called.root is not None
    assert key(called, called.root, "jit(step)/sub") == "optimizer"


def test_a_mask_in_a_scope_of_the_forward_pass_is_no_optimizer(
    module_of: Callable[[str], HloModule],
) -> None:
    """Another op of that scope uses a gradient, as in a fusion with the backward pass."""
    mask = 'm = f32[4] copy(x), metadata={op_name="jit(step)/layer_1/mask"}\n  c = f32[4] copy(g)'
    text = STEP.replace("c = f32[4] copy(g)", mask).replace(
        'jit(step)/add"', 'jit(step)/layer_1/add"'
    )
    found = phases(module_of(text))
    assert (found["m"], found["r"]) == ("other", "optimizer")


def test_where_no_matmul_has_a_mark_unmarked_ops_have_no_known_phase(
    module_of: Callable[[str], HloModule],
) -> None:
    """JAX of 2024 marks only what is in a scope or a traced function."""
    dot = 'd = f32[4] tanh(x), metadata={op_name="jit(step)/dot_general"}\n  c = f32[4] copy(g)'
    text = STEP.replace("c = f32[4] copy(g)", dot)
    found = phases(module_of(text))
    assert (found["y"], found["g"]) == ("forward", "backward")
    assert {found[name] for name in ("scaled", "d", "n", "r")} == {"phase not known"}
    marked = text.replace("jit(step)/jvp(layer_1)/tanh", "jit(step)/jvp(layer_1)/dot_general")
    assert phases(module_of(marked))["n"] == "optimizer"


MARKED = STEP.replace("jvp(layer_1)/tanh", "jvp(layer_1)/dot_general")
EVALUATED = MARKED.replace("jvp(layer_1)", "jvp(density)").replace(
    "ROOT r = f32[4]",
    "s = f32[] dot(n, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
    'metadata={op_name="jit(step)/cond/branch_1_fun/occupancy/density/dot_general"}\n'
    '  t = f32[] tanh(s), metadata={op_name="jit(step)/cond/branch_1_fun/occupancy/tanh"}\n'
    "  ROOT r = f32[4]",
)


def test_an_evaluation_behind_the_update_is_no_optimizer(
    module_of: Callable[[str], HloModule],
) -> None:
    """It uses gradients through the updated parameters, in scopes of the forward pass."""
    known = phases(module_of(EVALUATED))
    assert known["s"] == known["t"] == "other"
    assert known["n"] == known["r"] == "optimizer"
    alone = phases(module_of(EVALUATED.replace("cond/branch_1_fun/occupancy/", "")))
    assert (alone["s"], alone["n"]) == ("other", "optimizer")


def test_scopes_of_layers_in_an_optimizer_are_no_evaluation(
    module_of: Callable[[str], HloModule],
) -> None:
    text = EVALUATED.replace("cond/branch_1_fun/occupancy/density/dot_general", "adam/density/mul")
    known = phases(module_of(text))
    assert known["s"] == known["t"] == "optimizer"


def test_without_a_gradient_there_are_no_phases(module_of: Callable[[str], HloModule]) -> None:
    assert key_by_phase(module_of(STEP.replace("transpose(jvp(layer_1))", "transpose"))) is None


def test_ops_of_tensorflow_outside_of_scopes_have_phases(
    module_of: Callable[[str], HloModule],
) -> None:
    """Their op_names have no slash, such as `Relu`; those of arguments have no type."""
    text = STEP.replace("jit(step)/transpose(jvp(layer_1))", "gradient_tape")
    text = text.replace('op_name="jit(step)/jvp(layer_1)/tanh"', 'op_type="Tanh" op_name="Tanh"')
    text = text.replace('op_name="jit(step)/add"', 'op_type="AddV2" op_name="add"')
    known = phases(module_of(text.replace('"jit(step)/mul"', '"XLA_Args"')))
    assert (known["y"], known["g"], known["r"]) == ("forward", "backward", "optimizer")
    assert known["scaled"] == ""


def test_tensorflow_marks_only_the_gradient(module_of: Callable[[str], HloModule]) -> None:
    text = STEP.replace("jit(step)/transpose(jvp(layer_1))", "gradient_tape/dense")
    found = phases(module_of(text.replace("jit(step)/jvp(layer_1)", "dense")))
    assert (found["scaled"], found["y"], found["g"]) == ("forward", "forward", "backward")


def test_layers(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(STEP)
    key = key_by_layer(module)
    assert module.entry is not None
    lines = module.entry.instructions
    named = {key(module.entry, line, line.metadata.op_name) for line in lines}
    assert named == {"layer_1", ""}


@pytest.mark.parametrize(
    ("op_name", "layer"),
    [
        ("jit(step)/transpose(jvp(layer_3))/mlp/dot_general", "layer_3"),
        ("jit(step)/jvp(decoder)/while/body/closed_call/block2/mlp/mul", "decoder/block2"),
        ("jit(step)/jvp()/while/body/mul", "(in a loop, no layer named)"),
        ("jit(step)/accumulate/while/body/jvp()/while/body/attention/mul", "attention"),
        ("jit(step)/accumulate/while/body/transpose(jvp())/while/body/add", "accumulate"),
        ("jit(step)/accumulate/while/body/add", "accumulate"),
        ("jit(step)/jvp(btd,vd->btv)/dot_general", ""),
        ("gradient_tape/dense_1/MatMul", "dense_1"),
        ("jit(step)/mul", ""),
        ("jit(step)/shard_map/grad_sync/psum", "grad_sync"),
        ("jit(step)/jit(_threefry_split)/step/add", ""),
        ("", ""),
    ],
)
def test_the_layer_in_an_op_name(op_name: str, layer: str) -> None:
    assert layer_of(op_name) == layer


TENSORFLOW = """ENTRY e {
  x = f32[4] parameter(0)
  m = f32[4] tanh(x), metadata={op_type="MatMul" op_name="dense_1/MatMul"}
  s = f32[4] tanh(m), metadata={op_type="Softmax" op_name="Softmax_1/softmax"}
  p = f32[4] tanh(s), metadata={op_type="MaxPool" op_name="pool"}
  a = f32[4] tanh(p), metadata={op_type="AddV2" op_name="model/add_2/add"}
  b = f32[4] tanh(a), metadata={op_type="MaxPoolGrad" op_name="gradient_tape/pool/MaxPoolGrad"}
  c = f32[4] tanh(b), metadata={op_type="ReluGrad" op_name="gradients/fc/Relu_grad/ReluGrad"}
  d = f32[4] tanh(c), metadata={op_type="MatMul" op_name="gradient_tape/dense_1/MatMul/MatMul"}
  ROOT r = f32[4] tanh(d), metadata={op_type="Mul" op_name="gradients/mul_grad/Mul"}
}"""


def test_operations_of_tensorflow_are_no_layers(module_of: Callable[[str], HloModule]) -> None:
    module = module_of(TENSORFLOW)
    key = key_by_layer(module)
    assert module.entry is not None
    named = [
        key(module.entry, instruction, instruction.metadata.op_name)
        for instruction in module.entry.instructions
    ]
    assert named == ["", "dense_1", "", "", "model", "", "fc", "dense_1", ""]


def test_an_update_that_a_fusion_shares_with_its_gradient_is_the_optimizer(
    module_of: Callable[[str], HloModule],
) -> None:
    text = STEP.replace(
        "  q = f32[4] parameter(1)",
        """  o = f32[4] parameter(1)
  q = f32[4] negate(o), metadata={op_name="jit(step)/transpose(jvp(layer_1))/neg"}""",
    )
    assert phases(module_of(text))["n"] == "optimizer"


def test_what_a_kernel_of_a_gradient_computes_again_is_backward(
    module_of: Callable[[str], HloModule],
) -> None:
    text = """both {
  p = f32[4] parameter(0)
  again = f32[4] tanh(p), metadata={op_name="jit(step)/jvp(layer_1)/tanh"}
  ROOT d = f32[4] multiply(again, p), metadata={op_name="jit(step)/transpose(jvp(layer_1))/mul"}
}

alone {
  q = f32[4] parameter(0)
  ROOT once = f32[4] tanh(q), metadata={op_name="jit(step)/jvp(layer_1)/tanh"}
}

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] fusion(x), kind=kLoop, calls=alone
  ROOT g = f32[4] fusion(y), kind=kLoop, calls=both
}"""
    found = phases(module_of(text))
    assert found["once"] == "forward"
    assert found["again"] == found["d"] == "backward"
