"""A training step of a video model: tubelets, separable 3-D convolutions, attention over space, then over time.

Ahead of time for 2x4 H100: mesh data 2 x model 4, microbatches in a scan, layers with drop path in another,
mixup with the next clip, relative positions by gather, AdamW with clipping.
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
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84929347584
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("data", "model"))
bf, f32 = jnp.bfloat16, jnp.float32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


L, D, H, hd, F, C, B, M, T, R = 8, 768, 12, 64, 3072, 400, 64, 4, 8, 16
N = R * R
layers = dict(
    norm_s=S((L, D), f32),
    norm_t=S((L, D), f32),
    norm_m=S((L, D), f32),
    qkv_s=S((L, D, 3, H, hd), f32, None, "data", None, "model"),
    out_s=S((L, H, hd, D), f32, None, "model", None, "data"),
    bias_s=S((L, (2 * R - 1) ** 2, H), f32, None, None, "model"),
    qkv_t=S((L, D, 3, H, hd), f32, None, "data", None, "model"),
    out_t=S((L, H, hd, D), f32, None, "model", None, "data"),
    bias_t=S((L, 2 * T - 1, H), f32, None, None, "model"),
    up=S((L, D, F), f32, None, "data", "model"),
    down=S((L, F, D), f32, None, "model", "data"),
)
stem = dict(
    space=S((1, 7, 7, 3, 64), f32),
    time=S((3, 1, 1, 64, 96), f32),
    scale=S((96,), f32),
    tubelet=S((2, 4, 4, 96, D), f32, None, None, None, None, "model"),
    depthwise=S((3, 3, 3, 1, D), f32, None, None, None, None, "model"),
)
head = dict(norm=S((D,), f32), w=S((D, C), f32, None, "model"), b=S((C,), f32))
params = dict(stem=stem, layers=layers, head=head)
batch = (
    S((M, B, 2 * T, 8 * R, 8 * R, 3), jnp.uint8, None, "data"),
    S((M, B), jnp.int32, None, "data"),
    S((M,), f32),
    S((M, L, 3, B), f32, None, None, None, "data"),
)
step = S((), jnp.int32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
ij = np.stack(np.meshgrid(np.arange(R), np.arange(R), indexing="ij"), -1).reshape(N, 2)
rel = ij[:, None] - ij[None] + R - 1
rel_s = (rel[..., 0] * (2 * R - 1) + rel[..., 1]).astype(np.int32)
rel_t = (np.arange(T)[:, None] - np.arange(T)[None] + T - 1).astype(np.int32)


def rms(x, g):
    x32 = x.astype(f32)
    return (x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6) * g).astype(bf)


def conv(x, w, stride, groups=1):
    return lax.conv_general_dilated(
        x,
        w.astype(bf),
        stride,
        "SAME",
        dimension_numbers=("NDHWC", "DHWIO", "NDHWC"),
        feature_group_count=groups,
    )


def batch_norm(x, g):
    x32 = x.astype(f32)
    mean, square = jnp.mean(x32, (0, 1, 2, 3)), jnp.mean(x32 * x32, (0, 1, 2, 3))
    return ((x32 - mean) * lax.rsqrt(square - mean * mean + 1e-5) * g).astype(bf)


def embed(p, x):
    with jax.named_scope("stem"):
        x = conv(x, p["space"], (1, 2, 2))
        x = jax.nn.relu(batch_norm(conv(x, p["time"], (1, 1, 1)), p["scale"]))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 3, 1), (1, 1, 1, 1, 1), "SAME")
        x = con(conv(x, p["tubelet"], (2, 4, 4)), "data", None, None, None, "model")
        x = x + conv(x, p["depthwise"], (1, 1, 1), D)
    return con(x.reshape(-1, T, N, D), "data", None, "model")


def attention(h, qkv, out, bias):
    q, k, v = jnp.moveaxis(jnp.einsum("bxnd,dchk->bxnchk", h, qkv.astype(bf)), 3, 0)
    s = jnp.einsum("bxnhk,bxmhk->bxhnm", q, k).astype(f32) * hd**-0.5 + jnp.moveaxis(bias, -1, 0)
    a = jax.nn.softmax(s, -1).astype(bf)
    return jnp.einsum("bxnhk,hkd->bxnd", jnp.einsum("bxhnm,bxmhk->bxnhk", a, v), out.astype(bf))


def block(x, w):
    path = lambda y, i: y * w["keep"][i].astype(bf)[:, None, None, None]
    with jax.named_scope("space"):
        h = rms(x, w["norm_s"])
        x = x + path(attention(h, w["qkv_s"], w["out_s"], w["bias_s"][rel_s]), 0)
        x = con(x, "data", None, "model")
    with jax.named_scope("time"):
        h = jnp.swapaxes(rms(x, w["norm_t"]), 1, 2)
        h = attention(h, w["qkv_t"], w["out_t"], w["bias_t"][rel_t])
        x = con(x + path(jnp.swapaxes(h, 1, 2), 1), "data", None, "model")
    with jax.named_scope("mlp"):
        h = jax.nn.gelu(rms(x, w["norm_m"]) @ w["up"].astype(bf))
        x = con(x + path(h @ w["down"].astype(bf), 2), "data", None, "model")
    return x, None


def logits(p, x, keep):
    x, _ = lax.scan(block, embed(p["stem"], x), dict(p["layers"], keep=keep))
    with jax.named_scope("head"):
        x = jnp.mean(rms(x, p["head"]["norm"]), (1, 2)).astype(f32)
        return x @ p["head"]["w"] + p["head"]["b"]


def mixed(clip, label, weight):
    x = (clip.astype(f32) / 127.5 - 1.0).astype(bf)
    target = jax.nn.one_hot(label, C) * 0.9 + 0.1 / C
    blend = lambda z: weight.astype(z.dtype) * z + (1 - weight).astype(z.dtype) * jnp.roll(z, 1, 0)
    return blend(x), blend(target)


def loss(p, clip, label, weight, keep):
    x, target = mixed(clip, label, weight)
    z = logits(p, x, keep)
    right = jnp.any(lax.top_k(z, 5)[1] == label[:, None], -1)
    return -jnp.mean(jnp.sum(target * jax.nn.log_softmax(z), -1)), jnp.mean(right)


def video_train_step(p, m, v, step, batch):
    def micro(total, z):
        (value, right), g = jax.value_and_grad(loss, has_aux=True)(p, *z)
        return jax.tree.map(jnp.add, total, g), (value, right)

    total, (values, right) = lax.scan(micro, jax.tree.map(jnp.zeros_like, p), batch)
    g = jax.tree.map(lambda x: x / M, total)
    norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1.0, 1.0 / (norm + 1e-6)), g)
    t = (step + 1).astype(f32)
    rate = 5e-4 * jnp.minimum(t / 500, 0.5 * (1 + jnp.cos(np.pi * jnp.minimum(t / 30000, 1.0))))
    m = jax.tree.map(lambda a, x: 0.9 * a + 0.1 * x, m, g)
    v = jax.tree.map(lambda a, x: 0.999 * a + 0.001 * x * x, v, g)
    p = jax.tree.map(
        lambda w, a, b: (
            w
            - rate
            * (a / (1 - 0.9**t) / (jnp.sqrt(b / (1 - 0.999**t)) + 1e-8) + 0.05 * w * (w.ndim > 2))
        ),
        p,
        m,
        v,
    )
    report = dict(loss=jnp.mean(values), right=jnp.mean(right), norm=norm)
    return p, m, v, step + 1, report


c = (
    jax.jit(video_train_step, donate_argnums=(0, 1, 2, 3))
    .lower(params, params, params, step, batch)
    .compile()
)
print(c.memory_analysis())
