"""A training step of a pipelined mixture-of-experts decoder: fp8 products with block scales, experts by all-to-all.

Ahead of time for 2x4 H100: mesh stage 2 x expert 4, all in one shard_map. Microbatches pass the stages by ppermute in a
scan, weights are e4m3 and slopes e5m2 by a custom rule, a router with sigmoid scores and biases instead of a balance
loss, tokens over capacity are dropped, AdamW with states sharded by reduce-scatter (ZeRO-1).
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84978434048
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("stage", "expert"))
bf, f32, e4, e5 = jnp.bfloat16, jnp.float32, jnp.float8_e4m3fn, jnp.float8_e5m2
ST, EX = 2, 4
MB, T, D, H, G, HD, F, V = 4, 1024, 1024, 8, 2, 128, 2048, 32768
L, E, K, B = (
    3,
    16,
    4,
    2,
)  # layers of a stage, experts, experts of a token, rows of a device in a microbatch
CAP = B * T * K // E * 5 // 4


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


layer = dict(
    ln1=(ST, L, D),
    ln2=(ST, L, D),
    q=(ST, L, D, H * HD),
    kv=(ST, L, D, 2 * G * HD),
    qn=(ST, L, HD),
    kn=(ST, L, HD),
    o=(ST, L, H * HD, D),
    route=(ST, L, D, E),
    shared=(ST, L, D, 2 * F // 4),
    shared_down=(ST, L, F // 4, D),
)
experts = dict(up=(ST, L, E, D, 2 * F // 2), down=(ST, L, E, F // 2, D))
specs = dict(
    layers={k: P("stage") for k in layer},
    experts={k: P("stage", None, "expert") for k in experts},
    embed=P(),
    head=P(None, "expert"),
    norm=P(),
)
shapes = dict(layers=layer, experts=experts, embed=(V, D), head=(D, V), norm=(D,))
params = jax.tree.map(
    lambda s, p: S(s, f32, *p), shapes, specs, is_leaf=lambda x: isinstance(x, tuple)
)
# The moments of what every expert rank has are split over them, flat.
flat = lambda s: (ST, int(np.prod(s[1:])))
mspecs = dict(
    layers={k: P("stage", "expert") for k in layer},
    experts=specs["experts"],
    embed=P("expert"),
    head=specs["head"],
    norm=P(),
)
mshapes = dict(
    layers={k: flat(s) for k, s in layer.items()},
    experts=experts,
    embed=(V, D),
    head=(D, V),
    norm=(D,),
)
moments = jax.tree.map(
    lambda s, p: S(s, bf, *p), mshapes, mspecs, is_leaf=lambda x: isinstance(x, tuple)
)
bias = S((ST, L, E), f32, "stage")
tokens = S((MB, B * EX, T + 1), jnp.int32, None, "expert")
document = S((MB, B * EX, T), jnp.int32, None, "expert")


def scaled(x, dt, axis):
    """Values in an 8-bit type, and the scale of each row."""
    top = jnp.max(jnp.abs(x.astype(f32)), axis, keepdims=True)
    scale = jnp.maximum(top, 1e-12) / float(jnp.finfo(dt).max)
    return (x.astype(f32) / scale).astype(dt), scale


@jax.custom_vjp
def mm8(x, w):
    xq, xs = scaled(x, e4, -1)
    wq, ws = scaled(w, e4, (-2, -1))
    return (jnp.matmul(xq, wq, preferred_element_type=f32) * xs * ws).astype(bf)


def mm8_fwd(x, w):
    return mm8(x, w), (x, w)


def mm8_bwd(saved, g):
    x, w = saved
    gq, gs = scaled(g, e5, -1)
    wq, ws = scaled(w, e4, (-2, -1))
    dx = (jnp.matmul(gq, jnp.swapaxes(wq, -1, -2), preferred_element_type=f32) * gs * ws).astype(
        x.dtype
    )
    dw = jnp.matmul(jnp.swapaxes(x, -1, -2), g.astype(x.dtype), preferred_element_type=f32)
    if dw.ndim > w.ndim:
        dw = dw.sum(tuple(range(dw.ndim - w.ndim)))
    return dx, dw.astype(w.dtype)


mm8.defvjp(mm8_fwd, mm8_bwd)


def rms(x, g):
    x32 = x.astype(f32)
    return (x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6) * g).astype(bf)


def rope(x, t):
    w = 1.0 / 10000 ** (jnp.arange(0, HD, 2, dtype=f32) / HD)
    a = t[..., None, None].astype(f32) * w
    x1, x2 = jnp.split(x.astype(f32), 2, -1)
    return jnp.concatenate(
        [x1 * jnp.cos(a) - x2 * jnp.sin(a), x2 * jnp.cos(a) + x1 * jnp.sin(a)], -1
    ).astype(bf)


def attend(x, w, doc, t):
    q = mm8(x, w["q"]).reshape(B, T, H, HD)
    k, v = jnp.split(mm8(x, w["kv"]).reshape(B, T, 2 * G, HD), 2, 2)
    q, k = rope(rms(q, w["qn"]), t), rope(rms(k, w["kn"]), t)
    q = q.reshape(B, T, G, H // G, HD)
    s = jnp.einsum("btghc,bsgc->bghts", q, k, preferred_element_type=f32) * HD**-0.5
    same = (doc[:, :, None] == doc[:, None, :]) & (jnp.arange(T)[:, None] >= jnp.arange(T))
    s = jnp.where(same[:, None, None], s, -1e30)
    p = jax.nn.softmax(s, -1).astype(bf)
    y = jnp.einsum("bghts,bsgc->btghc", p, v).reshape(B, T, H * HD)
    return mm8(y, w["o"])


def swiglu(x, up, down):
    a, b = jnp.split(mm8(x, up), 2, -1)
    return mm8(jax.nn.silu(a.astype(f32)).astype(bf) * b, down)


def mixture(x, w, ex, bias):
    flatx = x.reshape(B * T, D)
    score = jax.nn.sigmoid(flatx.astype(f32) @ w["route"])
    # The two best of four groups of experts, then the best experts in these.
    biased = score + bias
    groups = lax.top_k(biased.reshape(-1, 4, E // 4), 2)[0].sum(-1)
    _, best = lax.top_k(groups, 2)
    allowed = jnp.any(best[..., None] == jnp.arange(4), 1)
    biased = jnp.where(jnp.repeat(allowed, E // 4, 1), biased, -jnp.inf)
    _, chosen = lax.top_k(biased, K)
    gate = jnp.take_along_axis(score, chosen, 1)
    gate = 2.5 * gate / (gate.sum(-1, keepdims=True) + 1e-9)
    hot = jax.nn.one_hot(chosen.reshape(-1), E, dtype=jnp.int32)
    slot = jnp.sum((jnp.cumsum(hot, 0) - 1) * hot, -1)
    load = hot.sum(0)
    place = jnp.where(slot < CAP, chosen.reshape(-1) * CAP + slot, E * CAP)
    sent = jnp.zeros((E * CAP, D), bf).at[place].set(jnp.repeat(flatx, K, 0), mode="drop")
    sent = sent.reshape(EX, E // EX * CAP, D)
    there = lax.all_to_all(sent, "expert", 0, 0, tiled=True)
    there = there.reshape(EX, E // EX, CAP, D).transpose(1, 0, 2, 3).reshape(E // EX, EX * CAP, D)
    y = jax.vmap(swiglu)(there, ex["up"], ex["down"])
    y = y.reshape(E // EX, EX, CAP, D).transpose(1, 0, 2, 3).reshape(EX, E // EX * CAP, D)
    back = lax.all_to_all(y, "expert", 0, 0, tiled=True).reshape(E * CAP, D)
    got = jnp.take(back, place, 0, mode="fill", fill_value=0).reshape(B * T, K, D)
    y = jnp.einsum("tkd,tk->td", got.astype(f32), gate).astype(bf)
    return (y + swiglu(flatx, w["shared"], w["shared_down"])).reshape(B, T, D), load


def stage(ws, ex, bias, x, doc):
    t = jnp.arange(T) - jnp.max(
        jnp.where(doc[:, :, None] > doc[:, None, :], jnp.arange(T) + 1, 0), -1
    )

    @partial(jax.checkpoint, policy=jax.checkpoint_policies.save_only_these_names("there"))
    def block(x, wl):
        w, e, b = wl
        x = x + attend(rms(x, w["ln1"]), w, doc, t)
        y, load = mixture(rms(x, w["ln2"]), w, e, b)
        return x + y, load

    return lax.scan(block, x, (ws, ex, bias))


def head_loss(x, p, labels, ok):
    x = rms(x, p["norm"])
    logits = jnp.einsum(
        "btd,dv->btv",
        lax.all_gather(x, "expert", axis=0, tiled=True),
        p["head"].astype(bf),
        preferred_element_type=f32,
    )
    labels = lax.all_gather(labels, "expert", axis=0, tiled=True)
    top = lax.stop_gradient(lax.pmax(lax.stop_gradient(logits.max(-1)), "expert"))
    z = jnp.log(lax.psum(jnp.exp(logits - top[..., None]).sum(-1), "expert")) + top
    mine = labels - lax.axis_index("expert") * (V // EX)
    inside = (mine >= 0) & (mine < V // EX)
    here = jnp.take_along_axis(logits, jnp.clip(mine, 0, V // EX - 1)[..., None], -1)[..., 0]
    right = lax.psum(jnp.where(inside, here, 0.0), "expert")
    return ok * (jnp.mean(z - right) + 1e-4 * jnp.mean(z * z))


def pipeline(p, bias, tokens, document):
    me = lax.axis_index("stage")
    ws = jax.tree.map(lambda x: x[0], p["layers"])
    ex = jax.tree.map(lambda x: x[0], p["experts"])

    def tick(carry, i):
        x, loads = carry
        number = i - me
        mine = jnp.clip(number, 0, MB - 1)
        words, doc = tokens[mine], document[mine]
        fresh = p["embed"][words[:, :-1]].astype(bf)
        y, load = stage(ws, ex, bias[0], jnp.where(me == 0, fresh, x), doc)
        live = (number >= 0) & (number < MB)
        value = head_loss(y, p, words[:, 1:], (live & (me == ST - 1)).astype(f32))
        x = lax.ppermute(y, "stage", [(s, s + 1) for s in range(ST - 1)])
        return (x, loads + jnp.where(live, load, 0)), value

    start = (jnp.zeros((B, T, D), bf), jnp.zeros((L, E), jnp.int32))
    start = jax.tree.map(lambda x: lax.pcast(x, ("stage", "expert"), to="varying"), start)
    (_, loads), values = lax.scan(tick, start, jnp.arange(MB + ST - 1))
    return values.sum() / MB, loads


def update(p, bias, m, v, count, tokens, document):
    (value, loads), g = jax.value_and_grad(pipeline, has_aux=True)(p, bias, tokens, document)
    value = lax.psum(lax.pmean(value, "expert"), "stage")
    loads = lax.psum(loads, "expert").astype(f32)
    bias = bias + 1e-3 * jnp.sign(loads.mean(-1, keepdims=True) - loads)[None]
    rate = 3e-4 * jnp.minimum(1.0, (count + 1) / 2000)

    def adam(w, g, m, v):
        m = 0.9 * m.astype(f32) + 0.1 * g
        v = 0.95 * v.astype(f32) + 0.05 * g * g
        t = count.astype(f32) + 1
        d = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.95**t)) + 1e-8)
        return w - rate * (d + 0.1 * w), m.astype(bf), v.astype(bf)

    def split(w, g, m, v):
        """Each expert rank moves its piece of a flat weight, then all pieces are gathered."""
        n = g.size // EX
        g = lax.psum_scatter(g.reshape(EX, n), "expert", scatter_dimension=0) / EX
        piece = lax.dynamic_slice(w.reshape(-1), (lax.axis_index("expert") * n,), (n,))
        piece, m1, v1 = adam(piece, g * clip, m.reshape(-1), v.reshape(-1))
        return (
            lax.all_gather(piece, "expert", axis=0, tiled=True).reshape(w.shape),
            m1.reshape(m.shape),
            v1.reshape(v.shape),
        )

    g["embed"], g["norm"], g["head"] = lax.psum((g["embed"], g["norm"], g["head"]), "stage")
    g["norm"] = lax.pmean(g["norm"], "expert")
    power = lambda tree: sum(jnp.sum(x * x) for x in jax.tree.leaves(tree))
    norm = jnp.sqrt(
        lax.psum(
            lax.psum(power(g["layers"]) / EX + power(g["experts"]), "stage") + power(g["head"]),
            "expert",
        )
    )
    clip = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
    out = dict(layers={}, experts={}, embed=split(p["embed"], g["embed"], m["embed"], v["embed"]))
    for k in layer:
        out["layers"][k] = split(p["layers"][k], g["layers"][k], m["layers"][k], v["layers"][k])
    for k in experts:
        out["experts"][k] = adam(
            p["experts"][k], g["experts"][k] * clip / EX, m["experts"][k], v["experts"][k]
        )
    for k in ("head", "norm"):
        out[k] = adam(p[k], g[k] * clip, m[k], v[k])
    p, m, v = (
        jax.tree.map(lambda x: x[i], out, is_leaf=lambda x: isinstance(x, tuple)) for i in range(3)
    )
    return p, bias, m, v, count + 1, dict(loss=value, norm=norm, load=loads)


sp = lambda t: jax.tree.map(lambda x: x.sharding.spec, t)
ins = (params, bias, moments, moments, S((), jnp.int32), tokens, document)
moe_train_step = jax.shard_map(
    update,
    mesh=mesh,
    in_specs=sp(ins),
    check_vma=False,
    out_specs=(
        sp(params),
        sp(bias),
        sp(moments),
        sp(moments),
        P(),
        dict(loss=P(), norm=P(), load=P("stage")),
    ),
)
moe_train_step.__name__ = "moe_train_step"
c = jax.jit(moe_train_step, donate_argnums=(0, 1, 2, 3, 4)).lower(*ins).compile()
print(c.memory_analysis())
