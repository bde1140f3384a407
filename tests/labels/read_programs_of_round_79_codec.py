"""A training step of a learned video codec: flow by a pyramid, warping, a hyperprior, contexts in checkers and slices.

Ahead of time for v5e 2x4: mesh clip 4 x channel 2. Frames in a scan with remat, divisive normalization (GDN), rounding
straight through and noise, rates by Gaussian and factorized distributions, one of four qualities for each clip, a step
of its own for the medians of the prior.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("clip", "channel"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


B, T, X, N, M, Q = 16, 3, 128, 128, 192, 4
conv = lambda k, i, o: S((k, k, i, o), f32, None, None, None, "channel")
params = dict(
    flow=[
        dict(a=S((5, 5, 8, 32), f32), b=S((5, 5, 32, 32), f32), c=S((5, 5, 32, 2), f32))
        for _ in range(3)
    ],
    enc=[conv(5, 6, N), conv(5, N, N), conv(5, N, M)],
    gdn=[dict(beta=S((N,), f32), gamma=S((N, N), f32, None, "channel")) for _ in range(2)],
    dec=[conv(5, M, N), conv(5, N, N), S((5, 5, N, 3), f32)],
    igdn=[dict(beta=S((N,), f32), gamma=S((N, N), f32, None, "channel")) for _ in range(2)],
    hyper_enc=[conv(3, M, N), conv(5, N, N)],
    hyper_dec=[conv(5, N, N), conv(5, N, 2 * M)],
    context=conv(5, M, 2 * M),
    joint=[conv(1, 4 * M, 2 * M), conv(1, 2 * M, 2 * M)],
    slices=[S((3, 3, M // 4 * (k + 1), M // 2), f32) for k in range(3)],
    prior=dict(
        h=[S((N, 3, 1), f32), S((N, 3, 3), f32), S((N, 1, 3), f32)],
        b=[S((N, 3, 1), f32), S((N, 3, 1), f32), S((N, 1, 1), f32)],
        a=[S((N, 3, 1), f32), S((N, 3, 1), f32)],
    ),
    gain=S((Q, M), f32),
    median=S((N,), f32),
)
clips = S((B, T + 1, X, X, 3), jnp.uint8, "clip")
quality = S((B,), i32, "clip")
key, step = S((4,), jnp.uint32), S((), i32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
CHECKERS = (np.indices((5, 5)).sum(0) % 2).astype(np.float32)[:, :, None, None]
EVEN = (np.indices((X // 8, X // 8)).sum(0) % 2).astype(np.float32)[None, :, :, None]
LAMBDA = np.array([0.0018, 0.0067, 0.025, 0.09], np.float32)


def c2(x, w, stride=1):
    return lax.conv_general_dilated(
        x, w.astype(bf), (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def up(x, w):
    return lax.conv_transpose(
        x, w.astype(bf), (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def gdn(x, p, inverse=False):
    x32 = x.astype(f32)
    norm = jnp.einsum("bhwc,cd->bhwd", x32 * x32, jnp.maximum(p["gamma"], 0.0)) + jnp.maximum(
        p["beta"], 1e-6
    )
    return (x32 * (jnp.sqrt(norm) if inverse else lax.rsqrt(norm))).astype(bf)


def warp(x, flow):
    """Bilinear samples of a frame at places moved by a flow, edges repeated."""
    n = x.shape[1]
    at = (
        jnp.stack(
            jnp.meshgrid(jnp.arange(n, dtype=f32), jnp.arange(n, dtype=f32), indexing="ij"), -1
        )
        + flow
    )
    low = jnp.floor(at)
    part = at - low
    low = low.astype(i32)

    def corner(dy, dx):
        y = jnp.clip(low[..., 0] + dy, 0, n - 1)
        z = jnp.clip(low[..., 1] + dx, 0, n - 1)
        w = jnp.abs(1 - dy - part[..., 0]) * jnp.abs(1 - dx - part[..., 1])
        return jax.vmap(lambda im, i: im[i])(x.reshape(B, n * n, -1), (y * n + z)) * w[..., None]

    return corner(0, 0) + corner(0, 1) + corner(1, 0) + corner(1, 1)


def pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4


def motion(p, old, new):
    """A flow from coarse to fine: each level corrects what the level before has found."""
    olds, news = [old], [new]
    for _ in range(2):
        olds.append(pool(olds[-1]))
        news.append(pool(news[-1]))
    flow = jnp.zeros((B, X // 4, X // 4, 2), f32)
    for k in range(3):
        o, n = olds[2 - k], news[2 - k]
        if k:
            flow = jax.image.resize(flow, (B, *n.shape[1:3], 2), "bilinear") * 2
        h = jnp.concatenate([warp(o, flow), n, flow], -1).astype(bf)
        h = jax.nn.relu(c2(jax.nn.relu(c2(h, p[k]["a"])), p[k]["b"]))
        flow = flow + c2(h, p[k]["c"]).astype(f32)
    return flow


def factorized(p, x):
    """The logits of a cumulative distribution, by a monotone net for each channel."""
    x = x.transpose(3, 0, 1, 2).reshape(N, 1, -1)
    for k in range(3):
        x = jax.nn.softplus(p["h"][k]) @ x + p["b"][k]
        if k < 2:
            x = x + jnp.tanh(p["a"][k]) * jnp.tanh(x)
    return x[:, 0]


def bits_of_prior(p, z):
    low, high = factorized(p, z - 0.5), factorized(p, z + 0.5)
    sign = -jnp.sign(lax.stop_gradient(low + high))
    mass = jnp.abs(jax.nn.sigmoid(sign * high) - jax.nn.sigmoid(sign * low))
    return -jnp.log2(jnp.maximum(mass, 1e-9)).reshape(N, B, -1).sum((0, 2))


def bits_of_normal(y, mean, scale):
    scale = jnp.maximum(scale, 0.11)
    v = jnp.abs(y - mean)
    cdf = lambda t: 0.5 * lax.erfc(-t * np.float32(np.sqrt(0.5)))
    mass = cdf((0.5 - v) / scale) - cdf((-0.5 - v) / scale)
    return -jnp.log2(jnp.maximum(mass, 1e-9)).sum((1, 2, 3))


def rounded(x):
    return x + lax.stop_gradient(jnp.round(x) - x)


def code(p, median, frame, ahead, q, key):
    """Code a frame given the prediction of it: the picture again, and the bits for each clip."""
    h = jnp.concatenate([frame, ahead], -1).astype(bf)
    for k in range(2):
        h = con(gdn(c2(h, p["enc"][k], 2), p["gdn"][k]), "clip")
    y = c2(h, p["enc"][2], 2).astype(f32) * jnp.exp(p["gain"])[q][:, None, None]
    z = c2(jax.nn.leaky_relu(c2(y.astype(bf), p["hyper_enc"][0])), p["hyper_enc"][1], 2).astype(f32)
    noisy = z + jax.random.uniform(key, z.shape, minval=-0.5, maxval=0.5)
    bits = bits_of_prior(p["prior"], noisy)
    z = rounded(z - median) + median
    side = c2(jax.nn.leaky_relu(up(z.astype(bf), p["hyper_dec"][0])), p["hyper_dec"][1])
    first = rounded(y) * (1 - EVEN)
    near = c2(first.astype(bf), p["context"] * CHECKERS)
    h = jax.nn.leaky_relu(c2(jnp.concatenate([side, near * EVEN.astype(bf)], -1), p["joint"][0]))
    mean, scale = jnp.split(con(c2(h, p["joint"][1]), "clip").astype(f32), 2, -1)
    scale = jax.nn.softplus(scale)
    known, means = [], []
    for k in range(4):
        now = y[..., k * M // 4 : (k + 1) * M // 4]
        mu = mean[..., k * M // 4 : (k + 1) * M // 4]
        if k:
            mu, more = jnp.split(
                c2(jnp.concatenate(known, -1).astype(bf), p["slices"][k - 1]).astype(f32)
                + jnp.concatenate([mu, 0 * mu], -1),
                2,
                -1,
            )
            mu = mu + 0.5 * jnp.tanh(more)
        means.append(mu)
        known.append(rounded(now - mu) + mu)
    bits = bits + bits_of_normal(jnp.concatenate(known, -1), jnp.concatenate(means, -1), scale)
    h = (jnp.concatenate(known, -1) * jnp.exp(-p["gain"])[q][:, None, None]).astype(bf)
    for k in range(2):
        h = con(gdn(up(h, p["dec"][k]), p["igdn"][k], inverse=True), "clip")
    return ahead + up(h, p["dec"][2]).astype(f32), bits, z


def loss(p, median, clips, q, key):
    frames = (clips.astype(f32) / 255).transpose(1, 0, 2, 3, 4)

    def one(carry, x):
        old, key = carry
        frame, number = x
        now = jax.random.fold_in(key, number)
        with jax.named_scope("motion"):
            flow = motion(p["flow"], old, frame)
        with jax.named_scope("warp"):
            ahead = warp(old, flow)
        with jax.named_scope("code"):
            new, bits, z = code(p, median, frame, ahead, q, now)
        miss = jnp.mean((new - frame) ** 2, (1, 2, 3))
        smooth = jnp.mean(jnp.abs(flow[:, 1:] - flow[:, :-1]))
        return (jnp.clip(new, 0, 1), key), (miss, bits / X**2, smooth, jnp.mean(z, (0, 1, 2)))

    _, (miss, bits, smooth, middle) = lax.scan(
        jax.checkpoint(one), (frames[0], key), (frames[1:], jnp.arange(T))
    )
    value = jnp.mean(jnp.asarray(LAMBDA)[q] * 255**2 * miss + bits) + 1e-3 * jnp.mean(smooth)
    psnr = -10 * jnp.log10(miss.mean(0) + 1e-9)
    each = jax.ops.segment_sum(psnr, q, Q) / jnp.maximum(jax.ops.segment_sum(jnp.ones(B), q, Q), 1)
    return value, (each, bits.mean(), middle.mean(0))


def codec_train_step(p, m, v, step, clips, q, key):
    key = jax.random.fold_in(jax.random.wrap_key_data(key, impl="rbg"), step)
    median = p["median"]
    (value, aux), g = jax.value_and_grad(loss, has_aux=True)(p, median, clips, q, key)
    norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1.0, 1.0 / (norm + 1e-6)), g)
    t = (step + 1).astype(f32)
    m = jax.tree.map(lambda a, x: 0.9 * a + 0.1 * x, m, g)
    v = jax.tree.map(lambda a, x: 0.999 * a + 0.001 * x * x, v, g)
    rate = jnp.where(step < 400_000, 1e-4, 1e-5)
    p = jax.tree.map(
        lambda w, a, b: w - rate * a / (1 - 0.9**t) / (jnp.sqrt(b / (1 - 0.999**t)) + 1e-8), p, m, v
    )
    p["median"] = median + 1e-2 * (aux[2] - median)
    return p, m, v, step + 1, dict(loss=value, psnr=aux[0], bits=aux[1], norm=norm)


c = (
    jax.jit(codec_train_step, donate_argnums=(0, 1, 2))
    .lower(params, params, params, step, clips, quality, key)
    .compile()
)
print(c.memory_analysis())
