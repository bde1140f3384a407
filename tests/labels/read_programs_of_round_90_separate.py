"""A training step and a use of a separator of music: bands of a spectrum, two paths, masks of complex numbers.

Ahead of time for 2x4 H100: mesh song 4 x band 2. Stems are mixed anew in each step (shuffled over songs, gains, swapped
channels), spectra in bands of unequal widths that overlap, layers in a scan with remat: a recurrence forwards and backwards
over time with bands sharded, attention over bands with frames sharded; masks are added up where bands overlap, waves come
back by overlapping windows; the loss takes the best order of equal stems (six orders) and logs of magnitudes;
AdamW with clipping at a percentile of the norms of earlier steps. The use cuts a long recording into pieces, joins them
with the order that correlates best with the piece before, then filters by covariances of both channels in a loop.
"""

import itertools
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
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("song", "band"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
# songs, channels, stems, window, hop, frames, bands, width of a band, layers, width, hidden, heads, size, history
B, CH, J, WIN, HOP, T, K, W, L, D, R, H, HD, HIST = (
    8,
    2,
    3,
    1024,
    256,
    256,
    32,
    48,
    4,
    128,
    256,
    4,
    32,
    512,
)
BINS, N = WIN // 2 + 1, HOP * 256
starts = np.minimum(np.round(np.linspace(0, 1, K) ** 1.8 * (BINS - W)).astype(int), BINS - W)
widths = np.minimum(np.maximum(8, np.diff(np.append(starts, BINS)) + 6), W)
TABLE = np.minimum(starts[:, None] + np.arange(W), BINS - 1)
USED = (np.arange(W) < widths[:, None]).astype(np.float32)
ORDERS = np.array(list(itertools.permutations(range(J))))


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params = dict(
    norm=S((K, 2 * CH * W), f32, "band"),
    enter=S((K, 2 * CH * W, D), f32, "band", "song"),
    layers=dict(
        norms=S((L, 3, D), f32),
        x=S((L, 2, D, 3 * R), f32, None, None, "song"),
        h=S((L, 2, R, 3 * R), f32, None, None, "song"),
        back=S((L, 2 * R, D), f32),
        qkv=S((L, D, 3, H, HD), f32, None, "song"),
        out=S((L, H, HD, D), f32, None, None, None, "song"),
        up=S((L, D, 4 * D), f32, None, "song"),
        down=S((L, 4 * D, D), f32, None, "song"),
    ),
    mask1=S((K, D, 2 * D), f32, "band", "song"),
    mask2=S((K, 2 * D, 2, J * CH * W * 2), f32, "band", "song"),
)
state = dict(
    params=params,
    m=params,
    v=params,
    norms=S((HIST,), f32),
    step=S((), i32),
    key=S((4,), jnp.uint32),
)
stems = S((B, J, CH, N), f32, "song")


def rms(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * scale).astype(x.dtype)


def spectrum(x, win=WIN, hop=HOP):
    """Frames of the last axis by a table of places, with a window, then the transform of real numbers."""
    x = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(win // 2, win // 2)], mode="reflect")
    n = (x.shape[-1] - win) // hop
    at = np.arange(n)[:, None] * hop + np.arange(win)
    return jnp.fft.rfft(x[..., at] * jnp.hanning(win).astype(f32))


def wave(s):
    """The way back: windows are added where they overlap, and divided by their squares."""
    shape = s.shape[:-2]
    h = jnp.hanning(WIN).astype(f32)
    y = jnp.fft.irfft(s, WIN) * h
    parts = y.reshape(*shape, s.shape[-2], WIN // HOP, HOP)
    size = s.shape[-2] + WIN // HOP - 1
    total, weight = 0.0, 0.0
    for i in range(WIN // HOP):
        pad = (i, WIN // HOP - 1 - i)
        total += jnp.pad(parts[..., i, :], [(0, 0)] * len(shape) + [pad, (0, 0)])
        weight += jnp.pad(
            jnp.broadcast_to((h * h)[i * HOP : (i + 1) * HOP], (s.shape[-2], HOP)), [pad, (0, 0)]
        )
    y = (total / jnp.maximum(weight, 1e-3)).reshape(*shape, size * HOP)
    return y[..., WIN // 2 : WIN // 2 + s.shape[-2] * HOP]


def turn(x):
    """Rotary positions over the bands, of [..., bands, heads, size]."""
    a = jnp.arange(K, dtype=f32)[:, None] * 100.0 ** (-jnp.arange(HD // 2, dtype=f32) / (HD // 2))
    c, s = jnp.cos(a)[:, None].astype(x.dtype), jnp.sin(a)[:, None].astype(x.dtype)
    p, q = jnp.split(x, 2, -1)
    return jnp.concatenate([p * c - q * s, q * c + p * s], -1)


def recur(n, w):
    """Gated recurrence over time in both directions at once: [song, frame, band, width]."""
    g = jnp.einsum("btkd,zdr->tzbkr", n, w["x"].astype(bf))
    g = jnp.stack([g[:, 0], g[::-1, 1]], 1)

    def one(h, x):
        y = jnp.einsum("zbkr,zrs->zbks", h, w["h"].astype(bf))
        (xr, xz, xn), (yr, yz, yn) = jnp.split(x, 3, -1), jnp.split(y, 3, -1)
        z = jax.nn.sigmoid(xz + yz)
        h = z * h + (1 - z) * jnp.tanh(xn + jax.nn.sigmoid(xr + yr) * yn)
        return h, h

    _, out = lax.scan(one, jnp.zeros(g.shape[1:-1] + (R,), bf), g)
    return jnp.concatenate([out[:, 0], out[::-1, 1]], -1).swapaxes(0, 1)


def model(p, s):
    """Masks of [song, channel, frame, bin]."""
    x = jnp.stack([s.real, s.imag], -1)[:, :, :, TABLE] * USED[..., None]
    x = con(
        x.transpose(0, 2, 3, 1, 4, 5).reshape(*s.shape[:1], -1, K, 2 * CH * W),
        "song",
        None,
        "band",
        None,
    )
    x = jnp.einsum("btki,kid->btkd", rms(x, p["norm"]).astype(bf), p["enter"].astype(bf))

    def layer(x, w):
        x = con(x, "song", None, "band", None)
        x = x + recur(rms(x, w["norms"][0]), w) @ w["back"].astype(bf)
        x = con(x, "song", "band", None, None)
        q, k, v = jnp.moveaxis(
            jnp.einsum("btkd,dzhe->btkzhe", rms(x, w["norms"][1]), w["qkv"].astype(bf)), 3, 0
        )
        a = jnp.einsum("btqhe,btkhe->bthqk", turn(q), turn(k)).astype(f32) * HD**-0.5
        o = jnp.einsum("bthqk,btkhe->btqhe", jax.nn.softmax(a).astype(bf), v)
        x = x + jnp.einsum("btqhe,hed->btqd", o, w["out"].astype(bf))
        x = x + jax.nn.gelu(rms(x, w["norms"][2]) @ w["up"].astype(bf)) @ w["down"].astype(bf)
        return con(x, "song", "band", None, None), None

    x, _ = lax.scan(jax.checkpoint(layer), x, p["layers"])
    x = con(x, "song", None, "band", None)
    h = jnp.tanh(jnp.einsum("btkd,kde->btke", rms(x, 1.0), p["mask1"].astype(bf)))
    a, g = jnp.moveaxis(jnp.einsum("btke,kezo->btkzo", h, p["mask2"].astype(bf)).astype(f32), 3, 0)
    m = (a * jax.nn.sigmoid(g)).reshape(*x.shape[:3], J, CH, W, 2) * USED[:, None, None, :, None]
    m = m.transpose(0, 3, 4, 1, 2, 5, 6)
    count = np.zeros(BINS, np.float32)
    np.add.at(count, TABLE.ravel(), USED.ravel())
    full = jnp.zeros(m.shape[:4] + (BINS, 2), f32).at[:, :, :, :, TABLE].add(m)
    full = full / np.maximum(count, 1)[:, None]
    return lax.complex(full[..., 0], full[..., 1]) * s[:, None]


def ratio(guess, true):
    """Scale-free ratio of signal and error in decibels."""
    a = (guess * true).sum(-1, keepdims=True) / ((true * true).sum(-1, keepdims=True) + 1e-8)
    e = guess - a * true
    return 10 * jnp.log10(((a * true) ** 2).sum(-1) / ((e * e).sum(-1) + 1e-8) + 1e-8)


def remix(x, key):
    u = jax.random.uniform(key, (4, B, J, 1, 1))
    order = jnp.argsort(u[0, ..., 0, 0], 0)
    x = jnp.take_along_axis(x, order[..., None, None], 0)
    x = jnp.where(u[1] < 0.5, x[:, :, ::-1], x) * 10 ** (0.45 * u[2] - 0.3)
    return con(jnp.where(u[3] < 0.05, 0.0, x), "song", None, None, None)


def loss(p, x, key):
    x = remix(x, key)
    s = model(p, con(spectrum(x.sum(1)), "song", None, None, None))
    y = wave(s)
    pairs = ratio(y[:, :, None], x[:, None]).mean(-1)
    each = pairs[:, np.arange(J), ORDERS].mean(-1).T
    best = lax.stop_gradient(jnp.argmax(each, 0))
    x = jnp.take_along_axis(x, jnp.asarray(ORDERS)[best][:, :, None, None], 1)
    value = -jnp.mean(jnp.take_along_axis(each, best[None], 0))
    a, b = jnp.abs(s + 1e-7), jnp.abs(spectrum(x) + 1e-7)
    value += jnp.mean(jnp.abs(jnp.log(a) - jnp.log(b)))
    return value, best


def separate_step(state, x):
    mine = jax.random.wrap_key_data(state["key"], impl="rbg")
    p, t = state["params"], state["step"]
    (value, best), g = jax.value_and_grad(loss, has_aux=True)(p, x, mine)
    size = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)))
    norms = state["norms"].at[t % HIST].set(size)
    known = jnp.sort(jnp.where(jnp.arange(HIST) <= t, norms, jnp.inf))
    limit = known[jnp.minimum(t, HIST - 1) // 10]
    g = jax.tree.map(lambda a: a * jnp.minimum(1.0, limit / (size + 1e-8)), g)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, state["m"], g)
    v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, state["v"], g)
    n = (t + 1).astype(f32)
    rate = 5e-4 * jnp.minimum(1.0, n / 500) * 0.98 ** jnp.floor(n / 4000)
    p = jax.tree.map(
        lambda w, a, b: (
            w - rate * (a / (1 - 0.9**n) / (jnp.sqrt(b / (1 - 0.99**n)) + 1e-8) + 0.01 * w)
        ),
        p,
        m,
        v,
    )
    return dict(params=p, m=m, v=v, norms=norms, step=t + 1, key=state["key"] + jnp.uint32(1)), (
        value,
        size,
        limit,
        best,
    )


PIECES, STRIDE = 16, 3 * N // 4


def separate_use(p, long):
    """A recording of [channel, sample] to its stems."""
    at = np.arange(PIECES)[:, None] * STRIDE + np.arange(N)
    pieces = con(
        jnp.moveaxis(long[:, at], 1, 0).reshape(PIECES // 4, 4, CH, N), None, "song", None, None
    )
    scale = jnp.sqrt(jnp.mean(pieces**2, (2, 3), keepdims=True)) + 1e-5
    out = lax.map(lambda x: wave(model(p, spectrum(x))), pieces / scale)
    out = (out * scale[:, :, None]).reshape(PIECES, J, CH, N)

    def join(before, piece):
        a, b = before.reshape(J, -1), piece[:, :, : N - STRIDE].reshape(J, -1)
        a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
        c = (a @ b.T) / (jnp.linalg.norm(a, axis=1)[:, None] * jnp.linalg.norm(b, axis=1) + 1e-8)
        o = jnp.asarray(ORDERS)[
            jnp.argmax(jnp.stack([sum(c[i, q[i]] for i in range(J)) for q in ORDERS]))
        ]
        return piece[o][:, :, STRIDE:], piece[o]

    _, out = lax.scan(join, jnp.zeros((J, CH, N - STRIDE), f32), out)
    fade = jnp.minimum(jnp.minimum(jnp.arange(1, N + 1), jnp.arange(N, 0, -1)) / (N - STRIDE), 1.0)
    total = jnp.zeros((J, CH, long.shape[1]), f32).at[:, :, at].add(jnp.moveaxis(out * fade, 0, 2))
    y = total / jnp.zeros(long.shape[1], f32).at[at].add(jnp.broadcast_to(fade, at.shape))

    mix = con(spectrum(long), None, "song", "band")
    s = con(spectrum(y), None, None, "song", "band")

    def filter_(i, s):
        """Powers of stems, one covariance of channels for each bin, and the filter by a closed inverse."""
        power = jnp.mean(jnp.abs(s) ** 2, 1)
        outer = jnp.einsum("jctf,jdtf->jfcd", s, s.conj())
        cov = outer / (power.sum(1)[..., None, None] + 1e-8)
        each = power[..., None, None] * cov[:, None]
        a = each.sum(0) + 1e-6 * jnp.eye(CH)
        det = a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]
        inv = jnp.stack(
            [
                jnp.stack([a[..., 1, 1], -a[..., 0, 1]], -1),
                jnp.stack([-a[..., 1, 0], a[..., 0, 0]], -1),
            ],
            -2,
        )
        w = jnp.einsum("tfcd,dtf->tfc", inv / det[..., None, None], mix)
        return con(jnp.einsum("jtfcd,tfd->jctf", each, w), None, None, "song", "band")

    y = wave(con(lax.fori_loop(0, 2, filter_, s), None, None, None, None))
    loud = 10 * jnp.log10(jnp.mean(y.reshape(J, CH, -1, HOP * 4) ** 2, (1, 3)) + 1e-9)
    return y, loud


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        c = jax.jit(separate_step, donate_argnums=0).trace(state, stems)
        print(len(c.lower(lowering_platforms=("cuda",)).compile().as_text()))
        c = jax.jit(separate_use).trace(params, S((CH, (PIECES - 1) * STRIDE + N), f32))
        print(len(c.lower(lowering_platforms=("cuda",)).compile().as_text()))
