"""A mixture-of-experts decoder that generates 8 tokens, compiled for four H100
without a device. TARGET: the dump folder."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = (
    f"--xla_dump_to={os.environ['TARGET']} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
)
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32
  shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84929347584 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 }
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
D, H, K, F, E, V, L, B, T, N = 512, 8, 64, 1024, 8, 4096, 2, 32, 128, 4
TOP, NEW = 2, 8
CAP = TOP * B // N
BF = jnp.bfloat16


def norm(x, g):
    f = x.astype(jnp.float32)
    f = f * jax.lax.rsqrt((f * f).mean(-1, keepdims=True) + 1e-6)
    return f.astype(BF) * g


def full(w):
    return w["q"].astype(BF) * w["s"].astype(BF)


def rotary(x, pos):
    inv = 1.0 / 10000 ** (jnp.arange(K // 2, dtype=jnp.float32) / (K // 2))
    a = pos.astype(jnp.float32) * inv
    c, s = jnp.cos(a).astype(BF), jnp.sin(a).astype(BF)
    p, q = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([p * c - q * s, q * c + p * s], -1)


def attention(w, x, cache, pos):
    q, k, v = jnp.split((x @ full(w["qkv"])).reshape(-1, 3 * H, K), 3, axis=1)
    q, k = rotary(q, pos), rotary(k, pos)
    kc, vc = cache
    kc = jax.lax.dynamic_update_slice(kc, k[:, None], (0, pos, 0, 0))
    vc = jax.lax.dynamic_update_slice(vc, v[:, None], (0, pos, 0, 0))
    s = jnp.einsum("bhk,bthk->bht", q, kc).astype(jnp.float32) * K**-0.5
    s = jnp.where(jnp.arange(T) <= pos, s, -1e9)
    o = jnp.einsum("bht,bthk->bhk", jax.nn.softmax(s).astype(BF), vc)
    return o.reshape(-1, H * K) @ full(w["out"]), (kc, vc)


def experts(w, x):
    """x: the rows of this device; w: the experts of this device."""
    scores = jax.nn.softmax((x @ w["router"]).astype(jnp.float32))
    gate, which = jax.lax.top_k(scores, TOP)
    gate = (gate / gate.sum(-1, keepdims=True)).astype(BF)
    hot = jax.nn.one_hot(which.reshape(-1), E, dtype=jnp.int32)
    place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
    send = jnp.zeros((E, CAP, D), BF)
    rows = jnp.repeat(x, TOP, 0)
    send = send.at[which.reshape(-1), place].add(rows, mode="drop")
    send = send.reshape(N, E // N, CAP, D)
    got = jax.lax.all_to_all(send, "x", 0, 0, tiled=True)
    got = got.swapaxes(0, 1).reshape(E // N, N * CAP, D)
    up = jnp.einsum("ecd,edf->ecf", got, full(w["up"]))
    gated = jnp.einsum("ecd,edf->ecf", got, full(w["gate"]))
    y = jnp.einsum("ecf,efd->ecd", jax.nn.silu(gated) * up, full(w["down"]))
    y = y.reshape(E // N, N, CAP, D).swapaxes(0, 1)
    back = jax.lax.all_to_all(y, "x", 0, 0, tiled=True).reshape(E, CAP, D)
    picked = back.at[which.reshape(-1), place].get(mode="fill", fill_value=0)
    return (picked.reshape(-1, TOP, D) * gate[..., None]).sum(1)


def head(w, x):
    """Logits from a hidden dimension that is split over the devices."""
    all_x = jax.lax.all_gather(x, "x", axis=0, tiled=True)
    i = jax.lax.axis_index("x")
    part = jax.lax.dynamic_slice_in_dim(all_x, i * (D // N), D // N, 1)
    logits = (part @ full(w)).astype(jnp.float32)
    return jax.lax.psum_scatter(logits, "x", scatter_dimension=0, tiled=True)


def generate(w, token, caches, pos):
    def body(carry):
        step, token, caches, pos, out = carry
        x = w["embed"][token]
        new = []
        for layer, cache in zip(w["layers"], caches):
            y, cache = attention(layer, norm(x, layer["n1"]), cache, pos)
            x = x + y
            x = x + experts(layer, norm(x, layer["n2"]))
            new.append(cache)
        token = jnp.argmax(head(w["head"], norm(x, w["n"])), -1).astype(jnp.int32)
        out = jax.lax.dynamic_update_slice(out, token[:, None], (0, step))
        return step + 1, token, new, pos + 1, out

    out = jnp.zeros((token.shape[0], NEW), jnp.int32)
    out = jax.lax.pcast(out, "x", to="varying")
    first = (jnp.int32(0), token, caches, pos, out)
    _, _, caches, pos, out = jax.lax.while_loop(lambda c: c[0] < NEW, body, first)
    return out, caches, pos


def main():
    topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology=f"1x1x{N}")
    mesh = Mesh(np.array(topo.devices), ("x",))
    P = PartitionSpec

    def quant(shape, scale, *spec):
        return {
            "q": (shape, jnp.int8, P(*spec)),
            "s": (scale, jnp.float32, spec_of(scale, spec)),
        }

    def spec_of(scale, spec):
        spec = spec + (None,) * (len(scale) - len(spec))
        return P(*(n if k > 1 else None for n, k in zip(spec, scale)))

    layer = {
        "qkv": quant((D, 3 * H * K), (1, 3 * H * K)),
        "out": quant((H * K, D), (1, D)),
        "router": ((D, E), BF, P()),
        "up": quant((E, D, F), (E, 1, F), "x"),
        "gate": quant((E, D, F), (E, 1, F), "x"),
        "down": quant((E, F, D), (E, 1, D), "x"),
        "n1": ((D,), BF, P()),
        "n2": ((D,), BF, P()),
    }
    weights = {
        "embed": ((V, D), BF, P()),
        "layers": [layer] * L,
        "n": ((D,), BF, P()),
        "head": quant((D, V), (1, V), "x"),
    }
    row = ((B, T, H, K), BF, P("x"))
    args = (weights, ((B,), jnp.int32, P("x")), [(row, row)] * L, ((), jnp.int32, P()))

    def leaf(x):
        return isinstance(x, tuple) and len(x) == 3 and isinstance(x[2], P)

    def pick(f):
        return jax.tree.map(f, args, is_leaf=leaf)

    shapes = pick(lambda x: jax.ShapeDtypeStruct(x[0], x[1], sharding=NamedSharding(mesh, x[2])))
    specs = pick(lambda x: x[2])
    f = jax.shard_map(generate, mesh=mesh, in_specs=specs, out_specs=(P("x"), specs[2], P()))
    compiled = jax.jit(f, donate_argnums=2).lower(*shapes).compile()
    print("compiled", len(compiled.as_text() or ""))


main()
