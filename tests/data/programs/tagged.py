"""Dumps in which every instruction of `before_optimizations` has an op_name of its own.

usage: tagged.py cpu|tpu|gpu PROGRAM   with the dump flags in XLA_FLAGS, for four devices; TPU (v5p)
and GPU (H100) ahead of time. XLA carries an op_name from pass to pass, so the last part of one says
which of the first instructions an instruction of any snapshot comes from: the truth for whoever
follows instructions without it.
"""

import os
import re
import sys
from functools import partial
from itertools import count, pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxlib.mlir import ir

BACKEND, PROGRAM = sys.argv[1:3]
os.environ["XLA_FLAGS"] += " --xla_force_host_platform_device_count=4"
AROUND = [(device, (device + 1) % 4) for device in range(4)]
H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 core_count: 132 fpus_per_core: 128
  shared_memory_per_block: 49152 shared_memory_per_core: 233472 threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84929347584 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 } registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""


def devices():
    if BACKEND == "cpu":
        return jax.devices()
    if BACKEND == "gpu":
        return topologies.get_topology_desc(
            platform="cuda", target_config=H100, topology="1x1x4"
        ).devices
    return topologies.get_topology_desc(
        platform="tpu", topology_name="v5p:2x2x1", chip_config_name="megacore"
    ).devices[:4]


def mesh(**axes):
    return Mesh(np.array(devices()).reshape(*axes.values()), tuple(axes))


def array(over, shape, *spec, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(over, P(*spec)))


def shard_map(over, ins, outs):
    return partial(jax.shard_map, mesh=over, in_specs=ins, out_specs=outs, check_vma=False)


def norm(x):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def updated(params, grads):
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)


def attended(q, k, v):
    scores = jnp.einsum("bthk,bshk->bhts", q, k) / np.sqrt(q.shape[-1])
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores), v)


def mlp():
    over = mesh(data=4)
    sizes = [96, 128, 64, 10]
    params = [(array(over, (a, b)), array(over, (b,))) for a, b in pairwise(sizes)]

    def loss(params, x, y):
        for w, b in params[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = params[-1]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ w + b) * y, -1))

    def train(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return updated(params, grads), value

    return train, params, array(over, (64, 96), "data"), array(over, (64, 10), "data")


def transformer():
    over = mesh(data=2, model=2)
    d, h, f, v = 64, 4, 256, 512
    layer = {
        "qkv": array(over, (d, 3, h, d // h), None, None, "model"),
        "out": array(over, (h, d // h, d), "model"),
        "up": array(over, (d, f), None, "model"),
        "down": array(over, (f, d), "model"),
    }
    params = {"embedding": array(over, (v, d), "model"), "layers": [layer] * 2}

    def logits(params, tokens):
        x = params["embedding"][tokens]
        for p in params["layers"]:
            q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", norm(x), p["qkv"]), 2, 0)
            x = x + jnp.einsum("bthk,hkd->btd", attended(q, k, v), p["out"])
            x = x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]
        return norm(x) @ params["embedding"].T

    def loss(params, tokens):
        found = jax.nn.log_softmax(logits(params, tokens)[:, :-1])
        return -jnp.mean(jnp.take_along_axis(found, tokens[:, 1:, None], -1))

    def train(params, tokens):
        value, grads = jax.value_and_grad(loss)(params, tokens)
        return updated(params, grads), value

    return train, params, array(over, (8, 32), "data", dtype="int32")


def fsdp():
    over = mesh(data=4)
    d, f = 128, 256
    layer = {"up": array(over, (d, f), "data"), "down": array(over, (f, d), "data")}
    params = {"layers": [layer] * 3, "head": array(over, (d, 32), "data")}

    @jax.checkpoint
    def block(p, x):
        return x + jnp.tanh(norm(x) @ p["up"]) @ p["down"]

    def loss(params, x, y):
        for p in params["layers"]:
            x = block(p, x)
        return jnp.mean((x @ params["head"] - y) ** 2)

    def train(params, moments, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        moments = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments, grads)
        return updated(params, moments), moments, value

    return train, params, params, array(over, (32, d), "data"), array(over, (32, 32), "data")


def experts():
    over = mesh(expert=4)
    d, f, tokens = 64, 128, 32

    @shard_map(over, (P("expert"), P("expert"), P(), P("expert")), P("expert"))
    def mixture(up, down, router, x):
        gates = jax.nn.softmax(x @ router)
        weight, chosen = lax.top_k(gates, 1)
        slots = jax.nn.one_hot(chosen[:, 0], 4) * weight
        sent = jnp.einsum("te,td->etd", slots, x)
        there = lax.all_to_all(sent, "expert", 0, 0)
        done = jnp.tanh(jnp.einsum("etd,df->etf", there, up[0])) @ down[0]
        back = lax.all_to_all(done, "expert", 0, 0)
        return x + jnp.einsum("etd,te->td", back, slots)

    def train(params, x, y):
        def loss(params):
            return jnp.mean((mixture(*params, x) - y) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        return updated(params, grads), value

    rows = array(over, (4 * tokens, d), "expert")
    up, down = array(over, (4, d, f), "expert"), array(over, (4, f, d), "expert")
    return train, (up, down, array(over, (d, 4))), rows, rows


def scan():
    over = mesh(data=2, model=2)
    d, layers = 64, 6
    params = {
        "up": array(over, (layers, d, 4 * d), None, None, "model"),
        "down": array(over, (layers, 4 * d, d), None, "model"),
    }

    def loss(params, x, y):
        def layer(x, p):
            return x + jax.nn.silu(norm(x) @ p["up"]) @ p["down"], jnp.sum(x)

        x, sums = lax.scan(jax.checkpoint(layer), x, params)
        return jnp.mean((x - y) ** 2) + 1e-6 * jnp.sum(sums)

    def train(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return updated(params, grads), value

    return train, params, array(over, (16, d), "data"), array(over, (16, d), "data")


def conv():
    over = mesh(data=4)
    kernels = [(3, 3, 3, 16), (3, 3, 16, 16), (3, 3, 1, 16), (1, 1, 16, 32)]
    params = [array(over, one) for one in kernels] + [array(over, (32, 10))]

    def convolved(x, k, stride=1, groups=1):
        return lax.conv_general_dilated(
            x,
            k,
            (stride, stride),
            "SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )

    def loss(params, x, y):
        a, b, c, e, head = params
        x = jax.nn.relu(convolved(x, a, 2))
        x = x + jax.nn.relu(convolved(x, b))
        x = jax.nn.relu(convolved(x, c, 1, 16))
        pool = (1, 2, 2, 1)
        x = lax.reduce_window(convolved(x, e), -jnp.inf, lax.max, pool, pool, "VALID")
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(x.mean((1, 2)) @ head) * y, -1))

    def train(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return updated(params, grads), value

    return train, params, array(over, (16, 32, 32, 3), "data"), array(over, (16, 10), "data")


def generate():
    over = mesh(data=2, model=2)
    d, h, v, length = 64, 4, 256, 16
    params = {
        "embedding": array(over, (v, d), None, "model"),
        "qkv": array(over, (2, d, 3, h, d // h), None, None, None, "model"),
        "out": array(over, (2, h, d // h, d), None, "model"),
        "ffn": array(over, (2, d, d), None, None, "model"),
    }

    def token(params, cache, last, place):
        x = params["embedding"][last]
        for i in range(2):
            q, k, w = jnp.moveaxis(jnp.einsum("bd,dchk->bchk", norm(x), params["qkv"][i]), 1, 0)
            cache = cache.at[i, 0, place].set(k).at[i, 1, place].set(w)
            scores = jnp.einsum("bhk,tbhk->bht", q, cache[i, 0])
            scores = jnp.where(jnp.arange(length) <= place, scores, -1e9)
            mixed = jnp.einsum("bht,tbhk->bhk", jax.nn.softmax(scores), cache[i, 1])
            x = x + jnp.einsum("bhk,hkd->bd", mixed, params["out"][i])
            x = x + jax.nn.gelu(norm(x) @ params["ffn"][i])
        return cache, jnp.argmax(x @ params["embedding"].T, -1).astype(last.dtype)

    def decode(params, first):
        def body(state):
            place, last, cache, found = state
            cache, last = token(params, cache, last, place)
            return place + 1, last, cache, found.at[place].set(last)

        cache = jnp.zeros((2, 2, length, first.shape[0], h, d // h))
        found = jnp.zeros((length, first.shape[0]), first.dtype)
        state = (0, first, cache, found)
        return lax.while_loop(lambda s: (s[0] < length) & jnp.any(s[1] != 3), body, state)[3]

    return decode, params, array(over, (8,), "data", dtype="int32")


def sorting():
    over = mesh(data=4)

    def ranked(table, rows, weights):
        best, where = lax.top_k(table @ weights, 16)
        order = jnp.argsort(rows, axis=0)
        read = table[where] + jnp.take_along_axis(rows, order, 0)[:, None, None]
        counts = jnp.zeros(64).at[where % 64].add(best)
        sums = jax.ops.segment_sum(read[:, 0], where[:, 0] % 32, 32)
        both = lax.sort((counts, jnp.arange(64.0)), num_keys=1)
        return sums, both, jnp.cumsum(counts), jnp.median(read), table.at[where[:, 0]].mul(2.0)

    table, rows = array(over, (256, 32), "data"), array(over, (256,), "data")
    return ranked, table, rows, array(over, (32, 64))


def ring():
    over = mesh(ring=4)

    @shard_map(over, (P(None, "ring"),) * 3, P(None, "ring"))
    def attention(q, k, v):
        best = jnp.full(q.shape[:-1], -jnp.inf)
        total, out = jnp.zeros(q.shape[:-1]), jnp.zeros_like(q)
        for _ in range(4):
            scores = jnp.einsum("bqd,bkd->bqk", q, k) / 8
            new = jnp.maximum(best, scores.max(-1))
            shares = jnp.exp(scores - new[..., None])
            scale = jnp.exp(best - new)
            total = total * scale + shares.sum(-1)
            out = out * scale[..., None] + jnp.einsum("bqk,bkd->bqd", shares, v)
            best = new
            k, v = lax.ppermute(k, "ring", AROUND), lax.ppermute(v, "ring", AROUND)
        return out / total[..., None]

    def train(params, x, y):
        def loss(params):
            q, k, v, out = params
            return jnp.mean((attention(x @ q, x @ k, x @ v) @ out - y) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        return updated(params, grads), value

    rows = array(over, (2, 64, 64), None, "ring")
    return train, (array(over, (64, 64)),) * 4, rows, rows


def pipeline():
    over = mesh(stage=4)
    d, batches = 64, 8

    @shard_map(over, (P("stage"), P()), P("stage"))
    def staged(weights, batch):
        stage = lax.axis_index("stage")

        def tick(state, number):
            done = jnp.tanh(jnp.where(stage == 0, batch[number % batches], state) @ weights[0])
            done = jnp.where(stage == 3, done * lax.rsqrt(1 + jnp.sum(done * done)), done)
            return lax.ppermute(done, "stage", AROUND), done

        _, outs = lax.scan(tick, jnp.zeros_like(batch[0]), jnp.arange(batches + 3))
        return lax.psum(outs[3:], "stage")[None]

    def train(weights, batch, y):
        def loss(weights):
            return jnp.mean((staged(weights, batch) - y) ** 2)

        value, grads = jax.value_and_grad(loss)(weights)
        return updated(weights, grads), value

    batch = array(over, (batches, 4, d))
    return train, array(over, (4, d, d), "stage"), batch, batch


def branches():
    over = mesh(data=4)

    def solved(a, b, mode):
        def newton(state):
            x, step = state
            return x @ (2 * jnp.eye(32) - a @ x), step + 1

        kinds = [lambda x: x @ a, lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(32)), jnp.sin]
        x, _ = lax.while_loop(lambda s: s[1] < 20, newton, (a.T / jnp.sum(a * a), 0))
        x = lax.switch(mode, kinds, x)
        x = lax.fori_loop(0, 5, lambda i, x: x + (b[:32] @ x) / (i + 1), x)
        return lax.cond(jnp.sum(x) > 0, lambda x: b @ x, lambda x: b @ (x.T * 2), x)

    matrix, rows = array(over, (32, 32)), array(over, (128, 32), "data")
    return solved, matrix, rows, array(over, (), dtype="int32")


def tag(lowered):
    """Give every operation of a lowered program the location t0, t1, ..."""
    module = lowered._lowering._hlo  # noqa: SLF001 - nothing public takes a module with other locations
    text = module.operation.get_asm(enable_debug_info=True)
    body = "\n".join(line for line in text.split("\n") if not line.startswith("#loc"))
    numbers = count()
    place = r'\bloc\((?:#loc\d*|unknown|"[^"]*"(?:\([^()]*\))?)\)'
    body = re.sub(place, lambda _: f'loc("t{next(numbers)}")', body)
    with module.context:
        lowered._lowering._hlo = ir.Module.parse(body)  # noqa: SLF001 - there is no public way
    return lowered


function, *arguments = globals()[PROGRAM]()
tag(jax.jit(function).lower(*arguments)).compile()
