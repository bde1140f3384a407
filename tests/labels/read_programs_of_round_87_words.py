"""A training step of a translator: encoder and decoder with buckets of relative positions, sharded weights, Adafactor.

Ahead of time for four H100: mesh fsdp 2 x model 2. Both stacks by scans with remat, biases of 32 buckets shared by layers,
attention that reads the encoder, labels shifted right, smoothed and masked, embeddings shared by both sides and the head,
factored second moments by rows and columns, updates relative to the size of weights.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
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
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("fsdp", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# sentences, words of a source and of a target, layers, width, heads, size of a head, hidden, vocabulary, buckets
B, T, U, L, D, H, HD, F, V, K = 16, 256, 128, 4, 512, 8, 64, 1024, 16384, 32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def stack(crosses):
    w = dict(
        qkv=S((L, D, 3, H, HD), f32, None, "fsdp", None, "model"),
        out=S((L, H, HD, D), f32, None, "model", None, "fsdp"),
        up=S((L, D, 2, F), f32, None, "fsdp", None, "model"),
        down=S((L, F, D), f32, None, "model", "fsdp"),
        norms=S((L, 3, D), f32),
    )
    if crosses:
        w |= dict(
            q=S((L, D, H, HD), f32, None, "fsdp", "model"),
            kv=S((L, D, 2, H, HD), f32, None, "fsdp", None, "model"),
            back=S((L, H, HD, D), f32, None, "model", None, "fsdp"),
        )
    return w


params = dict(
    words=S((V, D), f32, "model", "fsdp"),
    encoder=stack(False),
    decoder=stack(True),
    near=S((2, K, H), f32, None, None, "model"),
    last=S((2, D), f32),
)
batch = dict(source=S((B, T), i32, "fsdp"), target=S((B, U), i32, "fsdp"))


def norm(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * scale).astype(bf)


def buckets(n, m, both):
    apart = jnp.arange(m)[None] - jnp.arange(n)[:, None]
    most, first = (K // 2, (apart > 0) * (K // 2)) if both else (K, 0)
    far = jnp.abs(apart) if both else jnp.maximum(-apart, 0)
    exact = most // 2
    large = exact + (
        jnp.log(jnp.maximum(far, 1) / exact) / np.log(128 / exact) * (most - exact)
    ).astype(i32)
    return first + jnp.where(far < exact, far, jnp.minimum(large, most - 1))


def attend(q, k, v, bias, allowed):
    s = jnp.einsum("bthk,bshk->bhts", q, k).astype(f32)
    s = s if bias is None else s + bias
    s = jnp.where(allowed, s, -1e9)
    return jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s, -1).astype(bf), v)


def run(w, x, bias, allowed, memory=None, seen=None):
    def layer(x, w):
        h = norm(x, w["norms"][0])
        q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", h, w["qkv"].astype(bf)), 2, 0)
        o = attend(q, k, v, bias, allowed)
        x = con(x + jnp.einsum("bthk,hkd->btd", o, w["out"].astype(bf)), "fsdp", None, None)
        if memory is not None:
            h = norm(x, w["norms"][2])
            q = jnp.einsum("btd,dhk->bthk", h, w["q"].astype(bf))
            k, v = jnp.moveaxis(jnp.einsum("bsd,dchk->bschk", memory, w["kv"].astype(bf)), 2, 0)
            o = attend(q, k, v, None, seen)
            x = con(x + jnp.einsum("bthk,hkd->btd", o, w["back"].astype(bf)), "fsdp", None, None)
        g = jnp.einsum("btd,dcf->btcf", norm(x, w["norms"][1]), w["up"].astype(bf))
        y = jax.nn.gelu(g[:, :, 0]) * g[:, :, 1]
        return con(x + jnp.einsum("btf,fd->btd", y, w["down"].astype(bf)), "fsdp", None, None), None

    return lax.scan(jax.checkpoint(layer), x, w)[0]


def loss(p, b):
    words = p["words"].astype(bf)
    real = b["source"] > 0
    bias = jnp.moveaxis(p["near"][:, buckets(T, T, True)][0], -1, 0)
    x = con(words[b["source"]], "fsdp", None, None)
    memory = norm(run(p["encoder"], x, bias, real[:, None, None]), p["last"][0])
    shifted = jnp.pad(b["target"][:, :-1], ((0, 0), (1, 0)))
    causal = (jnp.arange(U)[:, None] >= jnp.arange(U))[None, None]
    bias = jnp.moveaxis(p["near"][1][buckets(U, U, False)], -1, 0)
    y = con(words[shifted], "fsdp", None, None)
    y = run(p["decoder"], y, bias, causal, memory, real[:, None, None])
    s = jnp.einsum("btd,vd->btv", norm(y, p["last"][1]) * D**-0.5, words).astype(f32)
    s = con(s, "fsdp", None, "model")
    there = b["target"] > 0
    z = jax.nn.logsumexp(s, -1)
    own = jnp.take_along_axis(s, b["target"][..., None], -1)[..., 0]
    each = 0.9 * (z - own) + 0.1 * (z - s.mean(-1)) + 1e-4 * z * z
    return jnp.sum(each * there) / jnp.maximum(there.sum(), 1)


def moments(p):
    if len(p.shape) < 2:
        return dict(v=p)
    spec = [*p.sharding.spec, *[None] * (len(p.shape) - len(p.sharding.spec))]
    return dict(
        rows=S(p.shape[:-1], f32, *spec[:-1]),
        columns=S((*p.shape[:-2], p.shape[-1]), f32, *spec[:-2], spec[-1]),
    )


state = dict(params=params, v=jax.tree.map(moments, params), step=S((), i32))


def translator_step(state, b):
    value, grads = jax.value_and_grad(loss)(state["params"], b)
    t = state["step"].astype(f32) + 1
    keep = 1 - t**-0.8

    def update(p, g, v):
        g2 = g * g + 1e-30
        if "v" in v:
            new = dict(v=keep * v["v"] + (1 - keep) * g2)
            u = g * lax.rsqrt(new["v"])
        else:
            rows = keep * v["rows"] + (1 - keep) * g2.mean(-1)
            columns = keep * v["columns"] + (1 - keep) * g2.mean(-2)
            new = dict(rows=rows, columns=columns)
            share = rows / rows.mean(-1, keepdims=True)
            u = g * lax.rsqrt(share)[..., None] * lax.rsqrt(columns)[..., None, :]
        u = u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(u * u)))
        size = jnp.maximum(1e-3, jnp.sqrt(jnp.mean(p * p)))
        return p - size * jnp.minimum(1e-2, lax.rsqrt(t)) * u, new

    flat, tree = jax.tree.flatten(state["params"])
    pairs = [
        update(*x)
        for x in zip(flat, tree.flatten_up_to(grads), tree.flatten_up_to(state["v"]), strict=True)
    ]
    p, v = (tree.unflatten(part) for part in zip(*pairs, strict=True))
    return dict(params=p, v=v, step=state["step"] + 1), value


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = jax.jit(translator_step, donate_argnums=0).trace(state, batch)
        print(len(low.lower(lowering_platforms=("cuda",)).compile().as_text()))
