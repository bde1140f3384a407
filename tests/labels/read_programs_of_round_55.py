"""A training step of an Evoformer-like stack on 2 x 2 TPU v6e, compiled without a device.

usage: TARGET=FOLDER python program.py    the dump goes to FOLDER
"""

import os

os.environ["XLA_FLAGS"] = (
    f"--xla_dump_to={os.environ['TARGET']} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

BATCH, SEQS, RES, TYPES = 4, 16, 64, 24
MSA, PAIR, HEADS, HEAD, OUTER, TRIANGLE = 128, 64, 4, 32, 16, 64
DEPTH, BINS, CYCLES = 3, 32, 3
WHOLE = P()

SHAPES = {
    "embed": {"msa": (TYPES, MSA), "left": (TYPES, PAIR), "right": (TYPES, PAIR)},
    "offset": (2 * 16 + 1, PAIR),
    "again": {"msa": (2, MSA), "pair": (2, PAIR)},
    "distogram": {"weight": (PAIR, BINS), "bias": (BINS,)},
    "blocks": {
        "row": {
            "norm": (DEPTH, 2, MSA),
            "qkv": (DEPTH, MSA, 3, HEADS, HEAD),
            "gate": (DEPTH, MSA, HEADS, HEAD),
            "gate_bias": (DEPTH, HEADS, HEAD),
            "pair_norm": (DEPTH, 2, PAIR),
            "pair_bias": (DEPTH, PAIR, HEADS),
            "out": (DEPTH, HEADS, HEAD, MSA),
        },
        "column": {
            "norm": (DEPTH, 2, MSA),
            "qkv": (DEPTH, MSA, 3, HEADS, HEAD),
            "gate": (DEPTH, MSA, HEADS, HEAD),
            "gate_bias": (DEPTH, HEADS, HEAD),
            "out": (DEPTH, HEADS, HEAD, MSA),
        },
        "msa_mlp": {
            "norm": (DEPTH, 2, MSA),
            "up": (DEPTH, MSA, 2 * MSA),
            "down": (DEPTH, 2 * MSA, MSA),
        },
        "outer": {
            "norm": (DEPTH, 2, MSA),
            "left": (DEPTH, MSA, OUTER),
            "right": (DEPTH, MSA, OUTER),
            "out": (DEPTH, OUTER, OUTER, PAIR),
        },
        "outgoing": {
            "norm": (DEPTH, 2, PAIR),
            "project": (DEPTH, PAIR, 2, TRIANGLE),
            "open": (DEPTH, PAIR, 2, TRIANGLE),
            "middle": (DEPTH, 2, TRIANGLE),
            "out": (DEPTH, TRIANGLE, PAIR),
            "gate": (DEPTH, PAIR, PAIR),
        },
        "incoming": {
            "norm": (DEPTH, 2, PAIR),
            "project": (DEPTH, PAIR, 2, TRIANGLE),
            "open": (DEPTH, PAIR, 2, TRIANGLE),
            "middle": (DEPTH, 2, TRIANGLE),
            "out": (DEPTH, TRIANGLE, PAIR),
            "gate": (DEPTH, PAIR, PAIR),
        },
        "pair_mlp": {
            "norm": (DEPTH, 2, PAIR),
            "up": (DEPTH, PAIR, 2 * PAIR),
            "down": (DEPTH, 2 * PAIR, PAIR),
        },
    },
}


def half(tree):
    return jax.tree.map(lambda x: x.astype(jnp.bfloat16), tree)


def layer_norm(x, scale_shift):
    scale, shift = scale_shift.astype(jnp.float32)
    x = x.astype(jnp.float32)
    x -= x.mean(-1, keepdims=True)
    return half(x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * scale + shift)


def attention(p, x, bias=None):
    """Gated attention over the last but one axis of x."""
    x = layer_norm(x, p["norm"])
    q, k, v = jnp.moveaxis(jnp.einsum("bnrc,cthd->btnrhd", x, p["qkv"]), 1, 0)
    scores = jnp.einsum("bnqhd,bnkhd->bnhqk", q, k, preferred_element_type=jnp.float32)
    scores *= HEAD**-0.5
    if bias is not None:
        scores += bias[:, None].astype(jnp.float32)
    mixed = jnp.einsum("bnhqk,bnkhd->bnqhd", half(jax.nn.softmax(scores)), v)
    gate = jax.nn.sigmoid(jnp.einsum("bnrc,chd->bnrhd", x, p["gate"]) + p["gate_bias"])
    return jnp.einsum("bnrhd,hdc->bnrc", gate * mixed, p["out"])


def transition(p, x):
    return jax.nn.relu(layer_norm(x, p["norm"]) @ p["up"]) @ p["down"]


def outer_product_mean(p, x):
    x = layer_norm(x, p["norm"])
    both = jnp.einsum("bnic,bnjd->bijcd", x @ p["left"], x @ p["right"]) / SEQS
    return jnp.einsum("bijcd,cde->bije", both, p["out"])


def triangle(p, z, equation):
    z = layer_norm(z, p["norm"])
    project = jnp.einsum("bijc,cst->sbijt", z, p["project"])
    left, right = project * jax.nn.sigmoid(jnp.einsum("bijc,cst->sbijt", z, p["open"]))
    mixed = layer_norm(jnp.einsum(equation, left, right), p["middle"]) @ p["out"]
    return jax.nn.sigmoid(z @ p["gate"]) * mixed


def stack(mesh, params, msa, pair):
    rows = NamedSharding(mesh, P("batch", None, "res"))
    square = NamedSharding(mesh, P("batch", "res"))

    @jax.checkpoint
    def block(carry, p):
        msa, pair = carry
        p = half(p)
        bias = layer_norm(pair, p["row"]["pair_norm"])
        bias = jnp.einsum("bijc,ch->bhij", bias, p["row"]["pair_bias"])
        msa += attention(p["row"], msa, bias)
        msa += attention(p["column"], msa.swapaxes(1, 2)).swapaxes(1, 2)
        msa += transition(p["msa_mlp"], msa)
        pair += outer_product_mean(p["outer"], msa)
        pair += triangle(p["outgoing"], pair, "bikt,bjkt->bijt")
        pair += triangle(p["incoming"], pair, "bkit,bkjt->bijt")
        pair += transition(p["pair_mlp"], pair)
        msa = lax.with_sharding_constraint(msa, rows)
        pair = lax.with_sharding_constraint(pair, square)
        return (msa, pair), None

    return lax.scan(block, (msa, pair), params["blocks"])[0]


def ring_sum(mesh, x):
    """Sum over the parts that the devices of 'res' hold, sent around the ring."""
    size = mesh.shape["res"]

    def local(x):
        total = part = x.sum(axis=(1, 2))
        for _ in range(size - 1):
            part = lax.ppermute(part, "res", [(i, (i + 1) % size) for i in range(size)])
            total += part
        return total

    return jax.shard_map(
        local, mesh=mesh, in_specs=P("batch", "res"), out_specs=P("batch"), check_vma=False
    )(x)


def loss(params, mesh, tokens, distances, cycles):
    first = tokens[:, 0]
    embed = half(params["embed"])
    place = jnp.arange(RES)
    offset = jnp.clip(place[:, None] - place[None], -16, 16) + 16
    msa0 = embed["msa"][tokens]
    pair0 = embed["left"][first][:, :, None] + embed["right"][first][:, None]
    pair0 += half(jax.nn.one_hot(offset, 33) @ params["offset"])

    def enter(state):
        row, pair = state
        msa = msa0.at[:, 0].add(layer_norm(row, params["again"]["msa"]))
        return msa, pair0 + layer_norm(pair, params["again"]["pair"])

    def cycle(_, state):
        msa, pair = stack(mesh, params, *enter(state))
        return msa[:, 0], pair

    start = jnp.zeros_like(msa0[:, 0]), jnp.zeros_like(pair0)
    _, pair = stack(mesh, params, *enter(lax.stop_gradient(cycles(cycle, start))))
    pair = (pair + pair.swapaxes(1, 2)).astype(jnp.float32)
    logits = pair @ params["distogram"]["weight"] + params["distogram"]["bias"]
    edges = jnp.linspace(2.0, 22.0, BINS - 1)
    hot = jax.nn.one_hot((distances[..., None] > edges).sum(-1), BINS)
    mask = (distances > 0).astype(jnp.float32)
    error = -(hot * jax.nn.log_softmax(logits)).sum(-1) * mask
    return (ring_sum(mesh, error) / (ring_sum(mesh, mask) + 1e-6)).mean()


def fold_train_step(mesh, state, tokens, distances):
    def cycles(body, start):
        frozen = lax.stop_gradient(start)
        return lax.fori_loop(0, CYCLES, body, frozen)

    count = state["count"] + 1
    value, grads = jax.value_and_grad(loss)(state["params"], mesh, tokens, distances, cycles)
    total = jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in jax.tree.leaves(grads)))
    clip = jnp.minimum(1.0, 0.1 / (total + 1e-6))
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * clip * g, state["mean"], grads)
    square = jax.tree.map(
        lambda v, g: 0.999 * v + 0.001 * jnp.square(clip * g), state["square"], grads
    )

    def update(p, m, v):
        return p - 1e-3 * m / (1 - 0.9**count) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-6)

    params = jax.tree.map(update, state["params"], mean, square)
    new = {"params": params, "mean": mean, "square": square, "count": count}
    return new, {"loss": value, "norm": total}


def main():
    devices = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x2").devices
    mesh = Mesh(np.array(devices).reshape(2, 2), ("batch", "res"))

    def array(shape, spec=WHOLE, dtype="float32"):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))

    params = jax.tree.map(array, SHAPES, is_leaf=lambda node: isinstance(node, tuple))
    state = {"params": params, "mean": params, "square": params, "count": array((), dtype="int32")}
    tokens = array((BATCH, SEQS, RES), P("batch", None, "res"), "int32")
    distances = array((BATCH, RES, RES), P("batch", "res"))

    def train(state, tokens, distances):
        return fold_train_step(mesh, state, tokens, distances)

    train.__name__ = train.__qualname__ = "fold_train_step"
    step = jax.jit(train, donate_argnums=0)
    compiled = step.lower(state, tokens, distances).compile()
    print(compiled.memory_analysis())


if __name__ == "__main__":
    main()
