"""A training step of a diffusion transformer with two streams: rectified flow, micro-batches, two slow copies, Adam.

Ahead of time for 2x4 v6e: mesh data 2 x model 4. Words and patches have weights of their own and attend jointly, axial
rotary, modulation by time; times by a logit-normal of which each micro-batch takes strata, captions dropped, samples of
a batch paired with noise by a greedy assignment (while loop); a loss by bins of time that are scattered into a running
histogram which weighs the loss; gradients summed by a scan; two slow copies by powers of the step; global clipping.
"""

import os

os.environ.update(
    JAX_PLATFORMS="cpu",
    TPU_SKIP_MDS_QUERY="1",
    TPU_WORKER_HOSTNAMES="localhost",
    ALLOW_MULTIPLE_LIBTPU_LOAD="1",
)
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# micro-batches, samples, side of a latent, channels, patch, words, size of a word, layers, width, heads, hidden, bins
M, B, SIDE, C, PATCH, T, E, L, D, H, F, BINS = 4, 32, 32, 16, 2, 77, 768, 4, 1024, 16, 4096, 32
N, HD = (SIDE // PATCH) ** 2, D // H


def stream():
    return dict(
        qkv=S((L, D, 3, H, HD), f32, None, "data", None, "model"),
        out=S((L, H, HD, D), f32, None, "model", None, "data"),
        up=S((L, D, F), f32, None, "data", "model"),
        down=S((L, F, D), f32, None, "model", "data"),
        shift=S((L, D, 6, D), f32, None, "data", None, "model"),
        norms=S((L, 2, HD), f32),
    )


params = dict(
    patch=S((PATCH * PATCH * C, D), f32, None, "model"),
    word=S((E, D), f32, "data", "model"),
    pooled=S((E, D), f32, "data", "model"),
    empty=S((T, E), f32),
    time=dict(a=S((256, D), f32, None, "model"), b=S((D, D), f32, "data", "model")),
    image=stream(),
    text=stream(),
    last=dict(
        shift=S((D, 2, D), f32, "data", None, "model"), out=S((D, PATCH * PATCH * C), f32, "model")
    ),
)
state = dict(
    params=params,
    m=params,
    v=params,
    short=params,
    long=params,
    bins=S((BINS, 2), f32),
    step=S((), i32),
)
batch = dict(
    latents=S((M, B, SIDE, SIDE, C), bf, None, "data"),
    captions=S((M, B, T, E), bf, None, "data"),
    lengths=S((M, B), i32, None, "data"),
    key=S((2,), jnp.uint32),
)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def assignment(x, noise):
    """The noise of each sample: the nearest that is left, samples one after the other."""
    a, b = x.reshape(B, -1).astype(f32), noise.reshape(B, -1).astype(f32)
    cost = jnp.sum(a * a, 1)[:, None] - 2 * a @ b.T + jnp.sum(b * b, 1)[None]

    def take(c):
        i, cost, chosen = c
        flat = jnp.argmin(cost)
        r, s = flat // B, flat % B
        return i + 1, cost.at[r].set(jnp.inf).at[:, s].set(jnp.inf), chosen.at[r].set(s.astype(i32))

    _, _, chosen = lax.while_loop(lambda c: c[0] < B, take, (0, con(cost), jnp.zeros((B,), i32)))
    return noise[chosen]


def patches(x):
    x = x.reshape(-1, SIDE // PATCH, PATCH, SIDE // PATCH, PATCH, C)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, N, PATCH * PATCH * C)


def angles():
    quarter = HD // 4
    speed = 1e4 ** (-np.arange(quarter) / quarter)
    row, column = np.divmod(np.arange(N), SIDE // PATCH)
    both = np.concatenate([row[:, None] * speed, column[:, None] * speed], -1)
    return jnp.asarray(np.concatenate([np.zeros((T, HD // 2)), both]), f32)[:, None]


def rotate(x):
    a, b = x.astype(f32)[..., ::2], x.astype(f32)[..., 1::2]
    s, c = jnp.sin(angles()), jnp.cos(angles())
    return jnp.stack([a * c - b * s, b * c + a * s], -1).reshape(x.shape).astype(bf)


def rms(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * scale).astype(bf)


def plain(x):
    y = x.astype(f32)
    y = y - y.mean(-1, keepdims=True)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(bf)


def turned(x, shift, scale):
    return plain(x) * (1 + scale[:, None]) + shift[:, None]


def block(carry, p):
    words, image, c, mask = carry
    mods = [
        jnp.einsum("bd,dse->sbe", jax.nn.silu(c), p[s]["shift"].astype(bf))
        for s in ("text", "image")
    ]
    xs = [turned(x, m[0], m[1]) for x, m in zip((words, image), mods)]
    parts = []
    for name, x in zip(("text", "image"), xs):
        q, k, v = jnp.einsum("btd,dchk->cbthk", x, p[name]["qkv"].astype(bf))
        parts.append((rms(q, p[name]["norms"][0]), rms(k, p[name]["norms"][1]), v))
    q, k, v = (jnp.concatenate(both, 1) for both in zip(*parts))
    q, k = rotate(q), rotate(k)
    s = jnp.einsum("bthk,bshk->bhts", q, k).astype(f32) * HD**-0.5
    w = jax.nn.softmax(jnp.where(mask[:, None, None], s, -1e30), -1).astype(bf)
    y = jnp.einsum("bhts,bshk->bthk", w, v)
    out = []
    for name, x, m, z in zip(("text", "image"), (words, image), mods, (y[:, :T], y[:, T:])):
        x = x + m[2][:, None] * jnp.einsum("bthk,hkd->btd", z, p[name]["out"].astype(bf))
        z = jax.nn.gelu(turned(x, m[3], m[4]) @ p[name]["up"].astype(bf)) @ p[name]["down"].astype(
            bf
        )
        out.append(con(x + m[5][:, None] * z, "data", None, None))
    return (*out, c, mask), None


def velocity(params, x, t, words, mask):
    half = jnp.exp(-jnp.log(1e4) * jnp.arange(128, dtype=f32) / 128)
    wave = t[:, None] * 1000 * half
    c = jnp.concatenate([jnp.cos(wave), jnp.sin(wave)], -1).astype(bf)
    c = jax.nn.silu(c @ params["time"]["a"].astype(bf)) @ params["time"]["b"].astype(bf)
    mean = jnp.sum(words * mask[..., None], 1) / jnp.maximum(mask.sum(1, keepdims=True), 1)
    c = c + mean.astype(bf) @ params["pooled"].astype(bf)
    image = patches(x) @ params["patch"].astype(bf)
    seen = jnp.concatenate([mask, jnp.ones((x.shape[0], N), bool)], 1)
    carry = (words @ params["word"].astype(bf), image, c, seen)
    layers = dict(image=params["image"], text=params["text"])
    (_, image, c, _), _ = lax.scan(jax.checkpoint(block), carry, layers)
    m = jnp.einsum("bd,dse->sbe", jax.nn.silu(c), params["last"]["shift"].astype(bf))
    return turned(image, m[0], m[1]) @ params["last"]["out"].astype(bf)


def loss(params, g, bins, number, key):
    kt, kn, kd = jax.random.split(key, 3)
    u = (number * B + jax.random.permutation(kt, B) + jax.random.uniform(kt, (B,))) / (M * B)
    t = jax.nn.sigmoid(jax.scipy.special.ndtri(jnp.clip(u, 1e-4, 1 - 1e-4)))
    t = 3 * t / (1 + 2 * t)
    x = g["latents"]
    noise = con(assignment(x, jax.random.normal(kn, x.shape, bf)), "data")
    mix = t[:, None, None, None].astype(bf)
    dropped = jax.random.bernoulli(kd, 0.1, (B,))
    words = jnp.where(dropped[:, None, None], params["empty"].astype(bf), g["captions"])
    mask = (jnp.arange(T) < g["lengths"][:, None]) | dropped[:, None]
    v = velocity(params, (1 - mix) * x + mix * noise, t, words, mask)
    parts = jnp.mean((v - patches(noise - x)).astype(f32) ** 2, (1, 2))
    at = jnp.clip((t * BINS).astype(i32), 0, BINS - 1)
    weight = lax.rsqrt(bins[at, 0] / jnp.maximum(bins[at, 1], 1) + 1e-3)
    found = jnp.zeros_like(bins).at[at].add(jnp.stack([parts, jnp.ones_like(parts)], -1))
    return jnp.sum(weight * parts), (jnp.sum(parts), found)


def flow_train_step(state, batch):
    keys = jax.random.split(jax.random.wrap_key_data(batch["key"]), M)

    def one(carry, c):
        g, number, key = c
        (_, kept), grads = jax.value_and_grad(loss, has_aux=True)(
            state["params"], g, state["bins"], number, key
        )
        return jax.tree.map(jnp.add, carry, (grads, kept)), None

    zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, f32), state["params"])
    groups = {k: batch[k] for k in ("latents", "captions", "lengths")}
    start = (zeros, (0.0, jnp.zeros((BINS, 2), f32)))
    (grads, (value, found)), _ = lax.scan(one, start, (groups, jnp.arange(M), keys))
    grads = jax.tree.map(lambda g: g / (M * B), grads)
    size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
    clip = jnp.minimum(1.0, 1.0 / (size + 1e-9))
    step = state["step"] + 1
    t = step.astype(f32)
    rate = 1e-4 * jnp.minimum(t / 5000, 1.0)

    def update(p, g, m, v):
        m = 0.9 * m + 0.1 * clip * g
        v = 0.99 * v + 0.01 * (clip * g) ** 2
        return p - rate * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.99**t)) + 1e-8), m, v

    out = jax.tree.map(update, state["params"], grads, state["m"], state["v"])
    p, m, v = jax.tree.transpose(jax.tree.structure(grads), jax.tree.structure((0, 0, 0)), out)
    slow = lambda power, old: jax.tree.map(
        lambda a, b: a + (b - a) * (1 - (1 - 1 / t) ** (power + 1)), old, p
    )
    return dict(
        params=p,
        m=m,
        v=v,
        short=slow(16.97, state["short"]),
        long=slow(6.94, state["long"]),
        bins=0.99 * state["bins"] + found,
        step=step,
    ), dict(loss=value / (M * B), size=size)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = (
            jax.jit(flow_train_step, donate_argnums=0)
            .trace(state, batch)
            .lower(lowering_platforms=("tpu",))
        )
        print("ok", len(low.compile().as_text()))
