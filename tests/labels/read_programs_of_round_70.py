"""World model step (Dreamer): images by strided convolutions, a recurrent state-space model (block-diagonal GRU with RMS
norm, discrete latents sampled straight through with a uniform mix, reset at first steps) by scan with remat, decoder by
transposed convolutions, value in two-hot bins of symlog, KL balanced with free bits; imagined rollout by scan,
lambda returns by a reverse scan, range of returns by percentiles (sort), actor by REINFORCE with entropy, slow critic;
clipping by global norm, Nesterov momentum in bf16 steps, donated; H100 x 8, mesh data 4 x model 2, ahead of time."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
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
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x8")
over = Mesh(np.array(topo.devices).reshape(4, 2), ("data", "model"))
f32, bf, i32 = jnp.float32, jnp.bfloat16, jnp.int32
T, B, A, S, C, D, G, U, HZ = (
    16,
    16,
    8,
    16,
    16,
    512,
    4,
    256,
    8,
)  # times, clips, actions, latents, classes, deter, blocks, units, horizon
CH, BINS, Z = (32, 128), 41, 16 * 16
bins = jnp.linspace(-10.0, 10.0, BINS)


def arr(shape, *spec, dtype=f32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(over, P(*spec)))


def put(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(over, P(*s)))


def head(n, out):
    return dict(a=arr((n, U), "data", "model"), b=arr((U, out), "model", None))


world = dict(
    enc=[arr((4, 4, a, b), None, None, None, "model") for a, b in zip((3, *CH), CH)],
    inp=arr((Z + A, D), "data", "model"),
    core=arr((G, 2 * D // G, 3 * D // G), "model", None, "data"),
    nc=arr((3 * D,)),
    prior=arr((D, Z), "data", "model"),
    post=head(D + 8 * 8 * CH[-1], Z),
    future=head(D + Z, 2),
    up=arr((D + Z, 8 * 8 * CH[-1]), "data", "model"),
    dec=[arr((4, 4, a, b), None, None, "model", None) for a, b in zip(CH[::-1], (32, 3))],
)
params = dict(world=world, actor=head(D + Z, A), critic=arr((D + Z, BINS), "data", None))


def symlog(x):
    return jnp.sign(x) * jnp.log1p(jnp.abs(x))


def symexp(x):
    return jnp.sign(x) * jnp.expm1(jnp.abs(x))


def norm(x, g):
    w = x.astype(f32)
    return (w * lax.rsqrt(jnp.mean(w * w, -1, keepdims=True) + 1e-3) * g).astype(bf)


def mlp(x, w):
    y = jax.nn.silu(norm(x.astype(bf) @ w["a"].astype(bf), 1.0))
    return (y @ w["b"].astype(bf)).astype(f32)


def latent(logits):
    p = jax.nn.softmax(logits.reshape(*logits.shape[:-1], S, C), -1)
    return jnp.log(0.99 * p + 0.01 / C)


def draw(noise, lp):
    hot = jax.nn.one_hot(jnp.argmax(lp + noise, -1), C, dtype=f32)
    p = jnp.exp(lp)
    return (hot + p - lax.stop_gradient(p)).reshape(*lp.shape[:-2], Z)


def gru(w, h, z, a):
    x = jax.nn.silu(norm(jnp.concatenate([z, a], -1).astype(bf) @ w["inp"].astype(bf), 1.0))
    hx = jnp.concatenate([h.astype(bf).reshape(-1, G, D // G), x.reshape(-1, G, D // G)], -1)
    y = jnp.einsum("bgi,gio->bgo", hx, w["core"].astype(bf))
    y = norm(y.reshape(-1, G, 3, D // G).swapaxes(1, 2).reshape(-1, 3 * D), w["nc"]).astype(f32)
    r, c, u = jnp.split(y, 3, -1)
    u = jax.nn.sigmoid(u - 1.0)
    return u * jnp.tanh(jax.nn.sigmoid(r) * c) + (1 - u) * h


def two_hot(x, logits):
    x = jnp.clip(symlog(x), -10.0, 10.0)
    lo = jnp.clip(jnp.sum((bins <= x[..., None]).astype(i32), -1) - 1, 0, BINS - 2)
    t = (x - bins[lo]) / (bins[1] - bins[0])
    hot = (
        jax.nn.one_hot(lo, BINS) * (1 - t)[..., None] + jax.nn.one_hot(lo + 1, BINS) * t[..., None]
    )
    return -jnp.sum(hot * jax.nn.log_softmax(logits, -1), -1)


def mean(logits):
    return symexp(jnp.sum(jax.nn.softmax(logits, -1) * bins, -1))


def model_loss(w, batch, noise):
    img = batch["image"].astype(bf) / 255.0 - 0.5
    x = img.reshape(T * B, 32, 32, 3)
    for k in w["enc"]:
        x = jax.nn.silu(
            lax.conv_general_dilated(
                x, k.astype(bf), (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
        )
    e = put(x.reshape(T, B, -1), None, "data", None)
    act = jax.nn.one_hot(batch["action"], A, dtype=f32)

    @jax.checkpoint
    def step(c, xs):
        h, z = c
        e, a, first, k = xs
        keep = (1.0 - first.astype(f32))[:, None]
        h = put(gru(w, h * keep, z * keep, a * keep), "data", None)
        post = latent(mlp(jnp.concatenate([h.astype(bf), e], -1), w["post"]))
        z = put(draw(k, post), "data", None)
        return (h, z), (h, z, post)

    zero = jnp.zeros((B, D), f32), jnp.zeros((B, Z), f32)
    _, (h, z, post) = lax.scan(step, zero, (e, act, batch["first"], noise[:, :, :S]))
    prior = latent((h.astype(bf) @ w["prior"].astype(bf)).astype(f32))
    kl = lambda p, q: jnp.maximum(jnp.sum(jnp.exp(p) * (p - q), (-2, -1)), 1.0)
    stop = lax.stop_gradient
    f = jnp.concatenate([h, z], -1)
    y = jax.nn.silu((f.astype(bf) @ w["up"].astype(bf)).reshape(T * B, 8, 8, CH[-1]))
    for i, k in enumerate(w["dec"]):
        y = lax.conv_transpose(
            y, k.astype(bf), (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        y = jax.nn.silu(y) if i < 1 else y
    rec = jnp.sum(
        (jax.nn.sigmoid(y.astype(f32)) - 0.5 - img.reshape(y.shape).astype(f32)) ** 2, (1, 2, 3)
    ).reshape(T, B)
    future = mlp(f, w["future"])
    rew, c = (batch["reward"] - future[..., 1]) ** 2, future[..., 0]
    con = jax.nn.softplus(jnp.where(batch["done"], c, -c))
    parts = dict(
        rec=rec, rew=rew, con=con, dyn=kl(stop(post), prior), rep=0.1 * kl(post, stop(prior))
    )
    total = jnp.mean(sum(parts.values()))
    return total, (dict(total=total), stop(h), stop(z))


def behave_loss(p, w, slow, h, z, scale, noise):
    w, slow = lax.stop_gradient(w), lax.stop_gradient(slow)

    def dream(c, k):
        h, z = c
        ka, kz = k
        f = jnp.concatenate([h, z], -1)
        a = jax.nn.one_hot(jnp.argmax(mlp(f, lax.stop_gradient(p["actor"])) + ka, -1), A, dtype=f32)
        h2 = put(gru(w, h, z, a), ("data", "model"), None)
        z2 = draw(kz, latent((h2.astype(bf) @ w["prior"].astype(bf)).astype(f32)))
        return (h2, z2), (f, a)

    start = (
        put(h.reshape(-1, D), ("data", "model"), None),
        put(z.reshape(-1, Z), ("data", "model"), None),
    )
    noise = noise[:, :, S, :A], noise[:, :, :S]
    _, (f, a) = lax.scan(dream, start, noise)
    lp = jax.nn.log_softmax(mlp(f, p["actor"]), -1)
    lp, ent = jnp.sum(lp * a, -1), -jnp.sum(jnp.exp(lp) * lp, -1)
    logits = (f.astype(bf) @ p["critic"].astype(bf)).astype(f32)
    v = mean((f.astype(bf) @ slow.astype(bf)).astype(f32))
    future = mlp(f, w["future"])
    r, d = future[..., 1], 0.997 * jax.nn.sigmoid(future[..., 0])

    def back(c, xs):
        r, d, v = xs
        c = r + d * (0.05 * v + 0.95 * c)
        return c, c

    _, ret = lax.scan(back, v[-1], (r[1:], d[1:], v[1:]), reverse=True)
    weight = jnp.cumprod(d, 0)[:-1] / d[0]
    lo, hi = jnp.percentile(ret.astype(f32), jnp.array([5.0, 95.0]))
    scale = 0.99 * scale + 0.01 * (hi - lo)
    adv = (ret - v[:-1]) / jnp.maximum(1.0, scale)
    actor = -jnp.mean(weight * (lp[:-1] * adv + 3e-4 * ent[:-1]))
    critic = jnp.mean(weight * two_hot(ret, logits[:-1]))
    return actor + critic, dict(actor=actor, critic=critic, ret=jnp.mean(ret), scale=scale)


def dreamer_train_step(st, batch, seed):
    key = jax.random.fold_in(jax.random.wrap_key_data(seed, impl="unsafe_rbg"), st["k"])
    noise = -jnp.log(
        -jnp.log(jax.random.uniform(key, (HZ + 1, T * B, S + 1, C), minval=1e-6, maxval=1.0))
    )
    (_, (parts, h, z)), gw = jax.value_and_grad(model_loss, has_aux=True)(
        st["p"]["world"], batch, noise[0].reshape(T, B, S + 1, C)
    )
    ac = dict(actor=st["p"]["actor"], critic=st["p"]["critic"])
    (_, aux), ga = jax.value_and_grad(behave_loss, has_aux=True)(
        ac, st["p"]["world"], st["slow"], h, z, st["scale"], noise[1:]
    )
    g = dict(world=gw, **ga)
    t = (st["k"] + 1).astype(f32)
    lr = 4e-5 * jnp.minimum(1.0, t / 1000.0)

    size = jnp.sqrt(sum(jnp.sum(a * a) for a in jax.tree.leaves(g)))
    scale = jnp.minimum(1.0, 100.0 / (size + 1e-6))

    def upd(p, g, m):
        g = g * scale
        m = (0.9 * m + g).astype(bf).astype(f32)
        return p - lr * (0.9 * m + g), m

    out = jax.tree.map(upd, st["p"], g, st["m"])
    pick = lambda i: jax.tree.map(lambda _, o: o[i], st["p"], out)
    p = pick(0)
    slow = jax.tree.map(lambda s, c: 0.98 * s + 0.02 * c, st["slow"], p["critic"])
    stats = dict(parts, **aux)
    return dict(p=p, m=pick(1), slow=slow, scale=aux["scale"], k=st["k"] + 1), stats


st = dict(p=params, m=params, slow=params["critic"], scale=arr(()), k=arr((), dtype=i32))
batch = dict(
    image=arr((T, B, 32, 32, 3), None, "data", dtype=jnp.uint8),
    action=arr((T, B), None, "data", dtype=i32),
    first=arr((T, B), None, "data", dtype=jnp.bool_),
    reward=arr((T, B), None, "data"),
    done=arr((T, B), None, "data", dtype=jnp.bool_),
)
c = (
    jax.jit(dreamer_train_step, donate_argnums=0)
    .lower(st, batch, arr((4,), dtype=jnp.uint32))
    .compile()
)
print("compiled", c.memory_analysis())
