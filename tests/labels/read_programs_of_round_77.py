"""A training step of a weather model on a latitude-longitude grid: spherical harmonics, convolutions, two time steps.

Ahead of time for 2x4 B200: mesh batch 2 x space 4, latitudes sharded over space, halos left to the partitioner,
Legendre transforms by einsum, Fourier ones by rfft, blocks in a scan with remat, Adam with clipping.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

B200 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 148 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 8000000000000 l2_cache_size: 132644864 clock_rate_ghz: 1.965 device_memory_size: 191502155776
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 10 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA B200"
"""
topo = topologies.get_topology_desc(platform="cuda", target_config=B200, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("batch", "space"))
bf, f32 = jnp.bfloat16, jnp.float32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


B, Y, X, C, D, K, L, M = 8, 128, 256, 36, 256, 6, 64, 64
blocks = dict(
    norm=S((K, D), f32),
    spectral=S((K, D, D, 2), f32, None, "batch", "space"),
    degree=S((K, L, D), f32),
    near=S((K, 3, 3, 1, D), f32),
    far=S((K, 5, 5, D // 4, D), f32, None, None, None, None, "batch"),
    scale=S((K, D), f32),
    up=S((K, D, 4 * D), f32, None, "batch", "space"),
    down=S((K, 4 * D, D), f32, None, "space", "batch"),
    step=S((K, 2, D), f32),
)
params = dict(
    stem=S((7, 7, C + 6, D), f32),
    table=S((16, D), f32),
    blocks=blocks,
    coarse=S((2, 2, D, 2 * D), f32, None, None, None, "space"),
    fine=S((2, 2, D, 2 * D), f32, None, None, None, "space"),
    head=S((3, 3, D, C), f32),
    bias=S((C,), f32),
)
batch = dict(
    state=S((B, Y, X, C), bf, "batch", "space"),
    target=S((2, B, Y, X, C), bf, None, "batch", "space"),
    hour=S((B,), f32, "batch"),
    soil=S((Y, X), jnp.uint8, "space"),
    height=S((Y, X, 2), f32, "space"),
)
step = S((), jnp.int32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def legendre():
    """Normalized associated Legendre functions at Gaussian latitudes, and the weights of these."""
    mu, weight = np.polynomial.legendre.leggauss(Y)
    table = np.zeros((M, L, Y))
    sine = np.sqrt(1 - mu**2)
    top = np.full(Y, np.sqrt(0.5))
    for m in range(M):
        if m:
            top = -np.sqrt((2 * m + 1) / (2 * m)) * sine * top
        old, new = np.zeros(Y), top
        for l in range(m, L):
            table[m, l] = new
            a = np.sqrt((4 * (l + 1) ** 2 - 1) / ((l + 1) ** 2 - m**2))
            b = np.sqrt((l**2 - m**2) / (4 * l**2 - 1)) if l else 0.0
            old, new = new, a * (mu * new - b * old)
    return mu.astype(np.float32), weight.astype(np.float32), table.astype(np.float32)


MU, WEIGHT, TABLE = legendre()
LAT, LON = np.arcsin(MU), np.arange(X, dtype=np.float32) * np.float32(2 * np.pi / X)


def rms(x, g):
    x32 = x.astype(f32)
    return (x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6) * g).astype(bf)


def wrap(x, n):
    """Longitudes go round; at the poles the rows of the other side follow."""
    half = lambda rows: jnp.roll(jnp.flip(rows, 1), X // 2, 2)
    x = jnp.concatenate([half(x[:, :n]), x, half(x[:, -n:])], 1)
    return jnp.concatenate([x[:, :, -n:], x, x[:, :, :n]], 2)


def conv(x, w, padding="SAME", stride=(1, 1), groups=1, dilation=(1, 1)):
    return lax.conv_general_dilated(
        x,
        w.astype(bf),
        stride,
        padding,
        rhs_dilation=dilation,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )


def spectral(x, w, degree):
    z = jnp.fft.rfft(x.astype(f32), axis=2)[:, :, :M] / X
    s = jnp.einsum("bymc,mly,y->bmlc", z, TABLE, WEIGHT)
    s = con(s, "batch", "space")
    s = s * jax.nn.softplus(degree)[None, None]
    w = lax.complex(w[..., 0], w[..., 1])
    s = jnp.einsum("bmlc,cd->bmld", s, w)
    z = jnp.einsum("bmlc,mly->bymc", s, TABLE)
    z = con(z, "batch", "space")
    z = jnp.pad(z, ((0, 0), (0, 0), (0, X // 2 + 1 - M), (0, 0)))
    return jnp.fft.irfft(z * X, n=X, axis=2).astype(bf)


def block(x, w):
    with jax.named_scope("spectral"):
        x = x + w["step"][0].astype(bf) * spectral(rms(x, w["norm"]), w["spectral"], w["degree"])
    with jax.named_scope("local"):
        h = conv(x, w["near"], [(1, 1), (1, 1)], groups=D)
        h = jax.nn.silu(conv(h, w["far"], [(4, 4), (4, 4)], groups=4, dilation=(2, 2)))
        x = con(x + h, "batch", "space")
    with jax.named_scope("mlp"):
        h = jax.nn.gelu(rms(x, w["scale"]) @ w["up"].astype(bf))
        x = x + w["step"][1].astype(bf) * (h @ w["down"].astype(bf))
    return con(x, "batch", "space"), None


def forced(state, hour, g):
    """The state with the sun's angle, the place and the ground."""
    angle = hour[:, None, None] * (2 * np.pi / 24) + LON[None, None]
    sun = jnp.maximum(jnp.cos(angle) * np.cos(LAT)[:, None], 0.0)
    place = jnp.stack(jnp.broadcast_arrays(MU[:, None], np.cos(LON), np.sin(LON)), -1)
    ground = jnp.concatenate([place, g["height"]], -1)
    ground = jnp.broadcast_to(ground, (B, *ground.shape))
    return jnp.concatenate([state, sun[..., None].astype(bf), ground.astype(bf)], -1)


def advance(p, state, hour, g):
    with jax.named_scope("stem"):
        x = conv(wrap(forced(state, hour, g), 3), p["stem"], "VALID")
        x = con(x + p["table"][g["soil"] & 15].astype(bf), "batch", "space")
    with jax.named_scope("pyramid"):
        small = conv(x, p["coarse"], "VALID", (2, 2))
        small = con(jax.nn.silu(small), "batch", "space")
    x, _ = lax.scan(jax.checkpoint(block), x, p["blocks"])
    with jax.named_scope("pyramid"):
        big = lax.conv_transpose(
            small,
            p["fine"].astype(bf),
            (2, 2),
            "VALID",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            transpose_kernel=True,
        )
        x = con(x + big, "batch", "space")
    with jax.named_scope("head"):
        change = conv(x, p["head"], "SAME").astype(f32) + p["bias"]
    return state + change.astype(bf), change


def loss(p, g):
    def one(carry, target):
        state, hour = carry
        state, change = advance(p, state, hour, g)
        miss = (state.astype(f32) - target.astype(f32)) ** 2
        area = (WEIGHT / WEIGHT.mean())[None, :, None, None]
        power = jnp.mean(change * change, (0, 1, 2))
        return (state, hour + 6), (
            jnp.mean(miss * area),
            jnp.sqrt(jnp.mean(miss * area, (0, 1, 2))),
            power,
        )

    _, (values, errors, power) = lax.scan(one, (g["state"], g["hour"]), g["target"])
    return jnp.mean(values) + 1e-4 * jnp.mean(power), errors


def weather_train_step(p, m, v, step, g):
    (value, errors), grads = jax.value_and_grad(loss, has_aux=True)(p, g)
    norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(grads)))
    grads = jax.tree.map(lambda x: x * jnp.minimum(1.0, 32.0 / (norm + 1e-6)), grads)
    t = (step + 1).astype(f32)
    m = jax.tree.map(lambda a, x: 0.9 * a + 0.1 * x, m, grads)
    v = jax.tree.map(lambda a, x: 0.95 * a + 0.05 * x * x, v, grads)
    rate = 1e-3 * jnp.minimum(t / 1000, lax.rsqrt(t / 1000))
    p = jax.tree.map(
        lambda w, a, b: w - rate * a / (1 - 0.9**t) / (jnp.sqrt(b / (1 - 0.95**t)) + 1e-8), p, m, v
    )
    return p, m, v, step + 1, dict(loss=value, errors=errors, norm=norm)


c = (
    jax.jit(weather_train_step, donate_argnums=(0, 1, 2, 3))
    .lower(params, params, params, step, batch)
    .compile()
)
print(c.memory_analysis())
